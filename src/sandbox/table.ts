/** One change of one row, as it is in the log; `value: null` takes the row away. */
export interface Change {
  readonly table: string;
  readonly key: string | number;
  readonly value: unknown;
}

/** Rows under a key, in the order of their keys where these are numbers, else in the order of their arrival. */
export interface Table<K extends string | number, T> {
  get(key: K): T | undefined;
  put(key: K, value: T): void;
  remove(key: K): void;
  /** All rows; the same array until something changes. */
  rows(): readonly T[];
  /** Puts or removes (null) without noting the change. */
  play(key: K, value: unknown): void;
  /** Removes all rows without noting it. */
  clear(): void;
}

export function createTable<K extends string | number, T>(
  name: string,
  note: (change: Change, before: unknown) => void,
): Table<K, T> {
  let rows = new Map<K, T>();
  let greatest = -Infinity;
  /** Keys arrived in ascending order, so that a million rows need no sorting after each change. */
  let isSorted = true;
  let sorted: readonly T[] | undefined;
  const play = (key: K, value: unknown) => {
    sorted = undefined;
    if (value === null) {
      rows.delete(key);
      return;
    }
    if (typeof key === 'number' && !rows.has(key)) {
      isSorted &&= key > greatest;
      greatest = Math.max(greatest, key);
    }
    rows.set(key, value as T);
  };
  const change = (key: K, value: unknown) => {
    note({ table: name, key, value }, rows.get(key) ?? null);
    play(key, value);
  };
  const sort = () => {
    if (isSorted) return;
    rows = new Map([...rows].sort(([one], [other]) => Number(one) - Number(other)));
    isSorted = true;
  };
  return {
    get: (key) => rows.get(key),
    put: change,
    remove: (key) => change(key, null),
    rows: () => {
      sort();
      return (sorted ??= [...rows.values()]);
    },
    play,
    clear: () => {
      sorted = undefined;
      greatest = -Infinity;
      isSorted = true;
      rows.clear();
    },
  };
}
