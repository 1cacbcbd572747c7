import { isObject, type JsonObject, writeJson } from '../core/json.ts';
import type { Presentation, Show } from './presentation.ts';

/** A row as an object of JSON; undefined where it is a scalar or a list. */
export function asObject<T>(value: T, show?: Show<T>): JsonObject | undefined {
  const row = show?.data ? show.data(value) : value;
  return isObject(row) ? row : undefined;
}

/** The columns of a list, decided by its first row: those asked for, else the command's and the row's other scalars. */
export function columnsOf(first: unknown, { show, fields }: Pick<Presentation, 'show' | 'fields'>): readonly string[] {
  const row = asObject(first, show);
  if (!row) return [];
  if (fields) return fields;
  const named = show.columns ?? [];
  if (show.columns && !show.others) return named;
  const shown = new Set([...named, ...(show.consumed?.(first) ?? [])]);
  const keys = Object.keys(row).filter((key) => !shown.has(key));
  const scalars = keys.filter((key) => typeof row[key] !== 'object' || row[key] === null);
  const columns = [...named, ...scalars];
  return columns.length > 0 ? columns : keys;
}

/** A row's values in the order of the columns; a row that is no object is one value. */
export function cellsOf<T>(row: T, columns: readonly string[], show: Show<T> | undefined): readonly unknown[] {
  const object = asObject(row, show);
  if (!object) return [row];
  return columns.map((column) => {
    const value = show?.cell?.(row, column);
    // A column named `constructor` is not the member that every object inherits.
    return value === undefined && Object.hasOwn(object, column) ? object[column] : value;
  });
}

/** A value as the text of a cell: nothing for null, a nested value as compact JSON. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return writeJson(value);
}
