import { describe, expect, test } from 'vitest';
import { openOrigin, openSpeaker } from '../helpers/origin.ts';
import { emptyHome, openSandbox, runAlone } from '../helpers/run.ts';

const envOf = (port: number): Record<string, string> => ({
  CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`,
  ...{ CHATELAINE_API_KEY: 'licensing-key-1', CHATELAINE_APP_CODE: '7' },
  CHATELAINE_CHAT_SITE: `http://127.0.0.1:${port}`,
  ...{ CHATELAINE_CHAT_EMAIL: 'ada@chat.test', CHATELAINE_CHAT_API_KEY: 'chat-key-1' },
});

const answerOf = (status: string, more = ''): string =>
  `HTTP/1.1 ${status} OK\r\n${more}content-type: application/json\r\ncontent-length: 2\r\n\r\n[]`;

test.each<[string, string, number, string?]>([
  ['101', 'license list', 7],
  ['101', 'license list', 7, 'connection: upgrade\r\nupgrade: h2c\r\n'],
  ['000', 'license edit KEY-1 --size-allowance 4', 7],
  ['001', 'license create --remote-user ada --size-allowance 4 --settle 1ms', 9],
  ['099', 'settings set email=ada@b.test', 9],
  ['100', 'messages fetch', 7],
])('an answer with the status %s is a broken one: %s', async (status, line, exit, more) => {
  const { port } = await openSpeaker(answerOf(status, more), 'when asked');
  const { error } = await runAlone(`${line} --retries 0 -o json`, { env: envOf(port) });
  expect({ exit: error?.exit, message: error?.message }).toEqual({
    exit,
    message: expect.stringContaining('broke before the response was complete') as string,
  });
});

describe('what is no HTTP is named, with the way it begins and no more', () => {
  test.each([
    ['SSH-2.0-OpenSSH_9.2p1\r\n', 'SSH-2.0…'],
    ['220 mail.test ESMTP\r\n', '220 mai…'],
    ['-ERR unknown command\r\n', '-ERR un…'],
    ['\x15\x03\x01\x00\x02\x02F', 'TLS'],
    ['\x00\x00\x12\x04\x00', '?????…'],
    ['{"license_code":"KEY-OF-ADA"}', '{"licen…'],
  ])('%j', async (text, shown) => {
    for (const when of ['at once', 'when asked'] as const) {
      const { port } = await openSpeaker(text, when);
      const { error } = await runAlone('license list --retries 0 -o json', { env: envOf(port) });
      expect(error).toMatchObject({
        exit: 7,
        message: `127.0.0.1:${port} responds, but not in HTTP: ${shown}`,
        hint: 'Check the scheme and the port of the URL.',
      });
    }
  });
});

test('words of a page that are cut inside a secret show no part of it', async () => {
  const key = 'CanarySecret0123456789';
  const page = `${'<b>'.repeat(6660)} words ${key}`;
  const { port } = await openOrigin(() => ({ status: 500, body: page, headers: { 'content-type': 'text/html' } }));
  const { error, stderr } = await runAlone('license list --retries 0 -o json', {
    env: { ...envOf(port), CHATELAINE_API_KEY: key },
  });
  expect(error?.message).toMatch(/words/);
  expect(stderr).not.toContain('Canary');
});

describe('a head that is not HTTP is named, and the request is not sent again', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

  test.each([
    ['lines that end with LF alone', 'HTTP/1.1 200 OK\ncontent-length: 2\n\n[]', /CR|LF/],
    ['a blank before the colon', `${head}content-length : 2\r\n\r\n[]`, /header/i],
    ['two lengths', `${head}content-length: 2\r\ncontent-length: 3\r\n\r\n[]`, /Content-Length/],
    ['a length that is no number', `${head}content-length: 2x\r\n\r\n[]`, /Content-Length/],
  ])('%s', async (_what, text, reason) => {
    const { port } = await openSpeaker(text, 'when asked');
    const { error, slept } = await runAlone('license list -o json', { env: envOf(port) });
    expect(error).toMatchObject({ exit: 7, hint: 'Check the scheme and the port of the URL.' });
    expect(error?.message).toMatch(new RegExp(`^127.0.0.1:${port} responds, but not in HTTP: .*${reason.source}`, 'i'));
    expect(slept).toEqual([]);
  });
});

const page = '<!doctype html><html><head><title>Sign in · Access</title></head></html>';
const access =
  'Check the URL of the profile. If an access proxy asks for a sign-in there, its operator must let this program through.';
const lines = ['license list', 'messages fetch', 'license edit KEY-1 --size-allowance 4'];

describe.each(lines)('the login page of an access proxy: %s', (line) => {
  test.each([401, 403])('%d with a page is no refusal of the key', async (status) => {
    const { port } = await openOrigin(() => ({ status, body: page, headers: { 'content-type': 'text/html' } }));
    const { error } = await runAlone(`${line} -o json`, { env: envOf(port) });
    expect(error).toMatchObject({ exit: 4, hint: access });
    expect(error?.message).toMatch(new RegExp(`or a proxy in front of it refused \\(${status}\\): Sign in · Access$`));
  });

  test.each(['https://team.access.test/login?x=1', 'https://new.test/v1/license/KEY-1/'])(
    'a redirect to %s is not followed, and names its origin alone',
    async (location) => {
      const { port } = await openOrigin(() => ({ status: 302, body: '', headers: { location } }));
      const { error } = await runAlone(`${line} -o json`, { env: envOf(port) });
      expect(error).toMatchObject({ exit: 6, hint: expect.stringContaining(access) as string });
      expect(error?.message).toContain(`redirects to ${new URL(location).origin} (302)`);
    },
  );

  test('a page with 200 is no answer of the API', async () => {
    const { port } = await openOrigin(() => ({ body: page, headers: { 'content-type': 'text/html' } }));
    const { error } = await runAlone(`${line} -o json`, { env: envOf(port) });
    if (!line.startsWith('license edit')) expect(error).toMatchObject({ exit: 7, hint: access });
    expect(error?.message).toContain('Sign in · Access');
  });
});

test('a wrong proxy variable is a problem that doctor names, and no bug', async () => {
  const { run } = await openSandbox();
  const env = { HTTPS_PROXY: 'http://DOMAIN\\user:100%@127.0.0.1:1', XDG_CONFIG_HOME: emptyHome() };
  const unit = { CHATELAINE_BASE_URL: 'https://licenses.test', CHATELAINE_API_KEY: 'k-1234', CHATELAINE_APP_CODE: '7' };
  const { exitCode, stdout } = await run('doctor -o json', { env: { ...env, ...unit } });
  expect(exitCode).toBe(7);
  expect(stdout).toContain('through the proxy 127.0.0.1:1 (ECONNREFUSED)');
  expect(stdout).not.toContain('100%');
});
