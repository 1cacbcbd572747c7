import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { realAlarm, realClock } from '../../src/cli/clock.ts';

const day = 86_400_000;

describe('spans that a timer of Node cannot hold', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test.each([1, 5, 24 * day, 25 * day, 100 * day])('an alarm of %d ms rings when it is over, and once', (span) => {
    const ring = vi.fn();
    realAlarm(span, ring);
    vi.advanceTimersByTime(Math.max(0, span - 1));
    expect(ring).toHaveBeenCalledTimes(0);
    vi.advanceTimersByTime(1);
    expect(ring).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(100 * day);
    expect(ring).toHaveBeenCalledTimes(1);
  });

  test.each([1, 30])('an alarm that is cancelled on day %d does not ring', (days) => {
    const ring = vi.fn();
    const cancel = realAlarm(60 * day, ring);
    vi.advanceTimersByTime(days * day);
    cancel();
    vi.advanceTimersByTime(100 * day);
    expect(ring).toHaveBeenCalledTimes(0);
  });

  test('a sleep of 25 days takes 25 days', async () => {
    let isOver = false;
    const sleep = realClock.sleep(25 * day).then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(25 * day - 1);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await sleep;
    expect(isOver).toBe(true);
  });
});

test.each(['before', 'while'])('a signal that aborts %s sleeping ends the sleep with its reason', async (when) => {
  const controller = new AbortController();
  const reason = new Error('interrupted');
  if (when === 'before') controller.abort(reason);
  const sleep = realClock.sleep(60_000, controller.signal);
  controller.abort(reason);
  await expect(sleep).rejects.toBe(reason);
});

test('a sleep that is over leaves no listener on the signal', async () => {
  const { signal } = new AbortController();
  await realClock.sleep(1, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
