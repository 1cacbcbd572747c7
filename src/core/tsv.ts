import { usage } from './failure.ts';

const signs: Readonly<Record<string, string>> = { '\\t': '\t', '\\n': '\n', '\\r': '\r', '\\\\': '\\' };
const escapes = Object.fromEntries(Object.entries(signs).map(([escape, sign]) => [sign, escape]));

/** A cell of tsv without quotes: a tab, line end or backslash in it is `\t`, `\n`, `\r`, `\\`. */
export function tsvCell(text: string): string {
  return text.replace(/[\t\n\r\\]/g, (sign) => escapes[sign] ?? sign);
}

/** The text of a cell of ours; undefined if it is none. A name has no tab or line end, so only its `\\` is undone. */
export function tsvText(cell: string, holds: 'name' | 'text'): string | undefined {
  const escape = holds === 'name' ? /\\\\/g : /\\[tnr\\]/g;
  if (cell.startsWith('"') || cell.replace(escape, '').includes('\\')) return undefined;
  return cell.replace(escape, (found) => signs[found] ?? found);
}

/** The names of a list: as tsv has them if the first line is one of these columns. @throws Failure usage if unclear */
export function namesInList(lines: readonly string[], columns: readonly string[]): readonly string[] {
  const [first = '', ...names] = lines;
  if (!columns.includes(first)) return lines;
  const read = names.flatMap((name) => tsvText(name, 'name') ?? []);
  if (read.length === names.length) return read;
  const unclear = names.find((name) => (tsvText(name, 'name') ?? name) !== name);
  if (unclear === undefined) return names;
  throw usage(
    `'${unclear}' or '${tsvText(unclear, 'name')}': the list has a line that is no tsv of chatelaine`,
    asNdjson,
  );
}

/** Advice if nothing tells whether chatelaine or a spreadsheet wrote a text. */
export const asNdjson =
  'Print the list with -o ndjson, and give --input-format ndjson; or give the names as arguments.';
