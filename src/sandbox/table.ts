/** One change of one row, as it stands in the log; `value: null` takes the row away. */
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
  const rows = new Map<K, T>();
  let sorted: readonly T[] | undefined;
  const play = (key: K, value: unknown) => {
    sorted = undefined;
    if (value === null) rows.delete(key);
    else rows.set(key, value as T);
  };
  const change = (key: K, value: unknown) => {
    note({ table: name, key, value }, rows.get(key) ?? null);
    play(key, value);
  };
  return {
    get: (key) => rows.get(key),
    put: change,
    remove: (key) => change(key, null),
    rows: () => (sorted ??= inOrder(rows)),
    play,
    clear: () => {
      sorted = undefined;
      rows.clear();
    },
  };
}

function inOrder<K extends string | number, T>(rows: ReadonlyMap<K, T>): T[] {
  const entries = [...rows];
  if (typeof entries[0]?.[0] === 'number') entries.sort(([one], [other]) => Number(one) - Number(other));
  return entries.map(([, row]) => row);
}
