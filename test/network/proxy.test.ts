import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAuthority, type Authority, type Certificate } from '../helpers/authority.ts';
import { needs } from '../helpers/needs.ts';
import { credentialsOf, proxyOf } from '../../src/api/http/proxy.ts';
import { openOrigin, openSpeaker, type Origin } from '../helpers/origin.ts';
import { openProxy, type Proxy, type ProxyOptions } from '../helpers/proxy.ts';
import { openSandbox, runAlone, type Ran } from '../helpers/run.ts';

const key = 'licensing-key-1234567890';

describe('an https origin', needs('openssl'), () => {
  let authority: Authority;
  let certificate: Certificate;

  beforeAll(() => {
    authority = openAuthority();
    certificate = authority.issue('DNS:localhost,DNS:licenses.test,IP:127.0.0.1');
  });
  afterAll(() => authority.close());

  const list = (host: string, env: Record<string, string>, more = ''): Promise<Ran> =>
    runAlone(`license list -o json --ca-file ${authority.file} ${more}`, {
      env: { CHATELAINE_BASE_URL: `https://${host}`, CHATELAINE_API_KEY: key, CHATELAINE_APP_CODE: '7', ...env },
    });

  const open = async (options: Partial<ProxyOptions> = {}): Promise<{ origin: Origin; proxy: Proxy; url: string }> => {
    const origin = await openOrigin(() => ({}), certificate);
    const proxy = await openProxy({ port: origin.port, ...options });
    return { origin, proxy, url: `http://127.0.0.1:${proxy.port}` };
  };

  test.each(['HTTPS_PROXY', 'https_proxy'])('goes through the proxy of %s, which resolves the name', async (name) => {
    const { origin, proxy, url } = await open();
    const { exitCode, stdout } = await list('licenses.test', { [name]: url });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '[]\n' });
    expect(proxy.seen).toEqual(['CONNECT licenses.test:443']);
    expect(origin.seen.map((seen) => [seen.url, seen.authorization])).toEqual([['/v1/license/', `Token ${key}`]]);
  });

  test('a proxy that is asked over TLS is known by its own name', async () => {
    const { proxy } = await open({ certificate: authority.issue('DNS:localhost') });
    const { exitCode } = await list('licenses.test', { HTTPS_PROXY: `https://localhost:${proxy.port}` });
    expect(exitCode).toBe(0);
    expect(proxy.seen).toEqual(['CONNECT licenses.test:443']);
  });

  test('a proxy may be written without http://, as curl takes it', async () => {
    const { proxy } = await open();
    expect((await list('licenses.test', { HTTPS_PROXY: `127.0.0.1:${proxy.port}` })).exitCode).toBe(0);
    expect(proxy.seen).toEqual(['CONNECT licenses.test:443']);
  });

  test.each([
    ['ada:p@ss:word', 'ada:p%40ss%3Aword'],
    ['ada:%zz@é', 'ada:%zz%40é'],
    ['ada:a/b?c#d', 'ada:a/b?c#d'],
    ['DOMAIN\\user:pw', 'DOMAIN\\user:pw'],
    ['ada:', 'ada'],
  ])('name and password %s are sent to the proxy, typed as %s', async (login, typed) => {
    const { proxy } = await open({ login });
    for (const scheme of ['http://', '']) {
      const { error } = await list('licenses.test', { HTTPS_PROXY: `${scheme}${typed}@127.0.0.1:${proxy.port}` });
      expect(error).toBeUndefined();
    }
  });

  test('a proxy that speaks no HTTP is named, and a write is known not to be sent', async () => {
    const { port } = await openSpeaker('SSH-2.0-OpenSSH_9.2\r\n');
    const env = { CHATELAINE_BASE_URL: 'https://licenses.test', HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const unit = { CHATELAINE_API_KEY: key, CHATELAINE_APP_CODE: '7' };
    const { error } = await runAlone('license edit KEY-1 --size-allowance 4 -o json', { env: { ...unit, ...env } });
    const message = `the proxy 127.0.0.1:${port} refused to connect to licenses.test (its response is not HTTP)`;
    expect(error).toMatchObject({ exit: 7, message, hint: 'Check HTTPS_PROXY and NO_PROXY.' });
  });

  test.each(['', 'ada:wrong-canary-pw@'])('a proxy that asks for a password says what to do (%s)', async (login) => {
    const { origin, proxy } = await open({ login: 'ada:secret' });
    const ran = await list('licenses.test', { HTTPS_PROXY: `http://${login}127.0.0.1:${proxy.port}` }, '--trace');
    expect(ran.error).toMatchObject({
      exit: 7,
      message: `the proxy 127.0.0.1:${proxy.port} asks for a name and password (407)`,
      hint: 'Put them into HTTPS_PROXY as http://user:password@host:port.',
    });
    expect(proxy.seen).toEqual(['CONNECT licenses.test:443']);
    expect(origin.connections()).toBe(0);
    expect(ran.stderr).not.toContain('wrong-canary-pw');
  });

  test('a proxy that refuses is named, and asked once', async () => {
    const { proxy, url } = await open({ refuse: 403 });
    expect((await list('licenses.test', { HTTPS_PROXY: url })).error).toMatchObject({
      exit: 7,
      message: `the proxy 127.0.0.1:${proxy.port} refused to connect to licenses.test (403)`,
      hint: 'Check HTTPS_PROXY and NO_PROXY.',
    });
    expect(proxy.seen).toHaveLength(1);
  });

  test('a proxy in trouble is asked again', async () => {
    const { proxy, url } = await open({ refuse: 500 });
    const ran = await list('licenses.test', { HTTPS_PROXY: url }, '--retries 2');
    const message = `the proxy 127.0.0.1:${proxy.port} refused to connect to licenses.test (500)`;
    expect(ran.error).toMatchObject({ exit: 7, message });
    expect(proxy.seen).toHaveLength(3);
  });

  test.each([
    ['http://gate.test', {}],
    ['http://ada@gate.test', { 'proxy-authorization': 'Basic YWRhOg==' }],
    ['http://:p%40ss@gate.test', { 'proxy-authorization': 'Basic OnBAc3M=' }],
  ])('%s gets %j', (url, headers) => {
    expect(credentialsOf(new URL(url))).toEqual(headers);
  });

  test('a proxy that is not there is named without its password', async () => {
    const ran = await list('licenses.test', { HTTPS_PROXY: 'http://ada:canary-pw@127.0.0.1:1' }, '--verbose');
    expect(ran.error).toMatchObject({
      exit: 7,
      message: 'no connection to licenses.test through the proxy 127.0.0.1:1 (ECONNREFUSED)',
    });
    expect(ran.slept).toHaveLength(5);
    expect(ran.stderr).not.toContain('canary-pw');
  });

  test.each(['localhost', '127.0.0.1'])('https to %s goes through no proxy: the key stays here', async (name) => {
    const { proxy, origin, url } = await open();
    expect((await list(`${name}:${origin.port}`, { HTTPS_PROXY: url, https_proxy: url })).exitCode).toBe(0);
    expect(proxy.seen).toEqual([]);
  });

  test('an empty variable is unset', async () => {
    const { proxy, url } = await open();
    expect((await list('licenses.test', { HTTPS_PROXY: '', https_proxy: url })).exitCode).toBe(0);
    expect(proxy.seen).toEqual(['CONNECT licenses.test:443']);
  });

  test('a variable that is no URL is reported before anything is sent, without what it holds', async () => {
    const ran = await list('licenses.test', { HTTPS_PROXY: 'http://ada:canary-pw@' });
    expect(ran.error).toMatchObject({ code: 'config', exit: 3 });
    expect(ran.stderr).not.toContain('canary-pw');
  });
});

