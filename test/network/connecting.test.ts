import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { alarmByHand } from '../helpers/clock.ts';
import { openOrigin } from '../helpers/origin.ts';
import { runAlone, type Ran, type RunOptions } from '../helpers/run.ts';

const at = (base: string, line: string, { env, ...options }: RunOptions = {}): Promise<Ran> =>
  runAlone(line.includes(' -o ') ? line : `${line} -o json`, {
    ...options,
    env: { CHATELAINE_BASE_URL: base, CHATELAINE_API_KEY: 'licensing-key-1', CHATELAINE_APP_CODE: '7', ...env },
  });

interface Server {
  readonly port: number;
  connections(): number;
}

/** Serves each connection by itself; ends with the test. */
async function listen(serve: (socket: Socket, count: number) => void): Promise<Server> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    serve(socket, sockets.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => sockets.length };
}

/** A server that says nothing, and time limits of an hour that end where it has been connected to. */
async function listenMute(): Promise<Server & Pick<RunOptions, 'alarm'>> {
  const { alarm, ring } = alarmByHand(3_600_000);
  return { ...(await listen(ring)), alarm };
}

const create = 'license create --remote-user ada --size-allowance 4';

/** Runs `act`, and resolves to the options that were set meanwhile on sockets, with whether they were connected. */
async function optionsSet(port: number, act: () => Promise<unknown>): Promise<Set<string>> {
  const probe = connect(port, '127.0.0.1');
  const handles = Object.getPrototypeOf(Reflect.get(probe, '_handle')) as object;
  probe.destroy();
  const seen = new Set<string>();
  const names = ['setNoDelay', 'setKeepAlive'];
  const given = names.map((name) => ({ name, set: Reflect.get(handles, name) as (...args: unknown[]) => unknown }));
  for (const { name, set } of given)
    Reflect.set(handles, name, function (this: { getpeername(name: object): number }, ...args: unknown[]) {
      seen.add(`${name}: ${this.getpeername({}) === 0 ? 'connected' : 'not connected'}`);
      return set.apply(this, args);
    });
  try {
    await act();
  } finally {
    for (const { name, set } of given) Reflect.set(handles, name, set);
  }
  return seen;
}

