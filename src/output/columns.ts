import { isObject, type JsonObject, writeJson } from '../core/json.ts';
import type { Column, ColumnRules, Presentation, Show } from './presentation.ts';

/** A row as an object of JSON; undefined where it is a scalar or a list. */
export function asObject<T>(value: T, show?: Show<T>): JsonObject | undefined {
  const row = show?.data ? show.data(value) : value;
  return isObject(row) ? row : undefined;
}

/** Columns that a terminal never truncates. */
export function whole(...names: readonly string[]) {
  return names.map((name) => ({ name, keep: 'whole' }) as const);
}

/** Columns that are never truncated, but are left out where room is small. */
export function uncut(...names: readonly string[]) {
  return names.map((name) => ({ name, width: Infinity }) as const);
}

/** The names of the columns that every row has. */
export function namesOf({ columns = [] }: { readonly columns?: readonly Column<never>[] }): readonly string[] {
  return columns.flatMap((column) => (typeof column === 'string' ? column : column.when ? [] : column.name));
}

/** True if the rows are messages, which can be shown as a conversation. */
export function showsMessages({ columns = [] }: Pick<Show<never>, 'columns'> = {}): boolean {
  return columns.some((column) => typeof column !== 'string' && column.as === 'message');
}

export function rulesOf<T>(show: Show<T> | undefined, name: string): ColumnRules<T> | undefined {
  for (const column of show?.columns ?? []) if (typeof column !== 'string' && column.name === name) return column;
  return undefined;
}

/** The columns of a list, decided by its first row: requested ones, else the command's and the row's other scalars. */
export function columnsOf(first: unknown, { show, fields }: Pick<Presentation, 'show' | 'fields'>): readonly string[] {
  const row = asObject(first, show);
  if (!row) return [];
  if (fields) return fields;
  const named = namesOf(show);
  if (named.length > 0 && !show.others) return named;
  const made = show.others === 'any' ? named.filter((name) => rulesOf(show, name)?.of) : [];
  const shown = new Set(cellsOf(first, made, show));
  const keys = Object.keys(row).filter(
    (key) => !named.includes(key) && rulesOf(show, key)?.when !== 'asked' && !shown.has(String(row[key])),
  );
  const scalars = keys.filter((key) => typeof row[key] !== 'object' || row[key] === null);
  const columns = [...named, ...scalars];
  return columns.length > 0 ? columns : keys;
}

/** A row's values in the order of the columns; a row that is no object is one value. */
export function cellsOf<T>(row: T, columns: readonly string[], show: Show<T> | undefined): readonly unknown[] {
  const object = asObject(row, show);
  if (!object) return [row];
  return columns.map((column) => {
    const value = rulesOf(show, column)?.of?.(row);
    // A column named `constructor` is not the member that every object inherits.
    return value === undefined && Object.hasOwn(object, column) ? object[column] : value;
  });
}

/** Makes a writer of one value write nothing where there is no result. */
export function unlessNothing(write: (value: unknown) => string) {
  return (value: unknown): string => (value === undefined || value === null ? '' : write(value));
}

/** A value as the text of a cell: nothing for null, a nested value as compact JSON. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return writeJson(value);
}

/** Collects the names whose texts differ between rows, or are missing in some. */
export function watchDiffering() {
  const first = new Map<string, string>();
  const differing = new Set<string>();
  let rows = 0;
  return {
    differing,
    see(texts: readonly (readonly [name: string, text: string])[]): void {
      rows += 1;
      for (const [name, text] of texts)
        if (rows === 1) first.set(name, text);
        else if (first.get(name) !== text) differing.add(name);
      for (const name of first.keys()) if (!texts.some(([one]) => one === name)) differing.add(name);
    },
  };
}
