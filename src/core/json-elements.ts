import { parseJson } from './json.ts';
import {
  endOfBlanks,
  endOfPlain,
  endOfString,
  endOfValue,
  isAt,
  passSign,
  sign,
  startInside,
  startOfValue,
  textOf,
} from './json-syntax.ts';

/** Elements of an array that are in one stretch of bytes, and where the values of their noted members are. */
export interface JsonElements {
  readonly count: number;
  readonly document: Uint8Array;
  readonly names: readonly string[];
  /** For each element its start and end, then start and end of the value of each name, 0 and 0 where there is none. */
  readonly places: ArrayLike<number>;
}

/** Places of an element: its own two, and two for each name. */
function rowSizeOf(names: readonly unknown[]): number {
  return 2 + 2 * names.length;
}

/** The values of the elements; integers beyond 2^53 are `bigint`. */
export function parseElements({ document, names, places, count }: JsonElements): readonly unknown[] {
  if (count === 0) return [];
  const text = textOf(document, places[0] ?? 0, places[(count - 1) * rowSizeOf(names) + 1] ?? 0);
  const list = parseJson(`[${text}]`);
  return Array.isArray(list) ? list : [];
}

/**
 * An object of JSON as the bytes in which it came: UTF-8, without a line break. It holds no view of its own: a thousand of them live as
 * long as a page does, and a typed array each would make V8 grow its heap by 40 MB.
 */
export class JsonElement {
  readonly #page: JsonElements;
  /** Where its places begin. */
  readonly #at: number;

  constructor(page: JsonElements, row: number) {
    this.#page = page;
    this.#at = row * rowSizeOf(page.names);
  }

  /** An object that has these bytes to itself. */
  static of(document: Uint8Array): JsonElement {
    return new JsonElement({ document, names: [], places: [0, document.length], count: 1 }, 0);
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
    return end === 0 ? undefined : parseJson(textOf(document, start, end));
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

/** As many as the largest page of messages has. */
const usualElements = 1000;

/** What `readElements` finds. */
export interface FoundElements extends Pick<JsonElements, 'places' | 'count'> {
  /** Where the next element begins, or the array ends. */
  readonly next: number;
  readonly isEnded: boolean;
}

/** The elements that are whole, where the next one begins, and whether the array ends there. With `members` each is an object. */
export function readElements(
  { bytes, at: start, isWhole }: { readonly bytes: Uint8Array; readonly at: number; readonly isWhole: boolean },
  depth: number,
  members: MemberNames | undefined,
): FoundElements {
  const rowSize = rowSizeOf(members?.flat() ?? []);
  let places = new Int32Array(usualElements * rowSize);
  let count = 0;
  let next = endOfBlanks(bytes, start);
  try {
    for (;;) {
      const row = count * rowSize;
      if (row === places.length) places = twice(places);
      places[row] = next;
      const end = members ? endOfElement(bytes, next, depth, members, places, row) : endOfValue(bytes, next, depth);
      places[row + 1] = end;
      const after = endOfBlanks(bytes, end);
      const isEnded = bytes[after] !== sign.comma;
      if (isEnded) passSign(bytes, after, sign.close);
      count += 1;
      if (isEnded) return { places, count, next: after, isEnded };
      next = endOfBlanks(bytes, after + 1);
    }
  } catch (cause) {
    if (isWhole || !(cause instanceof SyntaxError)) throw cause;
    return { places, count, next, isEnded: false };
  }
}

function twice(places: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(places.length * 2);
  larger.set(places);
  return larger;
}

/** Writes the places of the named members of the object that begins at `start`; where the object ends. */
function endOfElement(
  bytes: Uint8Array,
  start: number,
  depth: number,
  members: MemberNames,
  places: Int32Array,
  row: number,
): number {
  let at = startInside(bytes, start, sign.openObject, depth);
  for (let isOpen = bytes[at] !== sign.closeObject; isOpen;) {
    const plainEnd = endOfPlain(bytes, at + 1);
    const nameEnd = endOfString(bytes, at, plainEnd);
    const value = startOfValue(bytes, nameEnd);
    const end = endOfValue(bytes, value, depth + 1);
    const index = indexOfName(bytes, at, plainEnd, nameEnd, members);
    if (index >= 0) {
      places[row + 2 + index * 2] = value;
      places[row + 3 + index * 2] = end;
    }
    at = endOfBlanks(bytes, end);
    isOpen = bytes[at] === sign.comma;
    if (isOpen) at = endOfBlanks(bytes, at + 1);
  }
  return passSign(bytes, at, sign.closeObject);
}

/** Names of members, by their number of bytes: most members of an element have a length that none of them has. */
export type MemberNames = readonly (readonly { readonly name: Buffer; readonly index: number }[])[];

export function namesByLength(names: readonly string[]): MemberNames {
  const all = names.map((name, index) => ({ name: Buffer.from(name), index }));
  const longest = Math.max(0, ...all.map(({ name }) => name.length));
  return Array.from({ length: longest + 1 }, (_, length) => all.filter(({ name }) => name.length === length));
}

/** Which of the names the string is that begins at `start`, or -1; `plainEnd` is before its end where it has an escape. */
function indexOfName(bytes: Uint8Array, start: number, plainEnd: number, end: number, names: MemberNames): number {
  if (plainEnd + 1 < end) {
    const name = Buffer.from(String(parseJson(textOf(bytes, start, end))));
    return names[name.length]?.find((one) => one.name.equals(name))?.index ?? -1;
  }
  const some = names[end - start - 2];
  for (let at = 0; some && at < some.length; at += 1) {
    const candidate = some[at];
    if (candidate && isAt(bytes, start + 1, candidate.name)) return candidate.index;
  }
  return -1;
}
