import { namesIn } from '../core/table-names.ts';

/** What the program knows of a format of results; `src/output/formats.ts` has what writes each. */
export interface FormatRow {
  /** Every result has it. Absent: a command offers it, and set in the environment it is ignored by every other one. */
  readonly general?: true;
  /** It prints whole values: -q, and commands that print one text, leave it alone. */
  readonly whole?: true;
  /** It is read by a person, who needs no more rows than are worth a look. */
  readonly forPeople?: true;
  /** Errors and addresses are JSON beside it. */
  readonly isJson?: true;
}

/** Every format, in the order of help. */
export const formats = {
  table: { general: true, forPeople: true },
  json: { general: true, whole: true, isJson: true },
  ndjson: { general: true, whole: true, isJson: true },
  csv: { general: true },
  tsv: { general: true },
  yaml: { general: true, whole: true },
  text: { forPeople: true },
  html: {},
  markdown: {},
  curl: {},
} as const satisfies Readonly<Record<string, FormatRow>>;

export type Format = keyof typeof formats;
export type OwnFormat = { [F in Format]: (typeof formats)[F] extends { general: true } ? never : F }[Format];

/** The formats of every command. */
export const generalFormats: readonly Format[] = namesIn(formats).filter((name) => rowOf(name)?.general);

/** The formats whose rows are whole values, as a hint names them. */
export const wholeFormats: readonly Format[] = namesIn(formats).filter((name) => rowOf(name)?.whole);

/** The row of a format; undefined for a word that is none. */
export function rowOf(name: string | undefined): FormatRow | undefined {
  const rows: Readonly<Record<string, FormatRow>> = formats;
  return name !== undefined && Object.hasOwn(rows, name) ? rows[name] : undefined;
}

/** Words in a sentence: `json, ndjson or yaml`. */
export function alternatives(words: readonly string[]): string {
  return words.join(', ').replace(/, ([^,]*)$/, ' or $1');
}
