import type { PageSize } from './list-page.ts';

/** Adds up the pages of a list; the first page begins another reading of it. */
export function measureList() {
  let [count, total] = [0, 0];
  /** The lengths of the first and the last page, and whether all between are as long as the first. */
  let [first, last, isEven] = [0, 0, true];
  return {
    heard(page: PageSize, place: number): void {
      const own = page.count;
      [count, total] = place === 1 ? [own, page.total] : [count + own, Math.max(total, page.total)];
      [first, isEven] = place === 1 ? [own, true] : [first, isEven && last === first];
      last = own;
    },
    isCounted: () => total > 0 && total === count,
    /** Nothing can be missing: a total says so, or it is empty. */
    isWhole: () => total === count,
    /** Whether a page told of more licenses, none of which can be deleted: rows moved between the pages. */
    lacksRows: () => total > count,
    /** Without a total only full pages before the last show that nothing is missing. */
    mayBeCut: () => total === 0 && count > 0 && !(count > first && isEven && last <= first),
  };
}
