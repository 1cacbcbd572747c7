import { parseJson } from './json.ts';

/** The elements of a document: where each begins and ends, and where the values of its noted members are. */
export interface ElementPlaces {
  readonly document: Uint8Array;
  readonly names: readonly string[];
  /** For each element its start and end, then start and end of the value of each name, 0 and 0 where there is none. */
  readonly places: ArrayLike<number>;
}

/**
 * An object of JSON as the bytes in which it came: UTF-8, without a line break. It holds no view of its own: a thousand of them live as
 * long as a page does, and a typed array each would make V8 grow its heap by 40 MB.
 */
export class JsonElement {
  readonly #page: ElementPlaces;
  /** Where its places begin. */
  readonly #at: number;

  constructor(page: ElementPlaces, at: number) {
    this.#page = page;
    this.#at = at;
  }

  /** In bytes. */
  get length(): number {
    return this.#end - this.#start;
  }

  get bytes(): Uint8Array {
    return this.#page.document.subarray(this.#start, this.#end);
  }

  /** The value of one of the members whose places were noted; undefined where the object lacks it. */
  read(name: string): unknown {
    const { document, names, places } = this.#page;
    const at = this.#at + 2 + 2 * names.indexOf(name);
    const [start = 0, end = 0] = [places[at], places[at + 1]];
    return end === 0 ? undefined : (integerIn(document, start, end) ?? parseJson(textOf(document, start, end)));
  }

  /** The whole object. */
  parse(): unknown {
    return parseJson(textOf(this.#page.document, this.#start, this.#end));
  }

  /** Copies the bytes; where they end in `target`. */
  copyTo(target: Uint8Array, at: number): number {
    target.set(this.bytes, at);
    return at + this.length;
  }

  get #start(): number {
    return this.#page.places[this.#at] ?? 0;
  }

  get #end(): number {
    return this.#page.places[this.#at + 1] ?? 0;
  }
}

/** The number that these bytes are, where they are up to fifteen digits. */
function integerIn(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end - start > 15) return undefined;
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

/** The text of these bytes. */
export function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8', start, end);
}
