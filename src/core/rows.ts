/** Items and how many they are: an array, or ones that are made anew each time they are gone through. */
export interface Rows<T> extends Iterable<T> {
  readonly length: number;
}

/** Items that are made anew each time they are gone through, so that many of them take no memory. */
export function anew<T>(make: () => Iterator<T>): Iterable<T> {
  return { [Symbol.iterator]: make };
}

/** Each item as something else, made anew each time. */
export function mapped<T, U>(items: Iterable<T>, length: number, change: (item: T) => U): Rows<U> {
  const make = function* (): Generator<U> {
    for (const item of items) yield change(item);
  };
  return { length, [Symbol.iterator]: make };
}
