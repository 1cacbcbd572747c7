import type { JsonElement } from '../core/json-elements.ts';
import type { Period } from '../core/moment.ts';

/**
 * How the rows of a command look; the machine formats print the value itself (docs/internals/architecture.md, Output).
 */
export interface Show<T> {
  /** Columns of table, csv and tsv; absent: the scalar keys of the first row. */
  readonly columns?: readonly Column<T>[];
  /** The object that formats print and columns are read from, where the row holds more; absent: the row itself. */
  readonly data?: (row: T) => unknown;
  /** Other scalar keys of the first row follow. `any`: those that no column shows; `kept`: those that `run` checks. */
  readonly others?: 'known' | 'kept' | 'any';
  /** The words on stderr for an empty list, unless the format says it. */
  readonly none?: string;
  readonly line?: (row: T) => string;
  /** The one thing that `-q` prints, one line a row, unless the format prints whole values. */
  readonly quiet?: (row: T) => string;
  /** The one text that is printed in place of columns, with `-q` or without, unless the format prints whole values. */
  readonly text?: (row: T) => string;
  readonly outcome?: Outcome<T>;
}

/** The outcome of each row, for readers who must not see keys: a plan, or a comment in Markdown. */
interface Outcome<T> {
  /** The changes of a row of a dry run, which a terminal shows as the command's question would. */
  readonly plan?: (row: T) => readonly PlannedChange[];
  /** The field that has the outcome. */
  readonly by?: string;
  /** The outcome of a row that need not be shown. */
  readonly nothing?: string;
  /** The fields of the other rows that everybody may see, in their order. */
  readonly columns?: readonly string[];
}

export interface PlannedChange {
  readonly kind: 'failed' | 'leave' | 'retire' | 'smaller' | 'larger' | 'rename' | 'put back' | 'create';
  /** Both sizes, of a license that is resized: they replace the word for its kind. */
  readonly sizes?: string | undefined;
  readonly user: string;
  readonly becomes?: string | undefined;
  /** Named where a plan is about several applications. */
  readonly app_code?: number | undefined;
}

/** A column under its wire name: the name alone, or with rules. */
export type Column<T> = string | ColumnRules<T>;

export interface ColumnRules<T> {
  readonly name: string;
  /** The value, where that is not the row's own key of that name; undefined leaves it to the row. */
  readonly of?: (row: T) => unknown;
  /**
   * Absent: the column is always shown. `there`: behind the others, if the row has it; `asked`: only if --fields names
   * it; `for programs`: as `there`, but on a terminal below the table, not in it.
   */
  readonly when?: 'there' | 'asked' | 'for programs';
  /** The column is left out before it gets narrower than this (default: 10); with Infinity it is never cut. */
  readonly width?: number;
  /**
   * The lowest number is left out first where room is small (default: 0), and of two the one further right. `whole`:
   * the column is never truncated, and left out last, as a key, a user, a name, an address.
   */
  readonly keep?: number | 'whole';
  /** Seconds since 1970 shown as a date; the content of a message shown as plain text. */
  readonly as?: 'seconds' | 'message';
  readonly empty?: string;
  /** The value is words for people: csv and tsv that request the column by name have the row's own value. */
  readonly isWords?: boolean;
  /** A table shows the column behind all others: people look for a user, and copy a key. */
  readonly isLast?: boolean;
}

/** The field that rows are counted by, or the day, week, month or year of its time. */
export interface CountBy {
  readonly field: string;
  readonly unit: Period | undefined;
}

/** How one result is printed: what the command says of its rows, what the user chose, and what standard output is. */
export interface Presentation {
  readonly show: Show<unknown>;
  readonly format: FormatRow;
  /** The rows are pieces of a text, which is written unchanged in place of any format. */
  readonly isText?: boolean;
  /** The rows are outcomes of writes: if the reader is gone, only the output ends; an error waits for the work. */
  readonly isWrite?: boolean;
  /** One text for each row, on a line of its own, in place of any format. */
  readonly sentence?: ((row: unknown) => string) | undefined;
  readonly filter?: JsonFilter | undefined;
  /** Columns, or keys of JSON objects, that were requested by name. */
  readonly fields: readonly string[] | undefined;
  /** The field that a list is sorted by, after a dash for the other way round. */
  readonly sort?: string | undefined;
  readonly countBy?: CountBy | undefined;
  readonly header: boolean;
  readonly quiet?: boolean;
  readonly color: boolean;
  readonly terminal: boolean;
  /** Columns of the terminal; 0 where unknown. */
  readonly width: number;
  /** Lines of the command below its result; whole once its rows have ended. */
  readonly conclusions?: readonly string[];
  /** The words for an empty list, to stderr. */
  readonly say?: ((line: string) => void) | undefined;
  /** One line below all others, such as which columns were left out. */
  readonly aside?: ((line: string) => void) | undefined;
  /** What follows a local time: `Z` where the zone of the user is not known. */
  readonly zoneMark?: (() => string) | undefined;
  /** Called between rows that take long to render, so that signals and the deadline are seen. @throws their reason */
  readonly turn?: (() => Promise<void> | undefined) | undefined;
}

export interface FormatRow {
  /** Every command has the format. Absent: only some offer it, and others ignore it in the environment. */
  readonly general?: true;
  /** The format prints whole values: -q, and commands that print one text, do not change it. */
  readonly whole?: true;
  /** The format is read by people: with -q it omits rows that need no attention. */
  readonly forPeople?: true;
  /** The format shows the changes of a dry run, and nothing else. */
  readonly ofPlan?: true;
  /** The things that the format shows, where these have no fields to choose from. */
  readonly shows?: string;
  /** With this format, errors and addresses are JSON too. */
  readonly isJson?: true;
  /** Loads the formatter; absent for documents and lines of curl, which are made of text. */
  readonly load?: (presentation: Presentation) => Promise<Formatter>;
}

/** Writes one result: text for one value, or for rows as they come. A formatter serves one result. */
export interface Formatter {
  one(value: unknown): string;
  /** The text of the next row of a list, with the text before the first. */
  row(row: unknown): string;
  /** The bytes of rows that are JSON texts; absent where they must be parsed. */
  texts?(texts: readonly JsonElement[]): Uint8Array;
  /** The text behind the last row, which makes the document whole, also where the rows end by throwing. */
  end(): string;
  /** A line beside the result, once that has ended. */
  remark?(): string | undefined;
}

/** Turns the text of a JSON document into the text that is written. @throws Failure rejected where it does not apply */
export type JsonFilter = (json: string) => Promise<string>;
