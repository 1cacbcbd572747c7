import { writeJson } from '../core/json.ts';
import { joiner } from './json-rows.ts';
import { plainJson } from './plain.ts';
import type { Formatter, Presentation } from './presentation.ts';

const [first, next] = ['[\n  ', ',\n  '];

/** One document, indented; a list is one array, written row by row. A row that is JSON text is one line, unchanged. */
export function json({ terminal }: Pick<Presentation, 'terminal'>): Formatter {
  const write = (value: unknown): string => {
    const text = writeJson(value, 2);
    return terminal ? plainJson(text) : text;
  };
  const join = joiner();
  let started = false;
  const start = (): string => {
    const before = started ? next : first;
    started = true;
    return before;
  };
  return {
    one: (value) => `${write(value)}\n`,
    row: (row) => start() + write(row).replaceAll('\n', '\n  '),
    ...(terminal ? {} : { texts: (texts) => (texts.length === 0 ? noBytes : join(texts, next, '', start())) }),
    end: () => (started ? '\n]\n' : '[]\n'),
  };
}

const noBytes = new Uint8Array();

/** One compact value a line; no result is no line. */
export function ndjson({ terminal }: Pick<Presentation, 'terminal'>): Formatter {
  const row = (value: unknown): string => {
    const line = `${writeJson(value)}\n`;
    return terminal ? plainJson(line) : line;
  };
  const join = joiner();
  return {
    one: (value) => (value === undefined || value === null ? '' : row(value)),
    row,
    ...(terminal ? {} : { texts: (texts) => join(texts, '', '\n') }),
    end: () => '',
  };
}
