import type { JsonElement } from '../core/json-elements.ts';

/** Rows that came together, each as its JSON text, which some formats write; for the others each row is parsed. */
export class JsonRows<R = unknown> {
  readonly texts: readonly JsonElement[];
  readonly open: (text: JsonElement) => R;

  /** `open` makes the row of a command from its text; the text is what machine formats print of that row. */
  constructor(texts: readonly JsonElement[], open: (text: JsonElement) => R) {
    this.texts = texts;
    this.open = open;
  }

  *[Symbol.iterator](): Generator<R> {
    for (const text of this.texts) yield this.open(text);
  }
}

export async function* singly(rows: AsyncIterable<unknown>): AsyncGenerator {
  for await (const row of rows) {
    if (row instanceof JsonRows) yield* row;
    else yield row;
  }
}

/** Texts, each between the same two pieces of ASCII; `first` replaces the piece before the first one. */
export function joinTexts(texts: readonly JsonElement[], before: string, after: string, first = before): Uint8Array {
  const between = Buffer.from(after + before);
  const pieces = texts.flatMap(({ bytes }, index) => [index === 0 ? Buffer.from(first) : between, bytes]);
  return Buffer.concat(texts.length === 0 ? [] : [...pieces, Buffer.from(after)]);
}