describe('while connecting', () => {
  test.each(['http', 'https'])(
    '%s: no option is set on a socket before it is connected: Wine refuses that',
    async (scheme) => {
      const { port } = await listen((socket) => socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'));
      const seen = await optionsSet(port, () => at(`${scheme}://127.0.0.1:${port}`, 'license list'));
      expect(seen).toEqual(new Set(['setNoDelay: connected', 'setKeepAlive: connected']));
    },
  );

  test.each(['license list', create])('%s: --timeout holds for TLS, and nothing was sent', async (line) => {
    const { port, connections, ...time } = await listenMute();
    const { error } = await at(`https://127.0.0.1:${port}`, `${line} --timeout 1h --retries 1`, time);
    expect(error).toMatchObject({ exit: 7, message: `timeout: no connection to 127.0.0.1:${port} within 1h` });
    // The look at the list before the POST is tried twice too.
    expect(connections()).toBe(line === create ? 4 : 2);
  });

  test.each(['license list', create])('%s: --timeout holds for a proxy that says nothing', async (line) => {
    const { port, connections, ...time } = await listenMute();
    const env = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const { error } = await at('https://licenses.test', `${line} --timeout 1h --retries 1`, { env, ...time });
    expect(error).toMatchObject({
      exit: 7,
      message: `timeout: no connection to licenses.test through the proxy 127.0.0.1:${port} within 1h`,
    });
    // The look at the list before the POST is tried twice too.
    expect(connections()).toBe(line === create ? 4 : 2);
  });

  test.each([
    [
      'closes',
      '',
      (port: number) => `the proxy 127.0.0.1:${port} closed the tunnel to licenses.test before it was open`,
    ],
    [
      'answers nonsense',
      'nonsense\r\n\r\n',
      (port: number) => `the proxy 127.0.0.1:${port} refused to connect to licenses.test (its response is not HTTP)`,
    ],
  ])('a proxy that %s is a connection that was not made', async (_what, said, message) => {
    const { port } = await listen((socket) => socket.end(said));
    const env = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const { error } = await at('https://licenses.test', `${create} --retries 1`, { env });
    expect(error).toMatchObject({ exit: 7, message: message(port) });
  });

  test('Ctrl-C ends it, and says nothing of a request that was not sent', async () => {
    const interrupt = new AbortController();
    const { Failure } = await import('../../src/core/failure.ts');
    const { port } = await listen(() => interrupt.abort(new Failure('cancelled', 'interrupted')));
    const { error } = await at(`https://127.0.0.1:${port}`, create, { interrupt: interrupt.signal });
    expect(error).toMatchObject({ exit: 130, message: 'interrupted' });
  });

  test('a POST whose connection breaks after it was sent is not sent again', async () => {
    const { port, connections } = await listen((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const { error } = await at(`http://127.0.0.1:${port}`, `${create} --retries 1 --settle 1ms`);
    expect(error?.exit).toBe(9);
    // The look at the list before it, the POST, and looks at the list after it; each look is tried twice.
    expect(connections()).toBeGreaterThan(1);
  });
});

describe('certificates that nobody checks', () => {
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };

  test.each(['https://licenses.test', 'https://127.0.0.1.example.com'])(
    'nothing is sent to %s with NODE_TLS_REJECT_UNAUTHORIZED=0',
    async (base) => {
      const { error } = await at(base, 'license list', { env });
      expect(error).toMatchObject({
        exit: 3,
        message: expect.stringContaining('NODE_TLS_REJECT_UNAUTHORIZED=0') as string,
      });
    },
  );

  test.each(['http://licenses.test', 'https://licenses.test'])(
    'nor to %s through a proxy that is asked over TLS',
    async (base) => {
      const proxy = 'https://ada:canary-pw@gate.test:3128';
      const given = { ...env, HTTP_PROXY: proxy, HTTPS_PROXY: proxy, CHATELAINE_ALLOW_HTTP: 'licenses.test' };
      const { error, stderr } = await at(base, 'license list', { env: given });
      expect(error).toMatchObject({
        exit: 3,
        message: expect.stringContaining('NODE_TLS_REJECT_UNAUTHORIZED=0') as string,
      });
      expect(stderr).not.toContain('canary-pw');
    },
  );

  test('http without a proxy that is asked over TLS has none', async () => {
    const given = { ...env, HTTP_PROXY: 'http://127.0.0.1:1', CHATELAINE_ALLOW_HTTP: 'licenses.test' };
    expect((await at('http://licenses.test', 'license list', { env: given })).error?.exit).toBe(7);
  });

  test.each(['http://127.0.0.1', 'http://localhost'])('%s is this machine', async (base) => {
    const { port } = await openOrigin();
    expect((await at(`${base}:${port}`, 'license list', { env })).exitCode).toBe(0);
  });
});

describe('compressed answers', () => {
  const rows = JSON.stringify(
    Array.from({ length: 50 }, (_unused, index) => ({ license_code: `C${index}`, remote_user: `user-${index}` })),
  );
  const answering = async (encoding: string, body: Buffer): Promise<string> => {
    const { port } = await openOrigin(() => ({ headers: { 'content-encoding': encoding }, body }));
    return `http://127.0.0.1:${port}`;
  };

  test.each([
    ['gzip', gzipSync(rows)],
    ['br', brotliCompressSync(rows)],
    ['identity', Buffer.from(rows)],
  ])('%s is read', async (encoding, body) => {
    const { exitCode, stdout } = await at(await answering(encoding, body), 'license list');
    expect({ exitCode, rows: (JSON.parse(stdout) as unknown[]).length }).toEqual({ exitCode: 0, rows: 50 });
  });

  test.each(['constructor', 'unknown'])('the coding %s is none', async (encoding) => {
    expect((await at(await answering(encoding, Buffer.from(rows)), 'license list')).exitCode).toBe(0);
  });

  test('they are asked for', async () => {
    const { port, seen } = await openOrigin();
    await at(`http://127.0.0.1:${port}`, 'license list');
    expect(seen.map(({ encodings }) => encodings)).toEqual(['gzip, br']);
  });

  test('the limit on the size holds after decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(5_000_000, 0x20));
    expect(bomb.length).toBeLessThan(10_000);
    const { port, seen } = await openOrigin(() => ({ body: bomb, headers: { 'content-encoding': 'gzip' } }));
    const { error } = await at(`http://127.0.0.1:${port}`, 'license list', { bodyLimit: 100_000 });
    const message: unknown = expect.stringContaining('larger than 64 MiB');
    expect(error).toMatchObject({ exit: 7, message, retryable: false });
    expect(seen).toHaveLength(1);
  });

  test.each([
    ['cut', gzipSync(rows).subarray(0, 100)],
    ['no gzip at all', Buffer.from(rows)],
  ])('one that is %s is an answer that is not whole', async (_what, body) => {
    const { error } = await at(await answering('gzip', body), 'license list --retries 0');
    expect(error).toMatchObject({
      exit: 7,
      message: expect.stringContaining('broke before the response was complete') as string,
    });
  });
});

describe('hostile answers', () => {
  test('one that breaks in the packet of its head is an answer that is not whole', async () => {
    const { port } = await listen((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nno chunk\r\n')),
    );
    const { error } = await at(`http://127.0.0.1:${port}`, 'license list --retries 0');
    expect(error).toMatchObject({
      exit: 7,
      message: expect.stringContaining('broke before the response was complete') as string,
    });
  });

  test('an interim answer is not the answer', async () => {
    const { port } = await listen((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n');
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[]');
      }),
    );
    expect(await at(`http://127.0.0.1:${port}`, 'license list')).toMatchObject({ exitCode: 0, stdout: '[]\n' });
  });

  test('headers that Node does not take are asked for once, and named', async () => {
    const { port, seen } = await openOrigin(() => ({ headers: { 'x-long': 'x'.repeat(20_000) } }));
    const { error } = await at(`http://127.0.0.1:${port}`, 'license list');
    expect(error).toMatchObject({
      exit: 7,
      message: `the response headers of 127.0.0.1:${port} are larger than Node accepts`,
      hint: 'If they are right, set NODE_OPTIONS=--max-http-header-size=65536, in bytes.',
      retryable: false,
    });
    expect(seen).toHaveLength(1);
  });

  test.each([
    ['arrays 10,000 deep', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['objects 10,000 deep', '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000)],
    ['an array 10,000 deep in a row', `[{"license_code":"A","x":${'['.repeat(10_000)}${']'.repeat(10_000)}}]`],
  ])('%s: a clear error', async (_what, body) => {
    const { port } = await openOrigin(() => ({ body }));
    const { error, exitCode } = await at(`http://127.0.0.1:${port}`, 'license list --retries 0');
    expect({ exitCode, message: error?.message }).toEqual({
      exitCode: 7,
      message: 'the licensing API answered 200 with JSON that is nested too deep',
    });
  });

  test('a secret that a long text repeats is redacted before the text is cut', async () => {
    for (let before = 960; before < 1040; before += 7) {
      const text = `${'x'.repeat(before)} licensing-key-canary-0123456789 ${'y'.repeat(500)}`;
      const { port } = await openOrigin(() => ({ status: 400, body: JSON.stringify({ detail: text }) }));
      const env = { CHATELAINE_API_KEY: 'licensing-key-canary-0123456789' };
      const { stderr } = await at(`http://127.0.0.1:${port}`, 'license list', { env });
      expect(stderr).not.toContain('licensing-k');
    }
  });

  test('the redirect of a POST is reported without the code of its target', async () => {
    const { port } = await openOrigin(({ method }) =>
      method === 'POST' ? { status: 302, headers: { location: '/v1/license/CANARY-CODE-1/' }, body: '' } : {},
    );
    const { exitCode, stderr } = await at(`http://127.0.0.1:${port}`, `${create} --settle 1ms --trace`);
    expect(exitCode).toBe(9);
    expect(stderr).not.toContain('CANARY');
  });
});
