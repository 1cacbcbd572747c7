/** Items and how many they are: an array, or ones that are made anew each time they are gone through. */
export interface Rows<T> extends Iterable<T> {
  readonly length: number;
}

/** Each item as something else, made anew each time. */
export function mapped<T, U>(items: Iterable<T>, length: number, change: (item: T) => U): Rows<U> {
  const make = function* (): Generator<U> {
    for (const item of items) yield change(item);
  };
  return { length, [Symbol.iterator]: make };
}
