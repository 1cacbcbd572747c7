// Sends each line of a file as a POST to URL, four at a time, by undici alone, and keeps no record: about the least that `license apply`
// could take with that library. `URL=… AUTHORIZATION='authorization: Token …' node bench/posts.js FILE`
import { readFileSync } from 'node:fs';
import { Agent } from 'undici';

const workers = 4;
const bodies = readFileSync(process.argv[2] ?? '', 'utf8')
  .trim()
  .split('\n');
const { origin, pathname } = new URL(process.env['URL'] ?? '');
const authorization = process.env['AUTHORIZATION']?.replace('authorization: ', '') ?? '';
const agent = new Agent({ connections: workers });

await Promise.all(Array.from({ length: workers }, work));
await agent.close();

async function work() {
  for (let body = bodies.shift(); body !== undefined; body = bodies.shift()) {
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await agent.request({ origin, path: pathname, method: 'POST', headers, body });
    if (answer.statusCode !== 201) throw new Error(`status ${answer.statusCode}: ${await answer.body.text()}`);
    await answer.body.json();
  }
}
