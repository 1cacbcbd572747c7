import { randomBytes } from 'node:crypto';
import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import type { Call, Download } from '../../../src/api/http/call.ts';
import type { Answer } from '../../../src/api/http/answer.ts';
import { exchange } from '../../../src/api/http/transport.ts';
import { Failure } from '../../../src/core/failure.ts';
import { realAlarm } from '../../../src/cli/clock.ts';
import { openOrigin } from '../../helpers/origin.ts';

function client(
  port: number,
  signal: AbortSignal,
  bodyLimit = 1000,
  download?: Download,
  { alarm = realAlarm, outlasts }: { readonly alarm?: typeof realAlarm; readonly outlasts?: Call['outlasts'] } = {},
) {
  const surroundings = { env: {}, caFile: undefined };
  const connection = { dispatcher: undefined, surroundings, alarm, signal, bodyLimit };
  const url = `http://127.0.0.1:${port}/`;
  const request = { method: 'GET', url, shown: url, headers: {}, body: undefined, shownBody: undefined } as const;
  return (timeout = 170_000): Promise<Answer> =>
    exchange(connection, request, url, { outlasts, ...(download && { download }) }, timeout);
}

test('a request that is done leaves nothing on the signal of the run', async () => {
  const { port } = await openOrigin();
  const { signal } = new AbortController();
  const ask = client(port, signal);
  for (let count = 0; count < 3; count += 1) expect((await ask()).status).toBe(200);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a request without an answer ends in time, and leaves nothing either', async () => {
  const { port } = await openOrigin((_request, count) => (count === 1 ? {} : undefined));
  const { signal } = new AbortController();
  const ask = client(port, signal);
  await ask();
  await expect(ask(30)).rejects.toThrow('timeout');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each(['before', 'after'])('a run that ends %s a request is sent ends it with its reason', async (when) => {
  const { port, seen } = await openOrigin(() => undefined);
  const run = new AbortController();
  const ask = client(port, run.signal);
  const reason = new Error('interrupted');
  if (when === 'before') run.abort(reason);
  const answer = ask();
  answer.catch(() => undefined);
  if (when === 'after') await expect.poll(() => seen.length).toBe(1);
  run.abort(reason);
  await expect(answer).rejects.toMatchObject(when === 'before' ? { cause: reason } : { message: reason.message });
  expect(seen).toHaveLength(when === 'before' ? 0 : 1);
});

test.each([
  ['interruption', 'cancelled', 'timeout'],
  ['interruption', 'terminated', 'timeout'],
  ['interruption', 'unavailable', 'the run ends'],
  ['Ctrl-C', 'cancelled', 'timeout'],
  ['Ctrl-C', 'terminated', 'the run ends'],
  [undefined, 'cancelled', 'the run ends'],
] as const)('a request in flight that outlasts %s, in a run that is %s, ends with: %s', async (outlasts, kind, end) => {
  const { port, seen } = await openOrigin(() => undefined);
  const run = new AbortController();
  let timeOut: () => void = () => undefined;
  const alarm: typeof realAlarm = (_span, ring) => {
    timeOut = ring;
    return () => undefined;
  };
  const answer = client(port, run.signal, 1000, undefined, { alarm, outlasts })();
  answer.catch(() => undefined);
  await expect.poll(() => seen.length).toBe(1);
  run.abort(new Failure(kind, 'the run ends'));
  timeOut();
  await expect(answer).rejects.toThrow(end);
});

const tooLong = randomBytes(1_000_000);

test.each([
  ['plain', {}, tooLong],
  ['compressed', { 'content-encoding': 'gzip' }, gzipSync(tooLong)],
])('a body past the limit that is %s ends the request and its connection', async (_what, headers, body) => {
  const { port, open } = await openOrigin((_request, count) => (count === 1 ? { headers, body } : {}));
  const ask = client(port, new AbortController().signal);
  await expect(ask()).rejects.toThrow('body too large');
  await expect.poll(open).toBe(0);
  expect((await ask()).text).toBe('[]');
});

test.each([
  ['plain', {}, Buffer.from('é'.repeat(400))],
  ['compressed', { 'content-encoding': 'gzip' }, gzipSync('é'.repeat(400))],
])('a body that is %s is read whole, over the same connection', async (_what, headers, body) => {
  const { port, connections } = await openOrigin(() => ({ headers, body }));
  const ask = client(port, new AbortController().signal);
  const answers = [await ask(), await ask()];
  expect(answers.map(({ text }) => text)).toEqual(['é'.repeat(400), 'é'.repeat(400)]);
  expect(connections()).toBe(1);
});

test('a run that ends while a compressed body comes ends the request with its reason', async () => {
  const half = gzipSync(randomBytes(500)).subarray(0, 300);
  const headers = { 'content-encoding': 'gzip', 'content-length': '600' };
  const { port } = await openOrigin(() => ({ headers, body: half }));
  const run = new AbortController();
  const reason = new Error('interrupted');
  const take: Download['take'] = async (_headers, body) => {
    run.abort(reason);
    for await (const _chunk of body);
  };
  await expect(client(port, run.signal, 1000, { maxBytes: 1000, take })()).rejects.toBe(reason);
});

test('a body that is given up is empty', async () => {
  const { port } = await openOrigin();
  const ask = client(port, new AbortController().signal);
  const answer = await ask();
  expect(answer.text).toBe('[]');

  answer.release();

  expect([answer.text, answer.bytes.length]).toEqual(['', 0]);
});

test('long bodies, each used until the next one is there, are freed by V8 itself', async () => {
  const long = randomBytes(1_000_000);
  const { port } = await openOrigin(() => ({ body: long }));
  const ask = client(port, new AbortController().signal, long.length);
  let last = await ask();
  const before = process.memoryUsage().arrayBuffers;
  // V8 lets 30 MB of buffers wait for a collection; the machine decides how many come before its thread has freed them.
  let held = 0;
  let isFreed = false;
  for (let count = 0; count < 2000 && !isFreed; count += 1) {
    const next = await ask();
    expect(last.bytes.length).toBe(long.length);
    last.release();
    last = next;
    const now = process.memoryUsage().arrayBuffers - before;
    isFreed = now < held - 10 * long.length;
    held = now;
  }
  expect(isFreed).toBe(true);
});

test('a reader that is slow holds the sender back', async () => {
  const whole = 96 * 1024 * 1024;
  const piece = Buffer.alloc(64 * 1024, 'x');
  let sent = 0;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': whole });
    const send = (): void => {
      while (sent < whole) {
        sent += piece.length;
        if (!response.write(piece)) return;
      }
      response.end();
    };
    send();
    response.on('drain', send);
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  let read = (): void => undefined;
  const reading = new Promise<void>((resolve) => (read = resolve));
  let received = 0;
  const take: Download['take'] = async (_headers, body) => {
    await reading;
    for await (const chunk of body) received += chunk.length;
  };
  const ask = client(port, new AbortController().signal, 1000, { maxBytes: whole, take });
  const answer = ask();
  answer.catch(() => undefined);

  // The sender rests: ten looks at it in a row see the same number.
  let looks: number[] = [];
  const isResting = (): boolean => {
    looks = [...looks, sent].slice(-10);
    return looks.length === 10 && sent > 0 && looks.every((look) => look === sent);
  };
  await expect.poll(isResting).toBe(true);
  // What the system holds on both sides of a connection on loopback.
  expect(sent).toBeLessThan(whole / 2);

  read();
  await answer;
  expect({ sent, received }).toEqual({ sent: whole, received: whole });
});

test.each(['HTTP/1.1 200 OK\r\nConnection: close', 'HTTP/1.0 200 OK'])(
  'a long answer whose connection ends while its reader rests is whole: %s',
  async (head) => {
    const lengths = Array.from({ length: 17 }, (_one, index) => (256 + 8 * index) * 1024);
    let answered = 0;
    let isSent = Promise.resolve();
    const server = createTcpServer((socket) => {
      isSent = new Promise((resolve) => {
        socket.once('data', () => {
          const length = lengths[answered++] ?? 0;
          socket.end(`${head}\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`, resolve);
        });
      });
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const received: number[] = [];
    const take: Download['take'] = async (_headers, body) => {
      // Then the whole answer, and the end of its connection, are on this side.
      await isSent;
      for (let turns = 0; turns < 5; turns += 1) await nextTurn();
      const place = received.push(0) - 1;
      for await (const { length } of body) received[place] = (received[place] ?? 0) + length;
    };
    const ask = client(port, new AbortController().signal, 1000, { maxBytes: 1_000_000, take });
    for (const _ of lengths) await ask();

    expect(received).toEqual(lengths);
  },
);

test('a download whose connection breaks before its reader begins, or that nobody reads, ends with its connection', async () => {
  const closed: Promise<unknown>[] = [];
  const server = createTcpServer((socket) => {
    closed.push(once(socket, 'close'));
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nbeginning');
      if (closed.length === 1) setImmediate(() => socket.destroy());
    });
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const late: Download['take'] = async (_headers, body) => {
    await broken;
    for await (const _chunk of body);
  };
  const { signal } = new AbortController();
  const broken = new Promise((resolve) => {
    subscribe('undici:request:error', resolve);
    onTestFinished(() => void unsubscribe('undici:request:error', resolve));
  });
  await expect(client(port, signal, 1000, { maxBytes: 1_000_000, take: late })()).rejects.toThrow('broken');

  const take: Download['take'] = () => Promise.reject(new Error('refused by its headers'));
  await expect(client(port, signal, 1000, { maxBytes: 1_000_000, take })()).rejects.toThrow('refused by its headers');
  await closed[1];
});
