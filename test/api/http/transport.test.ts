import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { TimedOut } from '../../../src/api/http/broken.ts';
import { exchange, openDispatcher, type WireAnswer } from '../../../src/api/http/transport.ts';
import { realAlarm } from '../../../src/cli/clock.ts';
import { openOrigin } from '../../helpers/origin.ts';

async function client(port: number, signal: AbortSignal) {
  const dispatcher = await openDispatcher({ env: {}, caFile: undefined }, signal);
  const request = { method: 'GET', url: `http://127.0.0.1:${port}/`, headers: {}, body: undefined } as const;
  return (timeout = 5000): Promise<WireAnswer> =>
    exchange(dispatcher, { ...request, timeout, alarm: realAlarm, bodyLimits: { memory: 1000 }, signal });
}

test('a request that is done leaves nothing on the signal of the run', async () => {
  const { port } = await openOrigin();
  const { signal } = new AbortController();
  const ask = await client(port, signal);
  for (let count = 0; count < 3; count += 1) expect((await ask()).status).toBe(200);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a request without an answer ends in time, and leaves nothing either', async () => {
  const { port } = await openOrigin(() => undefined);
  const { signal } = new AbortController();
  await expect((await client(port, signal))(500)).rejects.toThrow(TimedOut);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each(['before', 'after'])('a run that ends %s a request is sent ends it with its reason', async (when) => {
  const { port, seen } = await openOrigin(() => undefined);
  const run = new AbortController();
  const ask = await client(port, run.signal);
  const reason = new Error('interrupted');
  if (when === 'before') run.abort(reason);
  const answer = ask();
  answer.catch(() => undefined);
  if (when === 'after') await expect.poll(() => seen.length).toBe(1);
  run.abort(reason);
  await expect(answer).rejects.toMatchObject(when === 'before' ? { cause: reason } : { message: reason.message });
  expect(seen).toHaveLength(when === 'before' ? 0 : 1);
});
