import type { JsonElement } from '../core/json-elements.ts';

/** Rows that came together, each as its JSON text: a format of texts takes them so; for others each row is parsed. */
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

/** Texts, at least one, each between the same two pieces of ASCII; `first` replaces the piece before the first one. */
type Join = (texts: readonly JsonElement[], before: string, after: string, first?: string) => Uint8Array;

/** The bytes are valid until its next call: a buffer for each page would have to be freed by V8. */
export function joiner(): Join {
  let all = Buffer.alloc(0);
  return (texts, before, after, first = before) => {
    const [start, between] = [Buffer.from(first), Buffer.from(after + before)];
    const needed = texts.reduce((sum, { length }) => sum + length + between.length, start.length);
    // Pages differ in size: room for a somewhat larger one.
    if (all.length < needed) all = Buffer.allocUnsafe(Math.ceil(needed * 1.25));
    let at = copyTo(start, all, 0);
    for (const text of texts) {
      all.set(text.bytes, at);
      at = copyTo(between, all, at + text.length);
    }
    return all.subarray(0, at - before.length);
  };
}

/** Copies a few bytes, which is faster than a call of `set`; where they end in `target`. */
function copyTo(bytes: Uint8Array, target: Uint8Array, start: number): number {
  for (let at = 0; at < bytes.length; at += 1) target[start + at] = bytes[at] ?? 0;
  return start + bytes.length;
}
