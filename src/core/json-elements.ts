import { isUtf8 } from 'node:buffer';
import { endOfString, isObject, type JsonObject, maxDepth, parseJson, sign, tooDeep } from './json.ts';

/** `body`: the document with an empty array in place of the elements. */
type JsonEnvelope = Readonly<{ body: unknown; elements: readonly JsonElement[] }>;
type JsonDocument = Readonly<{ bytes: Uint8Array; isEscaped: boolean }>;

/**
 * The objects in the array `name` of a document, each with its own bytes, unchanged. The platform parses the whole, and
 * the search for places relies on that. Both read Latin-1: letters beyond ASCII would take twice as long.
 * An escape names more than a byte can hold: a document with one is parsed in UTF-8.
 * @throws SyntaxError where the document has no such array of objects, is not JSON, or is nested too deep
 */
export function elementsOf(document: Uint8Array, name: string): JsonEnvelope {
  const given = Buffer.from(document.buffer, document.byteOffset, document.length);
  const utf8 = isUtf8(given) ? given : Buffer.from(given.toString());
  const signs = utf8.toString('latin1').replace(byteOrderMark, '');
  const places = placesIn(signs, name);
  const isEscaped = signs.includes('\\u');
  const whole: unknown = JSON.parse(isEscaped ? inUtf8(signs) : signs);
  const values = isObject(whole) ? whole[name] : undefined;
  if (!Array.isArray(values) || !values.every(isObject))
    throw new SyntaxError(`it contains no list of objects '${name}'`);
  // Line breaks of JSON are between tokens, and go with the blanks there. Strings are matched in runs (json.ts).
  if (utf8.includes('\n') || utf8.includes('\r'))
    return elementsOf(Buffer.from(signs.replace(/("[^"\\]*(?:\\[^][^"\\]*)*")|[ \t\r\n]+/g, '$1'), 'latin1'), name);
  const end = signs.length;
  const body = parseJson(inUtf8(signs.slice(0, places[0] ?? end) + signs.slice(places.at(-1) ?? end)));
  const from = { bytes: utf8.subarray(utf8.length - end), isEscaped };
  const elements = values.map((value, row) => new JsonElement(value, from, places[2 * row], places[2 * row + 1]));
  return { body, elements };
}

/** The byte order mark of UTF-8, read as Latin-1. */
const byteOrderMark = /^\u00ef\u00bb\u00bf/;

function inUtf8(latin1: string): string {
  return /[^ -~]/.test(latin1) ? Buffer.from(latin1, 'latin1').toString() : latin1;
}

/** An object of JSON with the bytes it was read from, which have no line break. */
export class JsonElement {
  /** Its texts are UTF-8 that was read as Latin-1, unless there are escapes, and large integers are not exact. */
  readonly #signs: JsonObject;
  readonly #document: JsonDocument;
  // A typed array for each would make V8's heap grow by 40 MB.
  readonly #start: number;
  readonly #end: number;

  constructor(signs: JsonObject, document: JsonDocument, start = 0, end = document.bytes.length) {
    this.#signs = signs;
    this.#document = document;
    this.#start = start;
    this.#end = end;
  }

  get length(): number {
    return this.#end - this.#start;
  }

  get bytes(): Uint8Array {
    return this.#document.bytes.subarray(this.#start, this.#end);
  }

  parse(): JsonObject {
    const value = parseJson(Buffer.from(this.bytes).toString());
    return isObject(value) ? value : {};
  }

  /** One member, whose name is ASCII; undefined where the object lacks it. */
  read(name: string): unknown {
    const member = Object.hasOwn(this.#signs, name) ? this.#signs[name] : undefined;
    if (typeof member === 'string') return this.#document.isEscaped ? member : inUtf8(member);
    const isExact =
      Number.isSafeInteger(member) || typeof member === 'boolean' || member === undefined || member === null;
    return isExact ? member : this.parse()[name];
  }
}

/** Where each object begins and ends in the last array `name` of JSON. @throws SyntaxError where it is too deep */
function placesIn(signs: string, name: string): readonly number[] {
  let places: number[] = [];
  let [depth, isSought] = [0, false];
  for (let at = 0; at < signs.length; at += 1) {
    const code = signs.charCodeAt(at);
    if (code === sign.quote) {
      const start = at;
      at = endOfString(signs, at);
      // The last string before an array at this depth is its name.
      if (depth === 1) isSought = parseJson(inUtf8(signs.slice(start, at + 1))) === name;
    } else if (code === sign.open || code === sign.openObject) {
      depth += 1;
      if (depth > maxDepth) throw tooDeep();
      if (depth === 2 && isSought) places = [];
      if (depth === 3 && isSought) places.push(at);
    } else if (code === sign.close || code === sign.closeObject) {
      if (depth === 3 && isSought) places.push(at + 1);
      depth -= 1;
    }
  }
  return places;
}
