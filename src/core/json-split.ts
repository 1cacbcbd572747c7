import { sign } from './json-syntax.ts';
import { parseJson } from './json.ts';

/** What a split document is made of. */
export type JsonPiece =
  /** Elements, in order, of the array that is the member `array` of the document; undefined: the document is the array. */
  | { readonly array: string | undefined; readonly elements: readonly unknown[] }
  /** The last piece: the document, with the first elements of its arrays. */
  | { readonly rest: unknown };

/** More than any element of a list, or than what is beside the lists, in bytes. */
const maxElementBytes = 16 * 1024 * 1024;
/** Elements that `rest` holds of each array: all of those that are no rows. */
const keptElements = 100;

/**
 * Splits a JSON document that is too large to be held: into the elements of its array, or of each array that is a member of it, and at
 * the end what is beside them. The elements of one chunk are held at a time; integers beyond 2^53 are read as `bigint`. Only brackets,
 * commas and strings are looked at here: `parseJson` reads the elements of a chunk at once, and in the end the document without them.
 * @throws SyntaxError where it is not JSON, ends early, is nested too deep, or has an element of more than 16 MiB
 */
export async function* splitJson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<JsonPiece> {
  const split: Split = {
    place: { depth: 0, isText: false, isEscaped: false },
    document: '',
    kept: new Map(),
    found: [],
  };
  let begun: Uint8Array = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = begun.length > 0 ? Buffer.concat([begun, chunk]) : chunk;
    begun = bytes.subarray(readPart(split, bytes, begun.length));
    if (Math.max(begun.length, split.document.length) > maxElementBytes)
      throw new SyntaxError('an element of it is larger than 16 MiB');
    yield* split.found.splice(0);
  }
  yield { rest: restOf(split, textOf(begun)) };
}

/** How far a document has been split. */
interface Split {
  readonly place: SplitPlace;
  /** The array whose elements are read. */
  rows?: SplitRows | undefined;
  isObject?: boolean;
  /** The text beside the elements. */
  document: string;
  readonly kept: Map<string | undefined, unknown[]>;
  readonly found: JsonPiece[];
}

interface SplitPlace {
  /** Brackets that are open. */
  depth: number;
  isText: boolean;
  /** Whether the next character is one of a string, whatever it is. */
  isEscaped: boolean;
}

interface SplitRows {
  readonly array: string | undefined;
  readonly depth: number;
  /** Whether it has an element. */
  isBegun: boolean;
}

/** Reads a part of which the first `known` bytes have been looked at; the place from where on its bytes are needed again. */
function readPart(split: Split, bytes: Uint8Array, known: number): number {
  const { place } = split;
  let start = 0;
  let comma = -1;
  for (let at = nextSign(place, bytes, known); at < bytes.length; at = nextSign(place, bytes, at + 1)) {
    const byte = bytes[at];
    if (byte === sign.comma) {
      if (split.rows?.depth === place.depth) comma = at;
    } else if (byte === sign.open || byte === sign.openObject) {
      place.depth += 1;
      if (!split.rows && begins(split, bytes, start, at)) start = at + 1;
    } else {
      if (split.rows?.depth === place.depth) {
        endRows(split, split.rows, bytes, start, at);
        start = at;
      }
      place.depth -= 1;
    }
  }
  if (!split.rows || comma < start) return start;
  take(split, split.rows, textOf(bytes.subarray(start, comma)));
  return comma + 1;
}

/** Whether the bracket at this place begins an array whose elements are split off. */
function begins(split: Split, bytes: Uint8Array, start: number, at: number): boolean {
  const { depth } = split.place;
  const isArray = bytes[at] === sign.open;
  if (depth === 1) split.isObject ??= !isArray;
  const isOfRoot = depth === 1 ? !split.isObject : depth === 2 && split.isObject === true;
  if (!isArray || !isOfRoot) return false;
  const before = textOf(bytes.subarray(start, at));
  const [, name] = /"([^"\\]*(?:\\[^][^"\\]*)*)"\s*:\s*$/.exec(before) ?? [];
  const array = depth === 1 || name === undefined ? undefined : String(parseJson(`"${name}"`));
  split.rows = { array, depth, isBegun: false };
  split.kept.set(array, []);
  split.document += `${before}[`;
  return true;
}

/** The bracket that ends the rows belongs to the document. */
function endRows(split: Split, rows: SplitRows, bytes: Uint8Array, start: number, at: number): void {
  const text = textOf(bytes.subarray(start, at));
  if (rows.isBegun || text.trim() !== '') take(split, rows, text);
  split.rows = undefined;
}

function take({ kept, found }: Split, rows: SplitRows, text: string): void {
  const list = parseJson(`[${text}]`);
  const elements: readonly unknown[] = Array.isArray(list) ? list : [];
  if (elements.length === 0) throw new SyntaxError('an element of it is missing');
  const first = kept.get(rows.array);
  if (first && first.length < keptElements) first.push(...elements.slice(0, keptElements - first.length));
  rows.isBegun = true;
  found.push({ array: rows.array, elements });
}

function restOf({ document, kept }: Split, end: string): unknown {
  const value = parseJson((document + end).replace(/^\uFEFF/, ''));
  if (Array.isArray(value)) return kept.get(undefined) ?? value;
  // Not an assignment, which does something else for `__proto__`.
  for (const [name, elements] of kept)
    if (name !== undefined)
      Object.defineProperty(value, name, { value: elements, enumerable: true, configurable: true, writable: true });
  return value;
}

const isSign = new Uint8Array(256);
for (const byte of [sign.comma, sign.open, sign.close, sign.openObject, sign.closeObject]) isSign[byte] = 1;

/** The place of the next bracket or comma outside strings; the length where there is none. */
function nextSign(place: SplitPlace, bytes: Uint8Array, from: number): number {
  let at = from;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (place.isText) {
      if (place.isEscaped) place.isEscaped = false;
      else if (byte === sign.backslash) place.isEscaped = true;
      else if (byte === sign.quote) place.isText = false;
    } else if (byte === sign.quote) place.isText = true;
    else if (isSign[byte] === 1) return at;
  }
  return at;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}
