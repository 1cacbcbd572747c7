import { test } from 'vitest';

/**
 * Whether products of faults, commands and answers are tried whole (`npm run test:all`), or by a sample in which the
 * seed decides what meets what, and everything is met: `TEST_SEED=7 npm test` draws another one.
 */
export const isWhole = process.env['TEST_EXTENT'] === 'all';

export const seed = Number(process.env['TEST_SEED'] ?? 1);

/** Of what a case is tried with, the one whose turn it is: neighbours meet different ones. Whole products try each. */
export function onesFor<T>(turn: number, items: readonly T[]): readonly T[] {
  return isWhole ? items : items.filter((_item, at) => at === (turn + seed) % items.length);
}

/** So many rows of a table that says one thing in many shapes; the seed decides which. Whole products have each. */
export function sampleOf<T>(count: number, rows: readonly T[]): readonly T[] {
  return isWhole ? rows : rows.filter((_row, at) => ((at + seed) * count) % rows.length < count);
}

/** A test that `npm run test:all` alone has; docs/internals/testing.md gives the reason (What only `test:all` runs). */
export const testOfAll = test.each(isWhole ? [[]] : []);
