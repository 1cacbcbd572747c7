import { isUtf8 } from 'node:buffer';
import { parseJson } from './json.ts';
import {
  broken,
  descend,
  nextSign,
  passComma,
  passEmpty,
  passSign,
  passString,
  passValue,
  sign,
  type JsonCursor,
} from './json-syntax.ts';

/** An object of JSON as the bytes in which it came: UTF-8, without a line break. */
export class JsonElement {
  readonly bytes: Uint8Array;
  readonly #names: readonly string[];
  /** Start and end of the value of each name; 0 and 0 where there is none. */
  readonly #places: Uint32Array;

  constructor(bytes: Uint8Array, names: readonly string[], places: Uint32Array) {
    this.bytes = bytes;
    this.#names = names;
    this.#places = places;
  }

  /** The value of one of the members whose places were noted; undefined where the object lacks it. */
  read(name: string): unknown {
    const index = this.#names.indexOf(name);
    const [start = 0, end = 0] = [this.#places[index * 2], this.#places[index * 2 + 1]];
    return end === 0 ? undefined : (integerIn(this.bytes, start, end) ?? parseJson(textOf(this.bytes, start, end)));
  }

  /** The whole object. */
  parse(): unknown {
    return parseJson(textOf(this.bytes, 0, this.bytes.length));
  }
}

/** A document that is an object, one of whose members is an array of objects. */
export interface JsonEnvelope {
  /** The document with an empty array in place of the elements. */
  readonly rest: string;
  readonly elements: readonly JsonElement[];
}

/**
 * Finds the elements of the array `name` of a document by scanning: the whole document is checked by the grammar of JSON, and only
 * the places of the named members are noted. Of two members of one name the last counts, as everywhere.
 * @throws SyntaxError where the document is not JSON, is no object, or has no such array of objects
 */
export function elementsOf(document: Uint8Array, name: string, memberNames: readonly string[]): JsonEnvelope {
  const bytes = isUtf8(document) ? document : Buffer.from(new TextDecoder().decode(document));
  const cursor = cursorIn(bytes);
  if (hasMark(bytes)) cursor.at = 3;
  const wanted = membersIn(memberNames);
  const start = cursor.at;
  let found: { from: number; to: number; elements: JsonElement[] } | undefined;
  if (nextSign(cursor) !== sign.openObject) throw broken(cursor);
  eachMember(cursor, 0, membersIn([name]), (index) => {
    if (index === 0) found = readArray(cursor, wanted);
    else passValue(cursor, 1);
  });
  if (nextSign(cursor) !== 0 || cursor.at < bytes.length) throw broken(cursor);
  if (!found) throw new SyntaxError(`it has no '${name}'`);
  const rest = `${textOf(bytes, start, found.from)}[]${textOf(bytes, found.to, bytes.length)}`;
  return { rest, elements: found.elements };
}

function cursorIn(bytes: Uint8Array): JsonCursor {
  return { bytes, at: 0, breaks: 0, escapes: 0 };
}

function readArray(cursor: JsonCursor, wanted: Members) {
  if (nextSign(cursor) !== sign.open) throw broken(cursor);
  const from = cursor.at;
  const elements: JsonElement[] = [];
  descend(cursor, 1);
  if (!passEmpty(cursor, sign.close)) {
    do elements.push(readElement(cursor, wanted));
    while (passComma(cursor, sign.close));
  }
  return { from, to: cursor.at, elements };
}

function readElement(cursor: JsonCursor, wanted: Members): JsonElement {
  if (nextSign(cursor) !== sign.openObject) throw broken(cursor);
  const { bytes, at: start, breaks } = cursor;
  const places = new Uint32Array(wanted.names.length * 2);
  eachMember(cursor, 2, wanted, (index) => {
    nextSign(cursor);
    const from = cursor.at;
    passValue(cursor, 3);
    if (index < 0) return;
    places[index * 2] = from - start;
    places[index * 2 + 1] = cursor.at - start;
  });
  const element = bytes.subarray(start, cursor.at);
  if (cursor.breaks === breaks) return new JsonElement(element, wanted.names, places);
  return readElement(cursorIn(withoutBlanks(element)), wanted);
}

/** Calls `value` before the value of each member, with the index of its name, or -1; `value` passes the value. */
function eachMember(cursor: JsonCursor, depth: number, wanted: Members, value: (index: number) => void): void {
  descend(cursor, depth);
  if (passEmpty(cursor, sign.closeObject)) return;
  do {
    if (nextSign(cursor) !== sign.quote) throw broken(cursor);
    const index = passName(cursor, wanted);
    passSign(cursor, sign.colon);
    value(index);
  } while (passComma(cursor, sign.closeObject));
}

/** The members whose places are noted, by the number of bytes of their names. */
interface Members {
  readonly names: readonly string[];
  readonly byLength: readonly (readonly { readonly name: Buffer; readonly index: number }[] | undefined)[];
}

function membersIn(names: readonly string[]): Members {
  const all = names.map((name, index) => ({ name: Buffer.from(name), index }));
  const longest = Math.max(0, ...all.map(({ name }) => name.length));
  const byLength = Array.from({ length: longest + 1 }, (_, length) => {
    const some = all.filter(({ name }) => name.length === length);
    return some.length > 0 ? some : undefined;
  });
  return { names, byLength };
}

/** Passes the name of a member; its index, or -1. */
function passName(cursor: JsonCursor, { names, byLength }: Members): number {
  const { bytes, at: start, escapes } = cursor;
  passString(cursor);
  if (cursor.escapes > escapes) return names.indexOf(String(parseJson(textOf(bytes, start, cursor.at))));
  for (const { name, index } of byLength[cursor.at - start - 2] ?? []) {
    let at = 0;
    while (at < name.length && name[at] === bytes[start + 1 + at]) at += 1;
    if (at === name.length) return index;
  }
  return -1;
}

/** The same value without the blanks between its tokens. */
function withoutBlanks(element: Uint8Array): Uint8Array {
  const kept = Buffer.alloc(element.length);
  const cursor = cursorIn(element);
  let length = 0;
  while (nextSign(cursor) !== 0) {
    const start = cursor.at;
    if (element[start] === sign.quote) passString(cursor);
    else cursor.at += 1;
    kept.set(element.subarray(start, cursor.at), length);
    length += cursor.at - start;
  }
  return kept.subarray(0, length);
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

function hasMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8', start, end);
}
