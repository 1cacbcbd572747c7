import { writeJson } from '../core/json.ts';
import type { Form } from './form.ts';
import { plainJson } from './plain.ts';
import type { Look } from './show.ts';

/** One document, indented; a list is one array, written row by row. */
export function json(look: Look): Form {
  const write = (value: unknown): string => {
    const text = writeJson(value, 2);
    return look.terminal ? plainJson(text) : text;
  };
  let started = false;
  return {
    one: (value) => `${write(value)}\n`,
    row(row) {
      const before = started ? ',\n  ' : '[\n  ';
      started = true;
      return before + write(row).replaceAll('\n', '\n  ');
    },
    end: () => (started ? '\n]\n' : '[]\n'),
  };
}
