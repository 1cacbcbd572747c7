import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { nextTurn } from '../../src/core/outside.ts';
import { exchange } from '../../src/api/http/transport.ts';
import { realAlarm } from '../../src/cli/clock.ts';

beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterAll(() => void vi.useRealTimers());

const refused = ['HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n'];

test.each([
  [
    'a server',
    (port: number) => [`http://127.0.0.1:${port}/`, {}] as const,
    ['HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n', '1'],
    { status: 200 },
  ],
  ['a handshake', (port: number) => [`https://127.0.0.1:${port}/`, {}] as const, refused, { reason: 'no TLS' }],
  [
    'a proxy',
    (port: number) => ['https://licenses.test/', { HTTPS_PROXY: `http://127.0.0.1:${port}` }] as const,
    refused,
    { reason: 'proxy asks for a password' },
  ],
])('%s may take longer than the time limits of undici', async (_what, placeAt, said, expected) => {
  const heard: Socket[] = [];
  const server = createServer((socket) => socket.once('data', () => heard.push(socket)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const [url, env] = placeAt((server.address() as AddressInfo).port);
  const surroundings = { env, caFile: undefined };
  const { signal } = new AbortController();
  const connection = { dispatcher: undefined, surroundings, alarm: realAlarm, signal, bodyLimit: 1000 };
  const request = { method: 'GET', url, shown: url, headers: {}, body: undefined, shownBody: undefined } as const;
  let begun = 0;
  const take = async (_headers: unknown, body: AsyncIterable<Uint8Array>): Promise<void> => {
    begun += 1;
    for await (const _ of body);
  };

  const download = { maxBytes: 1, take };
  const answer = exchange(connection, request, url, { download }, 1_000_000).catch((cause: unknown) => cause);
  for (const [at, part] of said.entries()) {
    await expect.poll(() => heard.length + begun).toBe(1 + at);
    vi.advanceTimersByTime(400_000);
    // undici ends a connection in the turn after its time limit.
    for (let turns = 0; turns < 3; turns += 1) await nextTurn();
    heard[0]?.write(part);
  }

  expect(await answer).toMatchObject(expected);
  heard[0]?.destroy();
});
