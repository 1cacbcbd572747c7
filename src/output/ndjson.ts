import { writeJson } from '../core/json.ts';
import type { Form } from './form.ts';
import { joiner } from './json-rows.ts';
import { plainJson } from './plain.ts';
import type { Look } from './show.ts';

/** One compact value a line; no result is no line. */
export function ndjson(look: Look): Form {
  const row = (value: unknown): string => {
    const line = `${writeJson(value)}\n`;
    return look.terminal ? plainJson(line) : line;
  };
  const join = joiner();
  return {
    one: (value) => (value === undefined || value === null ? '' : row(value)),
    row,
    ...(look.terminal ? {} : { texts: (texts) => join(texts, '', '\n') }),
    end: () => '',
  };
}
