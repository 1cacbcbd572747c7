import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { emptyHome, openSandbox } from '../../helpers/run.ts';

const users = ['q4@x.example', 'q5@x.example', 'q6@x.example', 'q7@x.example', 'q8@x.example'];
const roster = `remote_user,size_allowance\n${users.map((user) => `${user},4\n`).join('')}`;
const detail = 'License quota of your contract is used up (3 of 3)';

/** The address of a server that lists nobody, and refuses to create. */
async function refusing(): Promise<string> {
  const server = createServer(({ method }, response) => {
    response.writeHead(method === 'GET' ? 200 : 402, { 'content-type': 'application/json' });
    response.end(method === 'GET' ? '[]' : JSON.stringify({ detail }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

test.each([60, 80, 120])(
  'rows that failed stand below the table at %s columns, by reason, and whole',
  async (columns) => {
    const { run } = await openSandbox();
    const home = emptyHome();
    const file = join(home, 'roster.csv');
    writeFileSync(file, roster);
    const env = { NO_COLOR: '1', CHATELAINE_BASE_URL: await refusing() };
    const ran = await run(`license apply ${file} -y`, { home, tty: true, columns, env });
    expect(ran.exitCode).toBe(8);
    expect(ran.stdout).not.toContain('error');
    expect(ran.stderr).not.toContain('no license was retired');
    expect(ran.stderr.replace(/\n {4,}/g, ' ')).toContain(
      `\n  5 failed (q4@x.example and 4 more): the licensing API refused the request (402): ${detail}`,
    );
  },
);
