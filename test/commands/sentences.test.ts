import { describe, expect, test } from 'vitest';
import { fakeService, openSandbox, run } from '../helpers/run.ts';

/** Sentences that say what a command did, each on the screen of a run that makes them true or untrue. */

const done = { result: 'success', msg: '' };
const html = '<html><body>Not Found</body></html>';

describe('messages fetch', () => {
  test('--num-after without an anchor would begin behind the newest message: it is refused, naming the anchors', async () => {
    const service = fakeService();
    const { exitCode, stderr } = await run(service, 'messages fetch --num-after 5');
    expect([exitCode, service.seen]).toEqual([2, []]);
    expect(stderr).toBe(
      'chatelaine: --num-after alone starts at the newest message, and nothing is after that\n' +
        'hint: Add --anchor first_unread, --anchor oldest or --anchor ID; the newest ones are --num-before N.\n',
    );
  });

  test.each(['--num-after 5 --anchor oldest', '--num-after 5 --num-before 1', '--num-after 0'])(
    '%s is sent as typed',
    async (words) => {
      const { run: runHere } = await openSandbox();
      expect((await runHere(`messages fetch --channel general ${words}`)).exitCode).toBe(0);
    },
  );

  test.each(['channel', 'channels', 'sender', 'dm', 'dm-including', 'mentions', 'search', 'is', 'has', 'in'])(
    'an empty --%s is refused before anything is sent',
    async (option) => {
      const service = fakeService();
      const { exitCode, stderr } = await run(service, ['messages', 'fetch', `--${option}`, '']);
      expect([exitCode, service.seen]).toEqual([2, []]);
      expect(stderr).toContain(`--${option}: must not be empty`);
    },
  );

  test.each(['--dm=11,', '--dm=,', '--not=dm=11,,12', '--not=sender='])(
    'a missing user is refused: %s',
    async (word) => {
      const service = fakeService();
      const { exitCode } = await run(service, ['messages', 'fetch', word]);
      expect([exitCode, service.seen]).toEqual([2, []]);
    },
  );

  test.each([
    [155, '1003', 0, undefined],
    [155, 'first_unread', 0, undefined],
  ])('--no-include-anchor at level %i (--anchor %s) is exit %i', async (level, anchor, exit, said) => {
    const { run: runHere } = await openSandbox({ featureLevel: level });
    const ran = await runHere(`messages fetch --anchor ${anchor} --num-after 3 --no-include-anchor`);
    expect([ran.exitCode, ran.stdout === '']).toEqual([exit, false]);
    expect(ran.lines.find((line) => line.includes('include_anchor'))).toBe(said);
  });

  test('--use-first-unread-anchor is called deprecated, with what to write', async () => {
    const { run: runHere } = await openSandbox();
    const { exitCode, stderr } = await runHere('messages fetch --use-first-unread-anchor --num-after 3');
    expect([exitCode, stderr]).toEqual([
      0,
      'note: use_first_unread_anchor is deprecated: --anchor first_unread was sent\n',
    ]);
  });
});

describe('what a chat server lacks', () => {
  test.each([
    [200, 'navigation views need level 390; this server has 200', 'Update the chat server, or choose another profile.'],
    [
      489,
      'this server has no navigation views (404), though its level 489 brings them',
      'Check the site URL of the profile.',
    ],
  ])('view pin at level %i', async (level, message, hint) => {
    const service = fakeService();
    service
      .expect({ method: 'PATCH', path: '/api/v1/navigation_views/inbox', form: { is_pinned: 'true' } })
      .reply(404, html);
    service.expect('GET /api/v1/server_settings').reply(200, { ...done, zulip_feature_level: level });
    expect((await run(service, 'view pin inbox -o json')).error).toMatchObject({ message, hint });
  });

  test.each([
    ['view list', 'navigation_views', 389, 'navigation views need level 390; this server has 389', 'Update'],
    ['snippet list', 'saved_snippets', 296, 'saved snippets need level 297; this server has 296', 'Update'],
    [
      'snippet list',
      'saved_snippets',
      297,
      'this server has no saved snippets (404), though its level 297 brings them',
      'Check',
    ],
  ])('%s', async (line, route, level, message, hint) => {
    const service = fakeService();
    service.expect(`GET /api/v1/${route}`).reply(404, html);
    service.expect('GET /api/v1/server_settings').reply(200, { ...done, zulip_feature_level: level });
    const { error, exitCode } = await run(service, `${line} -o json`);
    expect([exitCode, error?.message, error?.hint?.split(' ')[0]]).toEqual([6, message, hint]);
  });
});

test.each([
  ['xyz', "'xyz' is not one of"],
  ['9', '9 is not one of'],
])('an error of a setting names each number once: %s', async (value, begin) => {
  const { stderr } = await run(fakeService(), `settings set automatically_follow_topics_policy=${value}`);
  expect(stderr).toBe(
    `chatelaine: automatically_follow_topics_policy: ${begin} 1 participates, 2 sends, 3 starts, 4 never\n`,
  );
});

test('archive pull says that later pulls of --all-channels need the option again', async () => {
  const { stdout } = await run(fakeService(), 'archive pull --help', { columns: 1000 });
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('Later pulls need only DIR, or DIR and --all-channels');
});
