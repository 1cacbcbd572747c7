import { cellsOf, columnsOf } from './columns.ts';
import type { Form } from './form.ts';
import type { Look, Show } from './show.ts';

/** A form of one record a row below a header: what csv and tsv share. A list without rows still shows a header that is known. */
export function records(
  show: Show<unknown> | undefined,
  look: Look,
  write: (cells: readonly unknown[]) => string,
): Form {
  let columns: readonly string[] | undefined;
  const header = (names: readonly string[]): string => (look.header && names.length > 0 ? write(names) : '');
  const row = (value: unknown): string => {
    if (columns) return write(cellsOf(value, columns, show));
    columns = columnsOf(value, show, look.fields);
    return header(columns) + write(cellsOf(value, columns, show));
  };
  return {
    one: (value) => (value === undefined || value === null ? '' : row(value)),
    row,
    end: () => (columns ? '' : header(look.fields ?? show?.columns ?? [])),
  };
}
