import { writeJson } from '../core/json.ts';
import { joinTexts } from './json-rows.ts';
import { plainJson } from './plain.ts';
import type { Formatter, Presentation } from './presentation.ts';

const [first, next] = ['[\n  ', ',\n  '];

/** One document, indented; a list is one array, written row by row. A row that is JSON text is one line, unchanged. */
export function json({ terminal }: Pick<Presentation, 'terminal'>): Formatter {
  const write = (value: unknown): string => {
    const text = writeJson(value, 2);
    return terminal ? plainJson(text) : text;
  };
  let started = false;
  const start = (): string => {
    const before = started ? next : first;
    started = true;
    return before;
  };
  return {
    one: (value) => `${write(value)}\n`,
    row: (row) => start() + write(row).replaceAll('\n', '\n  '),
    ...(terminal ? {} : { texts: (texts) => joinTexts(texts, next, '', texts.length === 0 ? '' : start()) }),
    end: () => (started ? '\n]\n' : '[]\n'),
  };
}

/** One compact value a line; no result is no line. */
export function ndjson({ terminal }: Pick<Presentation, 'terminal'>): Formatter {
  const row = (value: unknown): string => {
    const line = `${writeJson(value)}\n`;
    return terminal ? plainJson(line) : line;
  };
  return {
    one: (value) => (value === undefined || value === null ? '' : row(value)),
    row,
    ...(terminal ? {} : { texts: (texts) => joinTexts(texts, '', '\n') }),
    end: () => '',
  };
}
