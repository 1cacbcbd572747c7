import { join } from 'node:path';
import { test } from 'vitest';
import { emptyHome } from './helpers/run.ts';
import { idsBetween, openChatServer, topicOf, type ChatServerOptions } from './helpers/chat-server.ts';
test('masks', async () => {
  const bad: string[] = [];
  for (let a = 1; a <= 4; a += 1) for (let len = 1; len <= 4; len += 1) for (let b = a + len; b <= a + len + 8; b += 1) {
    let requests = 0; let isOn = false;
    const options: { -readonly [K in keyof ChatServerOptions]: ChatServerOptions[K] } = {
      messages: [...topicOf('lunch', idsBetween(1, 20)), ...topicOf('tea', idsBetween(21, 24))],
      channels: [{ stream_id: 5, name: 'kitchen' }],
      meanwhile(_m, { path }) {
        if (isOn && path.endsWith('/messages')) requests += 1;
        options.firstVisible = (requests >= a && requests < a + len) || requests === b ? 15 : 0;
      },
    };
    const { run } = await openChatServer(options);
    const kept = join(emptyHome(), 'k');
    await run(`archive pull ${kept} --channel kitchen --topic lunch`);
    isOn = true;
    const { stdout } = await run(`archive pull ${kept} --recheck -o json`);
    const { moved } = JSON.parse(stdout) as { moved: number };
    if (moved > 0) bad.push(`${a},${len},${b}: ${moved} of ${requests}`);
  }
  console.log(bad.join('\n') || 'none');
}, 120_000);
