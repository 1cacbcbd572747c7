import { expect, test } from 'vitest';
import { openChatServer } from '../helpers/chat-server.ts';
import { fakeService, openSandbox, run } from '../helpers/run.ts';

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

test('view list: a built-in view has no name, or null', async () => {
  const service = fakeService();
  const navigation_views = [
    { fragment: 'a', is_pinned: true, name: null },
    { fragment: 'b', is_pinned: false },
  ];
  service.expect('GET /api/v1/navigation_views').reply(200, { result: 'success', msg: '', navigation_views });

  expect(JSON.parse((await run(service, 'view list -o json')).stdout)).toEqual(navigation_views);
});

const refusals = [
  [401, { code: 'UNAUTHORIZED', msg: 'Invalid API key' }, 4],
  [401, { code: 'UNAUTHORIZED', msg: 'This organization has been deactivated' }, 4],
  [503, undefined, 7],
  [400, { code: 'BAD_REQUEST', msg: 'Something is wrong' }, 6],
] as const;

const listings = [
  ['channel list', 'streams'],
  ['view list', 'navigation_views'],
  ['snippet list', 'saved_snippets'],
  ['archive pull all --all-channels', 'streams'],
  ['topic list --all-channels', 'streams'],
] as const;

test.each(listings.flatMap(([line, route]) => refusals.map((refusal) => [line, ...refusal, route] as const)))(
  '%s where the server answers %i %j is exit %i, with its words',
  async (line, status, said, exit, route) => {
    const service = fakeService();
    const body = said === undefined ? '<h1>Service unavailable</h1>' : { result: 'error', ...said };
    service.expect({ method: 'GET', path: `/api/v1/${route}` }).reply(status, body);

    const { exitCode, stdout, stderr } = await run(service, `${line} --retries 0`);

    expect({ exitCode, stdout }).toEqual({ exitCode: exit, stdout: '' });
    expect(stderr).toContain(said?.msg ?? 'Service unavailable');
    expect(stderr).not.toContain('does not list');
  },
);
