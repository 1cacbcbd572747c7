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

/** What a name of a list means if this program printed it, where that is another name. */
export function otherReading(name: string): string | undefined {
  const read = tsvText(name, 'name');
  return read === name ? undefined : read;
}

/**
 * The names of a list: as tsv has them if the first line is one of these columns. Without that line a name may have
 * two readings. @throws Failure usage for such a name, unless it is to be kept, and for a second header
 */
export function namesInList(
  lines: readonly string[],
  columns: readonly string[],
  unclear: 'refuse' | 'keep',
): readonly string[] {
  const [first = '', ...names] = lines;
  const isOurs = columns.includes(first);
  if (isOurs && names.includes(first))
    throw usage(`the list has the line '${first}' twice`, 'Remove the second one: two lists were joined.');
  const read = isOurs ? names.flatMap((name) => tsvText(name, 'name') ?? []) : [];
  if (isOurs && read.length === names.length) return read;
  const given = isOurs ? names : lines;
  const name = isOurs || unclear === 'refuse' ? given.find((one) => otherReading(one) !== undefined) : undefined;
  if (name !== undefined) throw usage(twoReadings(name, otherReading(name)), asArguments);
  return given;
}

export function twoReadings(name: string, ours = name): string {
  return `'${name}' if a person or a spreadsheet wrote this, and '${ours}' if chatelaine printed it`;
}

/**
 * The value that a name of a list means: the text itself, or what tsv writes so, whichever is there; the text itself if
 * neither is. @throws Failure usage where both are
 */
export function nameThatIsThere(name: string, isThere: (name: string) => boolean): string {
  const undone = otherReading(name);
  if (undone === undefined || !isThere(undone)) return name;
  if (isThere(name)) throw usage(`'${name}' or '${undone}': the list contains both`, asArguments);
  return undone;
}

/** Advice if nothing shows whether chatelaine or a spreadsheet wrote a text. */
export const asNdjson = 'Print the list with -o ndjson, and give --input-format ndjson.';
const asArguments = 'Give the names as arguments.';
