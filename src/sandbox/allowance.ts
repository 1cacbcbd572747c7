import type { Milliseconds } from '../core/duration.ts';

/** How many calls are allowed in how long. */
export interface Rule {
  readonly calls: number;
  readonly span: Milliseconds;
}

export interface Verdict {
  /** Seconds until the next call may come; undefined: this one may. */
  readonly wait: number | undefined;
  readonly limit: number;
  readonly remaining: number;
  /** UNIX seconds at which the whole allowance is back. */
  readonly reset: number;
}

/** Counts calls by name in sliding windows; a refused call costs nothing (facts page, 3.1). */
export type Allowance = (name: string, rules: readonly Rule[], now: Milliseconds) => Verdict;

export function createAllowance(): Allowance {
  const calls = new Map<string, Milliseconds[]>();
  return (name, rules, now) => {
    const longest = Math.max(...rules.map(({ span }) => span));
    const past = (calls.get(name) ?? []).filter((time) => time > now - longest);
    const wait = Math.max(...rules.map((rule) => waitFor(rule, past, now)));
    if (wait <= 0) past.push(now);
    calls.set(name, past);
    const windows = rules.map((rule) => ({ rule, left: rule.calls - within(rule, past, now) }));
    const strictest = windows.reduce((one, other) => (other.left < one.left ? other : one));
    return {
      wait: wait > 0 ? wait / 1000 : undefined,
      limit: strictest.rule.calls,
      remaining: Math.max(0, strictest.left),
      reset: Math.floor(((past.at(-1) ?? now) + strictest.rule.span) / 1000),
    };
  };
}

function waitFor({ calls, span }: Rule, past: readonly Milliseconds[], now: Milliseconds): Milliseconds {
  const recent = past.filter((time) => time > now - span);
  const oldestThatCounts = recent[recent.length - calls];
  return oldestThatCounts === undefined ? 0 : oldestThatCounts + span - now;
}

function within({ span }: Rule, past: readonly Milliseconds[], now: Milliseconds): number {
  return past.filter((time) => time > now - span).length;
}
