import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAuthority, type Authority, type Certificate } from '../helpers/authority.ts';
import { needs } from '../helpers/needs.ts';
import { openOrigin, type Origin } from '../helpers/origin.ts';
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

  const open = async (
    options: Partial<ProxyOptions> = {},
  ): Promise<{ origin: Origin; proxy: Proxy; url: string; local: string }> => {
    const origin = await openOrigin(() => ({}), certificate);
    const proxy = await openProxy({ port: origin.port, ...options });
    return { origin, proxy, url: `http://127.0.0.1:${proxy.port}`, local: `localhost:${origin.port}` };
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

  test('name and password of the proxy are sent to it, decoded', async () => {
    const { proxy } = await open({ login: 'ada:p@ss:word' });
    const ran = await list('licenses.test', { HTTPS_PROXY: `http://ada:p%40ss%3Aword@127.0.0.1:${proxy.port}` });
    expect(ran.exitCode).toBe(0);
  });

  test.each(['', 'ada:wrong-canary-pw@'])('a proxy that asks for a password says what to do (%s)', async (login) => {
    const { origin, proxy } = await open({ login: 'ada:secret' });
    const ran = await list('licenses.test', { HTTPS_PROXY: `http://${login}127.0.0.1:${proxy.port}` }, '--trace');
    expect(ran.error).toMatchObject({
      exit: 7,
      message: 'the proxy asks for a name and password (407)',
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
      message: 'the proxy refused to connect to licenses.test (403)',
      hint: 'Check HTTPS_PROXY and NO_PROXY.',
    });
    expect(proxy.seen).toHaveLength(1);
  });

  test('a proxy in trouble is asked again', async () => {
    const { proxy, url } = await open({ refuse: 503 });
    const ran = await list('licenses.test', { HTTPS_PROXY: url }, '--retries 2');
    expect(ran.error).toMatchObject({ exit: 7, message: 'the proxy refused to connect to licenses.test (503)' });
    expect(proxy.seen).toHaveLength(3);
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

  test.each([
    ['localhost', false],
    ['*', false],
    ['other.test, localhost', false],
    ['other.test localhost', false],
    ['LOCALHOST', false],
    ['localhost:PORT', false],
    ['.localhost', false],
    ['localhost:1', true],
    ['other.test', true],
    ['host', true],
    ['', true],
  ])('NO_PROXY=%s', async (noProxy, isProxied) => {
    const { proxy, local, origin, url } = await open();
    const env = { HTTPS_PROXY: url, NO_PROXY: noProxy.replace('PORT', String(origin.port)) };
    expect((await list(local, env)).exitCode).toBe(0);
    expect(proxy.seen).toEqual(isProxied ? [`CONNECT ${local}`] : []);
  });

  test('no_proxy is read too', async () => {
    const { proxy, local, url } = await open();
    expect((await list(local, { HTTPS_PROXY: url, no_proxy: 'localhost' })).exitCode).toBe(0);
    expect(proxy.seen).toEqual([]);
  });

  test('an empty variable is unset', async () => {
    const { proxy, local, url } = await open();
    expect((await list(local, { HTTPS_PROXY: '', https_proxy: '' })).exitCode).toBe(0);
    expect((await list(local, { HTTPS_PROXY: '', https_proxy: url })).exitCode).toBe(0);
    expect(proxy.seen).toEqual([`CONNECT ${local}`]);
  });

  test('HTTP_PROXY says nothing about https', async () => {
    const { proxy, local, url } = await open();
    expect((await list(local, { HTTP_PROXY: url })).exitCode).toBe(0);
    expect(proxy.seen).toEqual([]);
  });

  test('a variable that is no URL is reported before anything is sent, without what it holds', async () => {
    const ran = await list('licenses.test', { HTTPS_PROXY: 'http://ada:canary-pw@' });
    expect(ran.error).toMatchObject({ code: 'config', exit: 3 });
    expect(ran.stderr).not.toContain('canary-pw');
  });
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

test('http on loopback never goes through a proxy', async () => {
  const { run, sandbox } = await openSandbox();
  const proxy = await openProxy({ port: sandbox.port });
  const url = `http://127.0.0.1:${proxy.port}`;
  const env = { HTTP_PROXY: url, http_proxy: url, HTTPS_PROXY: url, https_proxy: url, ALL_PROXY: url };
  expect((await run('license list', { env })).exitCode).toBe(0);
  expect((await run('messages fetch', { env })).exitCode).toBe(0);
  expect(proxy.seen).toEqual([]);
});
