import type { Milliseconds } from '../core/duration.ts';
import { countBefore } from '../core/halving.ts';

/** How many calls are allowed in how long. */
interface Rule {
  readonly calls: number;
  readonly span: Milliseconds;
}

/** The outcome of a call. The numbers are those of the rule with the longest span, whichever rule refuses. */
interface Verdict {
  /** Seconds until the next call is allowed; undefined: this one is. */
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
    const longest = Math.max(...rules.map(({ span }) => span));
    past.splice(
      0,
      countBefore(past, (time) => time <= now - longest),
    );
    const within = ({ span }: Rule): number => past.length - countBefore(past, (time) => time <= now - span);
    // A rule refuses calls until the oldest of those that fill its window has left it.
    const waits = rules.map((rule) => {
      const first = past[past.length - rule.calls];
      return within(rule) < rule.calls || first === undefined ? 0 : first + rule.span - now;
    });
    const wait = Math.max(...waits);
    if (wait <= 0) past.push(now);
    const last = rules.reduce((one, other) => (other.span > one.span ? other : one));
    return {
      wait: wait > 0 ? wait / 1000 : undefined,
      limit: last.calls,
      remaining: Math.max(0, last.calls - within(last)),
      reset: Math.floor(((past.at(-1) ?? now) + last.span) / 1000),
    };
  };
  return Object.assign(count, { forget: (name: string) => void calls.delete(name) });
}
