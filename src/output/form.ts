import type { JsonElement } from '../core/json-elements.ts';

/** One way to write a result: text for one value, or for rows as they come. A form serves one result. */
export interface Form {
  /** A result that is no list. */
  one(value: unknown): string;
  /** What the next row of a list adds, with what is before the first. */
  row(row: unknown): string;
  /** What the next rows add where they are JSON texts already, valid until the next call; absent where a form cannot take them as they are. */
  texts?(texts: readonly JsonElement[]): Uint8Array;
  /** What is left to write when the rows end, also by throwing: with it the document is whole. */
  end(): string;
  /** What the reader must know beside the result, when it ends; undefined where there is nothing. */
  remark?(): string | undefined;
}
