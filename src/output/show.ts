import type { Format, OwnFormat } from '../schema/formats.ts';

/** How a result looks; the machine formats print the value itself (docs/architecture.md, Output). */
export interface Show<T> {
  /** Columns of table, csv and tsv under their wire names; absent: the scalar keys of the first row. */
  readonly columns?: readonly string[];
  /** The object that machine formats print and columns are read from, where the row holds more; absent: the row itself. */
  readonly data?: (row: T) => unknown;
  /** The value of a column that is not simply the row's own key of that name; undefined leaves it to the row. */
  readonly cell?: (row: T, column: string) => unknown;
  /** Whether the other scalar keys of the first row follow `columns`; keys that `cell` consumed are named in `consumed`. */
  readonly others?: boolean;
  /** Keys that are never shown as other columns, because a column of another name shows them. */
  readonly consumed?: (row: T) => readonly string[];
  /** Columns that a terminal never cuts, and leaves out last: a key, a user, a name, an address. */
  readonly whole?: readonly string[];
  /** How columns look in a table, by their name. */
  readonly layout?: Readonly<Record<string, ColumnLayout>>;
  /** Whether a terminal shows each row as a record, one field a line. */
  readonly records?: boolean;
  /** What stderr says where a list is empty, on a terminal. */
  readonly none?: string;
  /** Formats that the command offers beside those of every command. */
  readonly formats?: readonly OwnFormat[];
  /** The one of them that a terminal gets where no format and no fields are asked for; absent: the table. */
  readonly terminalFormat?: OwnFormat;
  /** One sentence in place of the table on a terminal. */
  readonly line?: (row: T) => string;
  /** The one thing that `-q` prints, one line a row, unless the format prints whole values. */
  readonly quiet?: (row: T) => string;
  /** Prints like `quiet` even without `-q`, unless the format prints whole values. */
  readonly alwaysQuiet?: boolean;
  /** The rows are pieces of a text, which is written as it is; a filter gets it in place of the JSON of the rows. */
  readonly text?: true;
  /** That text is JSON, which --jq filters. */
  readonly filterable?: true;
}

export interface ColumnLayout {
  /** The column of the lowest number is the first to go where the room is small (default: 0); of two, the one further right. */
  readonly priority?: number;
  /** Narrower, the column is not worth reading and goes (default: 10). */
  readonly least?: number;
  /** Seconds since 1970 shown as a date; the content of a message shown as plain text. */
  readonly as?: 'seconds' | 'message';
  /** The text shown in place of an empty one. */
  readonly empty?: string;
}

/** Turns the text of a JSON document into the text that is written. @throws Failure rejected where it does not apply */
export type JsonFilter = (json: string) => string;

/** The user's choices about looks, read once from the global options. */
export interface Look {
  readonly format: Format;
  /** Columns, or keys of JSON objects, that were asked for by name. */
  readonly fields: readonly string[] | undefined;
  /** The field that a list is sorted by, after a dash for the other way round. */
  readonly sort?: string | undefined;
  readonly header: boolean;
  readonly csvSafe: boolean;
  readonly quiet: boolean;
  /** What the JSON document goes through before it is written, in place of any other format. */
  readonly filter?: JsonFilter | undefined;
  /** Whether escape sequences for colour may be written to stdout. */
  readonly color: boolean;
  /** Whether stdout is a terminal: text is made harmless and fitted. */
  readonly terminal: boolean;
  /** Columns of the terminal; 0 where unknown. */
  readonly width: number;
  /** One line to stderr after the result, such as which columns were left out. */
  readonly note?: ((line: string) => void) | undefined;
  /** The IANA name of the reader's time zone; the system's own where absent. */
  readonly timeZone?: string | undefined;
}

/** Where a result goes. `write` resolves when more may be written, and rejects with EPIPE when the reader is gone. */
export interface Sink {
  write(piece: string | Uint8Array): Promise<void>;
}
