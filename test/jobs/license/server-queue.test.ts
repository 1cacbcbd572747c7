import { expect, test } from 'vitest';
import { settleRequest } from '../../../src/jobs/license/server-queue.ts';
import { openQueue } from '../../../src/store/queue.ts';
import { sleptClock } from '../../helpers/clock.ts';

/** docs/exactly-once.md, A server has a queue. */

const settle = 5000;

/** How a POST that is never shown is settled where each lookup has so many requests without an answer. */
async function settled(silent: number) {
  const { elapsed, sleep } = sleptClock(1_000_000);
  const said = { note: () => undefined, warn: () => undefined };
  const queue = openQueue([], { by: 'own', settle, elapsed, sleep, ...said });
  let looks = 0;
  const look = async () => {
    looks += 1;
    if (looks > 100) throw new Error('the wait has no end');
    for (let request = 0; request < silent; request += 1) queue.unanswered();
  };
  await queue.pend();
  await settleRequest(queue, look, () => 'not shown', { settle, retries: 5, elapsed, sleep });
  return { looks, seconds: Math.round((elapsed() - 1_000_000) / 1000) };
}

test.each([
  [0, { looks: 6, seconds: 5 }],
  [1, { looks: 9, seconds: 45 }],
  [3, { looks: 11, seconds: 155 }],
])('a wait ends where each lookup has %i requests without an answer', async (silent, wait) => {
  expect(await settled(silent)).toEqual(wait);
});
