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
