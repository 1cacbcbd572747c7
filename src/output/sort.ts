import { usage } from '../core/failure.ts';
import { periods } from '../core/moment.ts';
import { asObject, cellsOf } from './columns.ts';
import type { CountBy, Show } from './presentation.ts';

/** How a list is sorted: `--sort FIELD`, or `--sort=-FIELD` for the other way round. */
export function orderOf(text: string) {
  return text.startsWith('-') ? { field: text.slice(1), descending: true } : { field: text, descending: false };
}

/** `FIELD` or `FIELD:month`. @throws Failure usage for a period that is not one of ours */
export function countByOf(text: string): CountBy {
  const [, field = text, word] = /^(.+):(\w+)$/.exec(text) ?? [];
  const unit = periods.find((period) => period === word);
  if (word !== undefined && !unit) throw usage(`--count-by: '${word}' is not one of ${periods.join(', ')}`);
  return { field, unit };
}

/** Sorts a whole list as `compare` does; a failure is thrown after the rows that came before it. */
export async function* inOrder<T>(
  rows: AsyncIterable<T>,
  { field, descending }: ReturnType<typeof orderOf>,
  show: Show<T>,
) {
  const all: { readonly row: T; readonly value: unknown }[] = [];
  const read = async (): Promise<void> => {
    for await (const row of rows) all.push({ row, value: asObject(row) ? cellsOf(row, [field], show)[0] : row });
  };
  const [reading] = await Promise.allSettled([read()]);
  all.sort((one, other) => compare(one.value, other.value, descending ? -1 : 1));
  for (const { row } of all) yield row;
  if (reading.status === 'rejected') throw reading.reason;
}

/** Numbers by their size and before texts, texts by their characters, no value last. */
export function compare(one: unknown, other: unknown, direction: 1 | -1): number {
  const ranks = rankOf(one) - rankOf(other);
  if (rankOf(one) === absent || rankOf(other) === absent) return ranks;
  if (ranks !== 0) return ranks * direction;
  const [left, right] = [comparable(one), comparable(other)];
  if (left === right) return 0;
  return (left < right ? -1 : 1) * direction;
}

const absent = 2;

function rankOf(value: unknown): number {
  if (value === undefined || value === null) return absent;
  return isNumber(value) ? 0 : 1;
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function comparable(value: unknown): number | bigint | string {
  return isNumber(value) || typeof value === 'string' ? value : JSON.stringify(value);
}
