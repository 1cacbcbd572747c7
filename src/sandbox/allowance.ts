import type { Milliseconds } from '../core/duration.ts';

/** How many calls are allowed in how long. */
interface Rule {
  readonly calls: number;
  readonly span: Milliseconds;
}

interface Verdict {
  /** Seconds until the next call may come; undefined: this one may. */
  readonly wait: number | undefined;
  readonly limit: number;
  readonly remaining: number;
  /** UNIX seconds at which the whole allowance is back. */
  readonly reset: number;
}

/** Counts calls by name in sliding windows; a refused call costs nothing (docs/apis.md, Rate limits). */
export interface Allowance {
  (name: string, rules: readonly Rule[], now: Milliseconds): Verdict;
  /** Gives the whole allowance of that name back. */
  forget(name: string): void;
}

export function createAllowance(): Allowance {
  const calls = new Map<string, Milliseconds[]>();
  const count = (name: string, rules: readonly Rule[], now: Milliseconds): Verdict => {
    const past = calls.get(name) ?? [];
    calls.set(name, past);
    past.splice(0, countUpTo(past, now - Math.max(...rules.map(({ span }) => span))));
    const wait = Math.max(...rules.map((rule) => waitFor(rule, past, now)));
    if (wait <= 0) past.push(now);
    const windows = rules.map((rule) => ({ rule, left: rule.calls - within(rule, past, now) }));
    const strictest = windows.reduce((one, other) => (other.left < one.left ? other : one));
    return {
      wait: wait > 0 ? wait / 1000 : undefined,
      limit: strictest.rule.calls,
      remaining: Math.max(0, strictest.left),
      reset: Math.floor(((past.at(-1) ?? now) + strictest.rule.span) / 1000),
    };
  };
  return Object.assign(count, { forget: (name: string) => void calls.delete(name) });
}

/** Until the oldest of the calls that fill the window has left it. */
function waitFor(rule: Rule, past: readonly Milliseconds[], now: Milliseconds): Milliseconds {
  const first = past[past.length - rule.calls];
  return within(rule, past, now) < rule.calls || first === undefined ? 0 : first + rule.span - now;
}

function within({ span }: Rule, past: readonly Milliseconds[], now: Milliseconds): number {
  return past.length - countUpTo(past, now - span);
}

/** How many of the ascending times are at or before `time`. */
function countUpTo(past: readonly Milliseconds[], time: Milliseconds): number {
  let [low, high] = [0, past.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((past[middle] ?? Infinity) > time) high = middle;
    else low = middle + 1;
  }
  return low;
}
