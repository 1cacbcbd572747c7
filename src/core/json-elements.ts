import { isUtf8 } from 'node:buffer';
import { JsonElement, textOf } from './json-element.ts';
import { indexOfName, namesIn, readArray, readElement, type FoundArray, type Names } from './json-array.ts';
import {
  broken,
  endOfBlanks,
  endOfPlain,
  endOfString,
  endOfValue,
  passSign,
  sign,
  startInside,
  startOfValue,
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
  const start = hasMark(bytes) ? 3 : 0;
  const members = namesIn(memberNames);
  const found = findArray(bytes, start, namesIn([name]), members);
  if (!found) throw new SyntaxError(`it has no '${name}'`);
  const rest = `${textOf(bytes, start, found.start)}[]${textOf(bytes, found.end, bytes.length)}`;
  const elements = elementsIn(bytes, members, found);
  return { rest, elements: hasBreaks(bytes) ? elements.map((element) => onOneLine(element, members)) : elements };
}

function elementsIn(document: Uint8Array, { names, rowSize }: Names, { count, places }: FoundArray): JsonElement[] {
  const page = { document, names, places };
  return Array.from({ length: count }, (_, index) => new JsonElement(page, index * rowSize));
}

/** The array that is the last member of the name in `wanted`; undefined where the object has none. */
function findArray(bytes: Uint8Array, start: number, wanted: Names, members: Names): FoundArray | undefined {
  let found: FoundArray | undefined;
  let at = startInside(bytes, endOfBlanks(bytes, start), sign.openObject, 0);
  for (let isOpen = bytes[at] !== sign.closeObject; isOpen;) {
    const plainEnd = endOfPlain(bytes, at + 1);
    const nameEnd = endOfString(bytes, at, plainEnd);
    const value = startOfValue(bytes, nameEnd);
    const isWanted = indexOfName(bytes, at, plainEnd, nameEnd, wanted) === 0;
    const array = isWanted ? readArray(bytes, value, members) : undefined;
    found = array ?? found;
    at = endOfBlanks(bytes, array?.end ?? endOfValue(bytes, value, 1));
    isOpen = bytes[at] === sign.comma;
    if (isOpen) at = endOfBlanks(bytes, at + 1);
  }
  const end = endOfBlanks(bytes, passSign(bytes, at, sign.closeObject));
  if (end < bytes.length) throw broken(end);
  return found;
}

/** Line breaks of a document that is JSON are between its tokens. */
function hasBreaks(bytes: Uint8Array): boolean {
  return bytes.includes(0x0a) || bytes.includes(0x0d);
}

/** The element without its line breaks, and then without all blanks between its tokens. */
function onOneLine(element: JsonElement, members: Names): JsonElement {
  if (!hasBreaks(element.bytes)) return element;
  const document = withoutBlanks(element.bytes);
  const places = new Int32Array(members.rowSize);
  readElement(document, 0, members, places, 0);
  return new JsonElement({ document, names: members.names, places }, 0);
}

/** The same value without the blanks between its tokens. */
function withoutBlanks(element: Uint8Array): Uint8Array {
  const kept = Buffer.alloc(element.length);
  let length = 0;
  for (let start = 0; start < element.length;) {
    const end = element[start] === sign.quote ? endOfString(element, start) : start + 1;
    kept.set(element.subarray(start, end), length);
    length += end - start;
    start = endOfBlanks(element, end);
  }
  return kept.subarray(0, length);
}

function hasMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
