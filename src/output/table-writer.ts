import type { TableValue } from './table-values.ts';

/** One way to draw the rows of a table, once its first rows are known. */
export interface TableWriter {
  /** The header, if there is one, and the first rows. */
  first(rows: readonly (readonly TableValue[])[]): string;
  /** One row more. */
  next(row: readonly TableValue[]): string;
  /** Which columns were left out. */
  remark(): string | undefined;
}
