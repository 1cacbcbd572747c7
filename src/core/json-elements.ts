import { isUtf8 } from 'node:buffer';
import { isObject, maxDepth, parseJson } from './json.ts';

/** A document that is an object, one of whose members is an array of objects. */
interface JsonEnvelope {
  /** The document with an empty array in place of the elements. */
  readonly rest: string;
  readonly elements: readonly JsonElement[];
}

/**
 * The objects in the array `name` of a document, each without a line break, with the values of the members `memberNames`. The platform
 * checks the document; the bytes of an element stay as they came. Of two members of one name the last counts, as everywhere.
 * @throws SyntaxError where the document is not JSON, is no object, has no such array of objects, or is nested too deep
 */
export function elementsOf(document: Uint8Array, name: string, memberNames: readonly string[]): JsonEnvelope {
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.length);
  const isPlain = isUtf8(document) && bytes.toString('latin1', 0, mark.length) !== mark;
  if (!isPlain) return elementsOf(Buffer.from(new TextDecoder().decode(document)), name, memberNames);
  const places = placesOf(bytes, name);
  const text = bytes.toString('utf8');
  const parsed: unknown = JSON.parse(text);
  // A line break of a document that is JSON is between two tokens.
  if (bytes.includes(0x0a) || bytes.includes(0x0d))
    return elementsOf(Buffer.from(text.replace(blanks, (one) => (one.startsWith('"') ? one : ''))), name, memberNames);
  const rows = isObject(parsed) && Object.hasOwn(parsed, name) ? parsed[name] : undefined;
  if (!Array.isArray(rows)) throw new SyntaxError(`it has no '${name}'`);
  if (!rows.every(isObject)) throw new SyntaxError(`one of its '${name}' is no object`);
  const values = rows.map((row) => memberNames.map((member) => (Object.hasOwn(row, member) ? row[member] : undefined)));
  const page = { document: bytes, names: memberNames, places: places.elements, values };
  return {
    rest: `${bytes.toString('utf8', 0, places.start)}[]${bytes.toString('utf8', places.end)}`,
    elements: rows.map((_, row) => new JsonElement(page, row)),
  };
}

/** The bytes of a byte order mark. */
const mark = '\xEF\xBB\xBF';
/** With the strings, whose blanks are not between tokens. */
const blanks = /"[^"\\]*(?:\\.[^"\\]*)*"|\s+/g;

const [quote, backslash, open, close, openObject, closeObject] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Where the last array of that name is in a document, and where its objects begin and end; only of a document that is JSON this is so.
 * @throws SyntaxError where it is nested too deep
 */
function placesOf(bytes: Buffer, name: string) {
  let elements: number[] = [];
  let [start, end, depth, isFound, key] = [0, 0, 0, false, ''];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      const last = endOfString(bytes, at);
      if (depth === 1) key = bytes.toString('utf8', at, last + 1);
      at = last;
    } else if (byte === openObject || byte === open) {
      depth += 1;
      if (depth > maxDepth) throw new SyntaxError(`it is nested more than ${maxDepth} levels deep`);
      if (depth === 2) isFound = byte === open && isKey(key, name);
      if (depth === 2 && isFound) [start, elements] = [at, []];
      if (depth === 3 && isFound) elements.push(at);
    } else if (byte === closeObject || byte === close) {
      if (depth === 3 && isFound) elements.push(at + 1);
      if (depth === 2 && isFound) end = at + 1;
      depth -= 1;
    }
  }
  return { start, end, elements };
}

function isKey(text: string, name: string): boolean {
  try {
    return JSON.parse(text) === name;
  } catch {
    return false;
  }
}

/** The quotation mark that ends the string which begins at `start`; the end of the document where none does. */
function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(quote, start + 1); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let first = end;
    while (bytes[first - 1] === backslash) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return bytes.length;
}

/** Where the elements of an array are in a document, and the values of their noted members. */
interface JsonElements {
  readonly document: Uint8Array;
  readonly names: readonly string[];
  /** For each element its start and its end. */
  readonly places: readonly number[];
  /** For each element the value of each name. */
  readonly values: readonly (readonly unknown[])[];
}

/**
 * An object of JSON as the bytes in which it came: UTF-8, without a line break. It holds no view of its own: a thousand of them live as
 * long as a page does, and a typed array each would make V8 grow its heap by 40 MB.
 */
export class JsonElement {
  readonly #page: JsonElements;
  readonly #row: number;

  constructor(page: JsonElements, row: number) {
    this.#page = page;
    this.#row = row;
  }

  /** An object that has these bytes to itself. */
  static of(document: Uint8Array): JsonElement {
    return new JsonElement({ document, names: [], places: [0, document.length], values: [] }, 0);
  }

  /** In bytes. */
  get length(): number {
    return this.bytes.length;
  }

  get bytes(): Uint8Array {
    const { document, places } = this.#page;
    return document.subarray(places[2 * this.#row], places[2 * this.#row + 1]);
  }

  /** The value of one of the members that were noted; undefined where the object lacks it. */
  read(name: string): unknown {
    const { names, values } = this.#page;
    const value = values[this.#row]?.[names.indexOf(name)];
    if (typeof value !== 'number' || Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
    const whole = this.parse();
    return isObject(whole) ? whole[name] : undefined;
  }

  /** The whole object. */
  parse(): unknown {
    return parseJson(new TextDecoder().decode(this.bytes));
  }

  /** Copies the bytes; where they end in `target`. */
  copyTo(target: Uint8Array, at: number): number {
    target.set(this.bytes, at);
    return at + this.length;
  }
}
