import { isUtf8 } from 'node:buffer';
import { JsonElement, textOf, type ElementPlaces } from './json-element.ts';
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
  const page = { document: cursor.bytes, names: wanted.names, places: [] };
  const elements: JsonElement[] = [];
  descend(cursor, 1);
  if (!passEmpty(cursor, sign.close)) {
    do elements.push(readElement(cursor, wanted, page));
    while (passComma(cursor, sign.close));
  }
  return { from, to: cursor.at, elements };
}

function readElement(cursor: JsonCursor, wanted: Members, page: ElementPlaces): JsonElement {
  if (nextSign(cursor) !== sign.openObject) throw broken(cursor);
  const { at: start, breaks } = cursor;
  const { places } = page;
  const at = places.length;
  places.push(start, 0, ...wanted.none);
  eachMember(cursor, 2, wanted, (index) => {
    nextSign(cursor);
    const from = cursor.at;
    passValue(cursor, 3);
    if (index < 0) return;
    places[at + 2 + index * 2] = from;
    places[at + 3 + index * 2] = cursor.at;
  });
  places[at + 1] = cursor.at;
  if (cursor.breaks === breaks) return new JsonElement(page, at);
  const document = withoutBlanks(cursor.bytes.subarray(start, cursor.at));
  return readElement(cursorIn(document), wanted, { document, names: wanted.names, places: [] });
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
  /** Two zeros for each name. */
  readonly none: readonly number[];
  readonly byLength: readonly (readonly { readonly name: Buffer; readonly index: number }[] | undefined)[];
}

function membersIn(names: readonly string[]): Members {
  const all = names.map((name, index) => ({ name: Buffer.from(name), index }));
  const longest = Math.max(0, ...all.map(({ name }) => name.length));
  const byLength = Array.from({ length: longest + 1 }, (_, length) => {
    const some = all.filter(({ name }) => name.length === length);
    return some.length > 0 ? some : undefined;
  });
  return { names, none: names.flatMap(() => [0, 0]), byLength };
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

function hasMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
