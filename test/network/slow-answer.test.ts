import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { exchange } from '../../src/api/http/transport.ts';
import { realAlarm } from '../../src/cli/clock.ts';

beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterAll(() => void vi.useRealTimers());

test.each([
  ['a server', (port: number) => [`http://127.0.0.1:${port}/`, {}] as const, '200 OK', { status: 200 }],
  [
    'a proxy',
    (port: number) => ['https://licenses.test/', { HTTPS_PROXY: `http://127.0.0.1:${port}` }] as const,
    '407 No',
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

  const answer = exchange(connection, request, url, {}, 1_000_000).catch((cause: unknown) => cause);
  await expect.poll(() => heard.length).toBe(1);
  vi.advanceTimersByTime(400_000);
  heard[0]?.end(`HTTP/1.1 ${said}\r\ncontent-length: 0\r\n\r\n`);

  expect(await answer).toMatchObject(expected);
});