const proxyFor = (url: string, env: Record<string, string>): string | undefined => proxyOf(url, env)?.host;

test.each([
  ['licenses.test', true],
  ['*', true],
  ['other.test, licenses.test', true],
  ['LICENSES.TEST', true],
  ['licenses.test:443', true],
  ['.test', true],
  ['licenses.test:1', false],
  ['other.test', false],
  ['icenses.test', false],
  ['10.0.0.0/8', false],
  ['', false],
])('NO_PROXY=%s, for a host with a name', (entries, isExempt) => {
  const env = { HTTPS_PROXY: 'http://gate.test:3128' };
  for (const name of ['NO_PROXY', 'no_proxy']) {
    const found = proxyFor('https://licenses.test/v1/', { ...env, [name]: entries });
    expect(found).toBe(isExempt ? undefined : 'gate.test:3128');
  }
});

test.each([
  ['10.1.2.3', '10.1.2.3', true],
  ['10.1.2.3', '10.1.2.3:443', true],
  ['10.1.2.3', '10.1.2.3:80', false],
  ['10.1.2.3', '10.0.0.0/8', true],
  ['10.1.2.3', '10.1.3.0/24', false],
  ['10.1.2.3', '10.1.2.3/33', false],
  ['10.1.2.3', '::ffff:10.1.2.3', true],
  ['10.1.2.3', '*', true],
  // The end of an address is no domain.
  ['10.1.2.3', '1.2.3', false],
  ['10.1.2.3', '.2.3', false],
  ['[2001:db8::1]', '2001:db8::1', true],
  ['[2001:db8::1]', '2001:db8:0:0:0:0:0:1', true],
  ['[2001:db8::1]', '[2001:db8::1]:443', true],
  ['[2001:db8::1]', '[2001:db8::1]:80', false],
  ['[2001:db8::1]', '2001:db8::/32', true],
  ['[2001:db8::1]', '[2001:db8::]/32', true],
  ['[2001:db8::1]', '2001:db9::/32', false],
  ['[2001:db8::1]', '2001:db8::/x', false],
  ['[2001:db8::1]', '10.0.0.0/8', false],
])('the address %s and NO_PROXY=%s', (host, entry, isExempt) => {
  const found = proxyFor(`https://${host}/v1/`, { HTTPS_PROXY: 'gate.test:3128', NO_PROXY: `other.test,${entry}` });
  expect(found).toBe(isExempt ? undefined : 'gate.test:3128');
});

