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
  /** Other scalar keys of the first row follow; of `any` those that no column shows; `run` checks the `kept` ones. */
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

/** The end of each row, for readers who must not see keys: a comment in Markdown. */
interface Outcome<T> {
  /** The changes of a row of a dry run, which a terminal shows as the command's question would. */
  readonly plan?: (row: T) => readonly PlannedChange[];
  /** The field that says it. */
  readonly by?: string;
  /** Its value for a row in which there is nothing to see. */
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

/** A column under its wire name; a name alone says nothing more of it. */
export type Column<T> = string | ColumnRules<T>;

export interface ColumnRules<T> {
  readonly name: string;
  /** Its value, where that is not the row's own key of that name; undefined leaves it to the row. */
  readonly of?: (row: T) => unknown;
  /**
   * Absent: always a column. `there`: where the row has it, behind those; `asked`: only by its name in --fields;
   * `for programs`: as `there`, but not in a table on a terminal, below which it is said whole.
   */
  readonly when?: 'there' | 'asked' | 'for programs';
  /** Narrower, it is not worth reading and goes (default: 10); of Infinity it is never cut. */
  readonly width?: number;
  /**
   * The lowest goes first where room is small (default: 0); of two, the one further right. `whole` is never truncated,
   * and goes last: a key, a user, a name, an address.
   */
  readonly keep?: number | 'whole';
  /** Seconds since 1970 shown as a date; the content of a message shown as plain text. */
  readonly as?: 'seconds' | 'message';
  readonly empty?: string;
  /** Its value is words for people: where csv or tsv request it by name, they have what the row has. */
  readonly isWords?: boolean;
  /** A table shows it behind all others: people look for a user, and copy a key. */
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
  /** The rows are outcomes: a reader that has gone ends the output, and not the work; an error waits for the work. */
  readonly isWrite?: boolean;
  /** One text for each row, on a line of its own, in place of any format. */
  readonly sentence?: ((row: unknown) => string) | undefined;
  readonly filter?: JsonFilter | undefined;
  /** Columns, or keys of JSON objects, that were asked for by name. */
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
  /** Every result has it. Absent: a command offers it, and set in the environment it is ignored by every other one. */
  readonly general?: true;
  /** It prints whole values: -q, and commands that print one text, leave it alone. */
  readonly whole?: true;
  /** It is read by a person, who needs no more rows than are worth a look. */
  readonly forPeople?: true;
  /** It shows the changes of a dry run, and nothing else. */
  readonly ofPlan?: true;
  /** The thing that it shows, where that has no fields to choose from. */
  readonly shows?: string;
  /** Errors and addresses are JSON beside it. */
  readonly isJson?: true;
  /** Loads what writes rows in it; absent for documents and lines of curl, which are made of text. */
  readonly load?: (presentation: Presentation) => Promise<Formatter>;
}

/** Writes one result: text for one value, or for rows as they come. A formatter serves one result. */
export interface Formatter {
  one(value: unknown): string;
  /** The text of the next row of a list, with the text before the first. */
  row(row: unknown): string;
  /** The bytes of rows that are JSON texts; absent where they must be parsed. */
  texts?(texts: readonly JsonElement[]): Uint8Array;
  /** The rest when the rows end, also by throwing: with it the document is whole. */
  end(): string;
  /** A line beside the result, when it ends. */
  remark?(): string | undefined;
}

/** Turns the text of a JSON document into the text that is written. @throws Failure rejected where it does not apply */
export type JsonFilter = (json: string) => Promise<string>;
