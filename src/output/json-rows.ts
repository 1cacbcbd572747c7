import type { JsonElement } from '../core/json-element.ts';

/** Rows that came together, each as its own JSON text: a form that can writes the texts; for any other each is opened. */
export class JsonRows<R = unknown> {
  readonly texts: readonly JsonElement[];
  readonly #open: (text: JsonElement) => R;

  /** `open` makes the row of a command from its text; the text is what machine formats print of that row. */
  constructor(texts: readonly JsonElement[], open: (text: JsonElement) => R) {
    this.texts = texts;
    this.#open = open;
  }

  *[Symbol.iterator](): Generator<R> {
    for (const text of this.texts) yield this.#open(text);
  }
}

/** The same rows, each alone. */
export async function* singly(rows: AsyncIterable<unknown>): AsyncGenerator {
  for await (const row of rows) {
    if (row instanceof JsonRows) yield* row;
    else yield row;
  }
}

/** Texts one after another, each between the same two pieces of ASCII; `first` replaces the piece before the first one. */
export function joined(texts: readonly JsonElement[], before: string, after: string, first = before): Uint8Array {
  const size = texts.reduce((sum, { length }) => sum + length + before.length + after.length, first.length);
  const all = Buffer.allocUnsafe(size);
  let at = 0;
  for (const [index, text] of texts.entries()) {
    at += all.write(index === 0 ? first : before, at, 'latin1');
    at = text.copyTo(all, at);
    at += all.write(after, at, 'latin1');
  }
  return all.subarray(0, at);
}
