import { rowOf } from '../schema/formats.ts';
import type { Form } from './form.ts';
import { plainLines } from './plain.ts';
import type { Look, Show } from './show.ts';

/**
 * The form of one text a row, where there is one: what `-q` prints, or the sentence in place of a table. Undefined where the
 * result is written in its format.
 */
export function sentencesOf(show: Show<unknown> | undefined, look: Look): Form | undefined {
  if (rowOf(look.format)?.whole) return undefined;
  const { quiet, line } = show ?? {};
  if (quiet && (look.quiet || show?.alwaysQuiet)) {
    return sentences((row) => (look.terminal ? plainLines(quiet(row)) : quiet(row)));
  }
  if (line && look.format === 'table' && !look.fields) return sentences((row) => plainLines(line(row)));
  return undefined;
}

function sentences(textOf: (row: unknown) => string): Form {
  const row = (value: unknown): string => {
    const text = textOf(value);
    return text === '' ? '' : `${text}\n`;
  };
  return { one: (value) => (value === undefined || value === null ? '' : row(value)), row, end: () => '' };
}
