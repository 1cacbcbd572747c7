import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realAlarm } from '../../src/cli/clock.ts';
import { Failure } from '../../src/core/failure.ts';
import { emptyHome, fakeService, openSandbox, run, runAlone } from '../helpers/run.ts';

test('a command that is done cancels the timer of its deadline: the process would wait for it', async () => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, [{ license_code: 'K' }]);
  const pending = new Set<number>();
  const alarm: typeof realAlarm = (span, ring) => {
    const cancel = realAlarm(span, ring);
    pending.add(span);
    return () => {
      pending.delete(span);
      cancel();
    };
  };

  const { exitCode } = await run(service, 'license list --deadline 1h', { alarm });

  expect({ exitCode, deadline: pending.has(3_600_000) }).toEqual({ exitCode: 0, deadline: false });
});

test.each([
  ['1', ['warning: CHATELAINE_SANDBOX is set: running against the embedded sandbox']],
  [undefined, []],
])('with CHATELAINE_SANDBOX=%s the warning says that no real server is asked', async (value, warnings) => {
  const { lines, exitCode } = await runAlone('license list --sandbox -q', { env: { CHATELAINE_SANDBOX: value } });

  expect({ exitCode, lines: lines.filter((line) => line.includes('CHATELAINE_SANDBOX')) }).toEqual({
    exitCode: 0,
    lines: warnings,
  });
});

test('a redirect of the chat server is not followed, and the hint says what to store', async () => {
  const service = fakeService();
  service
    .expect({ method: 'DELETE', path: '/api/v1/saved_snippets/2' })
    .reply(301, '', { location: 'https://elsewhere.example/api/v1/saved_snippets/2' });

  const { exitCode, error } = await run(service, 'snippet rm 2 --yes -o json');

  expect({ exitCode, hint: error?.hint }).toEqual({
    exitCode: 6,
    hint: 'If the API moved, store its final URL in the profile. Check the URL of the profile. If an access proxy asks for a sign-in there, its operator must let this program through.',
  });
});

test.each([
  [299, 'messages fetch --ids 1391', 'requests by --ids need level 300; this server has 299'],
  [333, "topic delete general '' --yes", 'the empty topic needs level 334; this server has 333'],
  [334, "topic delete general '' --yes", undefined],
])('a server of level %d, %s', async (featureLevel, line, message) => {
  const { error } = await (await openSandbox({ featureLevel })).run(`${line} -o json`);

  expect(error?.message.includes(' level ') ? error.message : undefined).toBe(message);
});

test('sandbox serve --latency waits before each answer', async () => {
  const ready = join(emptyHome(), 'ready');
  const end = new AbortController();
  const serving = runAlone(['sandbox', 'serve', '--latency', '321ms', '--ready-file', ready], {
    interrupt: end.signal,
  });
  const site = (): string | undefined =>
    existsSync(ready)
      ? /CHATELAINE_CHAT_SITE ?= ?'?(http[^'\s]+)'?\n/.exec(readFileSync(ready, 'utf8'))?.[1]
      : undefined;
  await expect.poll(site).toBeDefined();

  await (await fetch(`${site() ?? ''}/api/v1/server_settings`)).text();
  end.abort(new Failure('cancelled', 'interrupted'));

  expect((await serving).slept).toContain(321);
});

test.each([
  [new RangeError('WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory'), 'WebAssembly.Instance'],
  [new TypeError('WebAssembly.Module(): Argument 0 must be a buffer source'), 'WebAssembly.Module'],
  [new Error('EMFILE: too many open files, open X'), 'EMFILE'],
  [new Error('spawn ENOMEM'), 'ENOMEM'],
])('a limit of files or memory is told in words, and no bug: %s', async (cause, limit) => {
  const clock = { now: () => 0, elapsed: () => 0, random: () => 0.5, sleep: () => Promise.reject(cause) };
  const service = fakeService();
  service.expect('GET /v1/license/').reply(503, '');
  const { exitCode, error } = await run(service, 'license list -o json', { clock });
  expect({ exitCode, message: error?.message }).toEqual({
    exitCode: 7,
    message: `this process reached a system limit (${limit})`,
  });
});

test('a run over the open network says once that others can read what is sent', async () => {
  const service = fakeService();
  const origin = 'http://10.0.0.1:8000';
  service.expect({ method: 'GET', path: '/v1/license/', origin }).reply(200, []);
  const env = { CHATELAINE_BASE_URL: origin, CHATELAINE_ALLOW_HTTP: '10.0.0.1:8000' };
  const note = 'others on the network can read the key and everything else that is sent';
  expect(await run(service, 'license list -o json', { env })).toMatchObject({
    ...{ exitCode: 0, stderr: `note: ${origin} is not encrypted: ${note}\n` },
  });
});

test.each([
  [9998, '', ''],
  [9999, '', '… (10001 characters)'],
  [9990, 'chat-key-9b2e44', ''],
])('a trace shows 10,000 characters of a body without keys: %i, "%s", "%s"', async (length, key, more) => {
  const service = fakeService();
  const body = `"${'x'.repeat(length)}${key && '[secret]'}"`;
  service.expect('GET /api/v1/users/me').reply(200, body.replace('[secret]', key));
  const { lines } = await run(service, 'api chat GET users/me --trace');
  expect(lines).toContain(`< ${body.slice(0, 10_000)}${more}`);
});