test.each([
  ['https://licenses.test/', 'HTTP_PROXY'],
  ['http://licenses.test/', 'HTTPS_PROXY'],
  ['https://localhost/', 'HTTPS_PROXY'],
  ['https://[::1]/', 'HTTPS_PROXY'],
  ['https://127.1.2.3/', 'HTTPS_PROXY'],
  ['http://localhost/', 'HTTP_PROXY'],
])('%s has no proxy of %s', (url, name) => {
  expect(proxyFor(url, { [name]: 'http://gate.test:3128' })).toBeUndefined();
});

describe('plain http beyond this computer', () => {
  const list = (env: Record<string, string>): Promise<Ran> =>
    runAlone('license list -o json', {
      env: {
        ...{ CHATELAINE_BASE_URL: 'http://licenses.test', CHATELAINE_ALLOW_HTTP: 'licenses.test' },
        ...{ CHATELAINE_API_KEY: key, CHATELAINE_APP_CODE: '7', ...env },
      },
    });

  test.each(['HTTP_PROXY', 'http_proxy'])('goes through the proxy of %s', async (name) => {
    const origin = await openOrigin(() => ({}));
    const proxy = await openProxy({ port: origin.port });
    const { exitCode, stdout } = await list({ [name]: `http://127.0.0.1:${proxy.port}` });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '[]\n' });
    expect(proxy.seen).toEqual(['CONNECT licenses.test:80']);
    expect(origin.seen.map((seen) => [seen.url, seen.authorization])).toEqual([['/v1/license/', `Token ${key}`]]);
  });

  test('NO_PROXY names a host with the port of http', async () => {
    const proxy = await openProxy({ port: 9 });
    const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: 'licenses.test:80' };
    expect((await list({ ...env, CHATELAINE_RETRIES: '0' })).exitCode).toBe(7);
    expect(proxy.seen).toEqual([]);
  });

  test('a variable that is no URL is named', async () => {
    const ran = await list({ HTTP_PROXY: 'http://[' });
    expect(ran.error).toMatchObject({ exit: 3, message: expect.stringContaining('HTTP_PROXY') as string });
  });
});

test.each([`"http://ada:canary-pw@gate.test:3128"`, `'http://ada:canary-pw@gate.test:3128'`])(
  'a proxy in quotes is named, also where no proxy is asked, and not what it holds',
  async (text) => {
    const unit = { CHATELAINE_BASE_URL: 'http://127.0.0.1:1', CHATELAINE_API_KEY: key, CHATELAINE_APP_CODE: '7' };
    const ran = await runAlone('license list -o json', { env: { ...unit, HTTPS_PROXY: text } });
    expect(ran.error).toMatchObject({ exit: 3, message: 'the proxy variable HTTPS_PROXY is in quotes' });
    expect(ran.stderr).not.toContain('canary-pw');
  },
);

test.each([
  [{ ALL_PROXY: 'http://gate.test:3128' }, true],
  [{ all_proxy: 'socks5://gate.test:1080' }, true],
  [{ ALL_PROXY: 'http://gate.test:3128', http_proxy: 'http://gate.test:3128' }, false],
  [{ ALL_PROXY: '' }, false],
])('without a connection, a proxy that is not used is named: %j is %s', async (env, isNamed) => {
  const unit = { CHATELAINE_BASE_URL: 'http://127.0.0.1:1', CHATELAINE_API_KEY: key, CHATELAINE_APP_CODE: '7' };
  const words = 'ALL_PROXY is not used: set HTTPS_PROXY to an http proxy.';
  const listed = await runAlone('license list --retries 0 -o json', { env: { ...unit, ...env } });
  expect(listed.error?.hint?.endsWith(words)).toBe(isNamed);
  const checked = await runAlone('doctor -o json', { env: { ...unit, ...env } });
  expect(checked.stdout.includes(words)).toBe(isNamed);
});

test('http on loopback never goes through a proxy', async () => {
  const { run, sandbox } = await openSandbox();
  const proxy = await openProxy({ port: sandbox.port });
  const url = `http://127.0.0.1:${proxy.port}`;
  const env = { HTTP_PROXY: url, http_proxy: url, HTTPS_PROXY: url, https_proxy: url, ALL_PROXY: url };
  expect((await run('license list', { env })).exitCode).toBe(0);
  expect((await run('messages fetch', { env })).exitCode).toBe(0);
  expect(proxy.seen).toEqual([]);
});
