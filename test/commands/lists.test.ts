import { expect, test } from 'vitest';
import { openChatServer } from '../helpers/chat-server.ts';
import { openSandbox } from '../helpers/run.ts';

test('channel list: what the account sees, as the server sends it', async () => {
  const { run } = await openSandbox();

  const { exitCode, stdout } = await run('channel list -o json');

  const rows = JSON.parse(stdout) as { stream_id: number; name: string; invite_only: boolean }[];
  expect(exitCode).toBe(0);
  // Not the archived one, nor the private one that the account is not in.
  expect(rows.map(({ stream_id, name, invite_only }) => [stream_id, name, invite_only])).toEqual([
    [1, 'general', false],
    [2, 'firmware', false],
    [3, 'releases', false],
    [5, 'leads', true],
    [7, 'social', false],
  ]);
  expect((await run('channel list --fields name --no-header')).stdout).toBe(
    'general\nfirmware\nreleases\nleads\nsocial\n',
  );
});

test.each(['channel list', 'view list', 'snippet list'])('%s of a server that has none is exit 6', async (line) => {
  const server = await openChatServer({ messages: [] });

  expect(await server.run(line)).toMatchObject({ exitCode: 6, stdout: '' });
});
