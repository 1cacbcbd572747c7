import { writeJson } from '../core/json.ts';
import type { Form } from './form.ts';
import { joiner } from './json-rows.ts';
import { plainJson } from './plain.ts';
import type { Look } from './show.ts';

const [first, next] = ['[\n  ', ',\n  '];

/** One document, indented; a list is one array, written row by row. Rows that are JSON texts are a line each, unchanged. */
export function json(look: Look): Form {
  const write = (value: unknown): string => {
    const text = writeJson(value, 2);
    return look.terminal ? plainJson(text) : text;
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
    ...(look.terminal ? {} : { texts: (texts) => (texts.length === 0 ? noBytes : join(texts, next, '', start())) }),
    end: () => (started ? '\n]\n' : '[]\n'),
  };
}

const noBytes = new Uint8Array();
