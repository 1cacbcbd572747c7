import { setImmediate } from 'node:timers/promises';
import { realAlarm, realClock } from '../../src/cli/clock.ts';
import { abortReason } from '../../src/core/failure.ts';
import type { Alarm, Clock } from '../../src/core/system.ts';

/** Every clock of the tests. Chance is the same in every run. */

/** Real time; chance is always the middle. */
export const realTime: Clock = { ...realClock, random: () => 0.5 };

/**
 * Real time that shows three seconds more each time: to a client that sleeps no real time, two answers of one second
 * are one of a cache.
 */
export function hurriedTime(): Clock {
  let shown = 0;
  return { ...realTime, now: () => realTime.now() + 3000 * shown++ };
}

/** A time that never passes: every sleep is over at once. */
export function fixedClock(time: number): Clock {
  return { now: () => time, elapsed: () => time, random: () => 0.5, sleep: () => Promise.resolve() };
}

export interface SleptClock extends Clock {
  /** Every span that was slept, in milliseconds. */
  readonly slept: readonly number[];
  /** Lets time pass that nobody sleeps. */
  pass(span: number): void;
}

/** Sleeping takes no time, and the clock shows what was slept. */
export function sleptClock(begin = 0): SleptClock {
  const slept: number[] = [];
  let time = begin;
  return {
    slept,
    now: () => time,
    elapsed: () => time,
    random: sequence(),
    pass: (span) => void (time += span),
    async sleep(span, signal) {
      await setImmediate();
      if (signal?.aborted) throw abortReason(signal);
      slept.push(span);
      time += span;
    },
  };
}

export interface MovedClock extends Clock {
  /** Lets time pass; sleepers whose time has come wake. */
  advance(span: number): void;
  readonly sleeping: () => number;
}

/** A clock that only a test moves. */
export function movedClock(begin = Date.parse('2026-03-16T09:00:00Z')): MovedClock {
  const sleepers = new Set<{ until: number; wake: () => void }>();
  let time = begin;
  return {
    now: () => time,
    elapsed: () => time,
    random: () => 0.5,
    sleeping: () => sleepers.size,
    sleep: (span, signal) =>
      new Promise((resolve, reject) => {
        const give = () => {
          sleepers.delete(sleeper);
          reject(abortReason(signal));
        };
        const wake = () => {
          signal?.removeEventListener('abort', give);
          resolve();
        };
        const sleeper = { until: time + span, wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', give);
      }),
    advance(span) {
      time += span;
      for (const sleeper of [...sleepers].filter(({ until }) => until <= time)) {
        sleepers.delete(sleeper);
        sleeper.wake();
      }
    },
  };
}

/**
 * One time for client and sandbox: what the client sleeps passes for the sandbox too, so that a late commit comes when
 * it is due.
 */
export interface LinkedClocks {
  readonly client: Clock;
  readonly sandbox: Clock;
  /** Every span that the client slept. */
  readonly slept: readonly number[];
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/**
 * Spans of the sandbox up to this are latency and trickle: they pass at once, since nobody who waits for them sleeps.
 */
const atOnce = 200;

export function linkedClocks(begin = Date.UTC(2026, 2, 1, 12)): LinkedClocks {
  let time = begin;
  let sleepers: readonly Sleeper[] = [];
  const slept: number[] = [];
  const wakeUntil = async (target: number): Promise<void> => {
    const due = sleepers.filter((sleeper) => sleeper.due <= target).toSorted((one, other) => one.due - other.due);
    for (const sleeper of due) {
      sleepers = sleepers.filter((other) => other !== sleeper);
      time = Math.max(time, sleeper.due);
      sleeper.wake();
      for (let turns = 0; turns < 3; turns += 1) await setImmediate();
    }
  };
  return {
    slept,
    client: {
      now: () => time,
      elapsed: () => time,
      random: sequence(),
      async sleep(span, signal) {
        const target = time + span;
        await setImmediate();
        if (signal?.aborted) throw abortReason(signal);
        slept.push(span);
        await wakeUntil(target);
        time = Math.max(time, target);
      },
    },
    sandbox: {
      now: () => time,
      elapsed: () => time,
      random: () => 0.5,
      async sleep(span, signal) {
        if (span <= atOnce) {
          await setImmediate();
          return;
        }
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            signal?.removeEventListener('abort', wake);
            resolve();
          };
          sleepers = [...sleepers, { due: time + span, wake }];
          signal?.addEventListener('abort', wake);
        });
      },
    },
  };
}

/** Alarms of that span ring when a test says so, all others in real time. */
export function alarmByHand(span: number): { readonly alarm: Alarm; readonly ring: () => undefined } {
  const set = new Set<() => void>();
  return {
    alarm: (given, ring) => {
      if (given !== span) return realAlarm(given, ring);
      set.add(ring);
      return () => void set.delete(ring);
    },
    ring: () => {
      for (const each of set) each();
      return undefined;
    },
  };
}

/** Numbers in [0, 1), the same in every run. */
function sequence(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
