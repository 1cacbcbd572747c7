import { cellText } from './columns.ts';
import type { Form } from './form.ts';
import { plain } from './plain.ts';
import { records } from './records.ts';
import type { Look, Show } from './show.ts';

/** One record a line, cells parted by tabs; a tab, line end or backslash inside a cell is `\t`, `\n`, `\r`, `\\`. */
export function tsv(show: Show<unknown> | undefined, look: Look): Form {
  const cell = (value: unknown): string => {
    const text = cellText(value).replace(/[\t\n\r\\]/g, (character) => escapes[character] ?? character);
    return look.terminal ? plain(text) : text;
  };
  return records(show, look, (cells) => `${cells.map(cell).join('\t')}\n`);
}

const escapes: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };
