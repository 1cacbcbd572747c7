/** Chance that a seed decides. */
export interface Chance {
  /** Uniform in [0, 1). */
  next(): number;
  /** An integer from 0 to `bound` - 1. */
  below(bound: number): number;
  pick<T>(list: readonly T[]): T;
  happens(probability: number): boolean;
}

/** The same seed gives the same numbers (mulberry32). */
export function chanceOf(seed: number): Chance {
  let state = Math.imul(seed ^ 0x9e37_79b9, 0x85eb_ca6b) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    happens: (probability) => next() < probability,
    // The list has something to pick.
    pick: (list) => list[below(list.length)] as (typeof list)[number],
  };
}
