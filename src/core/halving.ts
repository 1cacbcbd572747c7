/** How many items come before the first that is not `before`, by halving: all that are `before` precede the others. */
export function countBefore<T>(items: readonly T[], before: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item !== undefined && before(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
