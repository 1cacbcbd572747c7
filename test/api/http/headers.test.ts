import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../../src/api/http/connect.ts';
import { Planned, type Connection, type PlannedCall, type WireEvent } from '../../../src/api/http/call.ts';
import { path } from '../../../src/api/http/request.ts';
import { openGate } from '../../../src/api/http/retry.ts';
import { realAlarm, realClock } from '../../../src/cli/clock.ts';
import { Failure } from '../../../src/core/failure.ts';
import { Secret } from '../../../src/core/secret.ts';
import { sleptClock } from '../../helpers/clock.ts';

function connectionTo(port: number, plan?: (call: PlannedCall) => void): Connection {
  return {
    base: `http://127.0.0.1:${port}`,
    authorization: undefined,
    key: { variable: 'KEY', headers: 'HEADERS', setup: [] },
    userAgent: 'test',
    sealed: false,
    readOnly: false,
    headers: { 'x-tenant': new Secret("ward 3's") },
    clock: realClock,
    alarm: realAlarm,
    signal: new AbortController().signal,
    gate: openGate(realClock),
    retries: 0,
    timeout: undefined,
    deadline: undefined,
    bodyLimit: 1000,
    surroundings: { env: {}, caFile: undefined },
    dispatcher: undefined,
    plan,
    observe: () => undefined,
  };
}

test('what a profile adds to a request is sent, and that no cache may answer', async () => {
  const seen: unknown[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers['x-tenant'], request.headers['cache-control']);
    response.end('[]');
  });
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  await connect(connectionTo(port))({ method: 'GET', path: path`/v1/license/`, repeat: 'safe' });

  expect(seen).toEqual(["ward 3's", 'no-cache']);
});

test('a connection that only reads sends no write, whoever asks for it', async () => {
  const send = connect({ ...connectionTo(1), readOnly: true });

  await expect(send({ method: 'PATCH', path: path`/v1/x/`, json: {}, repeat: 'safe' })).rejects.toMatchObject({
    kind: 'config',
    message: 'this profile is read-only: nothing was sent',
  });
});

test('a dry run names it, and its line of curl reads it from a variable', async () => {
  const planned: PlannedCall[] = [];
  const send = connect(connectionTo(1, (call) => void planned.push(call)));
  await expect(send({ method: 'PATCH', path: path`/v1/x/`, json: {}, repeat: 'safe' })).rejects.toThrow(Planned);
  expect(planned[0]?.request.headers).toBe('x-tenant: [secret]');
  expect(planned[0]?.curl).toContain('--header @<(printf %s "$HEADERS")');
});

test('a call without a response is reported after ten seconds', async () => {
  const alarms: { readonly span: number; readonly ring: () => void }[] = [];
  const events: WireEvent[] = [];
  const server = createServer((_request, response) => {
    for (const { span, ring } of alarms) if (span === 10_000) ring();
    response.end('[]');
  });
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const alarm = (span: number, ring: () => void) => (alarms.push({ span, ring }), () => undefined);

  const send = connect({ ...connectionTo(port), alarm, observe: (event) => void events.push(event) });
  await send({ method: 'GET', path: path`/v1/license/`, repeat: 'safe' });

  expect(events.map(({ kind }) => kind)).toEqual(['request', 'slow', 'answer']);
});

test('each attempt waits for what its call does before it, and is not sent where that fails', async () => {
  const order: string[] = [];
  const server = createServer((_request, response) => {
    order.push('request');
    response.writeHead(order.length < 3 ? 503 : 200).end('[]');
  });
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const send = connect({ ...connectionTo(port), clock: sleptClock(), retries: 1 });
  const call = { method: 'GET', path: path`/v1/license/`, repeat: 'safe' } as const;

  const { waited } = await send({ ...call, before: async () => void order.push('before') });
  expect(waited).toBeGreaterThan(0);
  expect(order).toEqual(['before', 'request', 'before', 'request']);

  const lost = new Failure('unavailable', 'the claim is lost');
  await expect(send({ ...call, before: () => Promise.reject(lost) })).rejects.toBe(lost);
  expect(order).toHaveLength(4);
});

test('a 429 of a request without credentials holds back no request of the account', async () => {
  const server = createServer((request, response) => {
    if (request.headers.authorization === undefined) response.writeHead(429, { 'retry-after': '86400' });
    response.end('[]');
  });
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = { ...connectionTo(port), clock: sleptClock(), gate: openGate(sleptClock()), retries: 1 };
  const call = { method: 'GET', path: path`/v1/x/`, repeat: 'safe' } as const;

  for (let attempt = 0; attempt < 2; attempt += 1)
    await expect(connect(connection)(call)).rejects.toMatchObject({
      message: 'the server asks to wait 1d1s before the next request (429)',
      details: { http: { status: 429 } },
    });
  const answer = await connect({ ...connection, authorization: new Secret('Token key-1') })(call);
  expect(answer.status).toBe(200);
});

// docs/apis.md, Retries.
test.each([
  ['a gateway gave up after a while are repeated one at a time, as their pauses are', 300, 1, false],
  ['a gateway gave up at once are repeated one at a time, after pauses side by side', 0, 1, true],
  ['had a connection that broke are repeated side by side', undefined, 4, true],
])('requests that %s', async (_what, until504, most, isPausedTogether) => {
  const seen = new Set<string>();
  const waiting: ServerResponse[] = [];
  let [together, paused, mostPaused] = [0, 0, 0];
  const server = createServer((request, response) => {
    const isRepeat = seen.has(request.url ?? '');
    seen.add(request.url ?? '');
    if (!isRepeat && until504 === undefined) request.socket.destroy();
    else if (!isRepeat) setTimeout(() => response.writeHead(504).end(), until504);
    else {
      waiting.push(response);
      together = Math.max(together, waiting.length);
      mostPaused = Math.max(mostPaused, paused);
      paused -= 1;
      // Long enough for another one, were it not waiting for its turn.
      if (waiting.length === most) setTimeout(() => waiting.splice(0).forEach((one) => one.end('[]')), 20);
    }
  });
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sleep = async (span: number): Promise<void> => void (paused += Number(span > 100));
  const send = connect({ ...connectionTo(port), clock: { ...realClock, random: () => 0.5, sleep }, retries: 1 });
  await Promise.all([1, 2, 3, 4].map((id) => send({ method: 'GET', path: path`/${id}/`, repeat: 'safe' })));
  expect([together, mostPaused > 1]).toEqual([most, isPausedTogether]);
});
