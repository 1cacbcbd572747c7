import { isUtf8 } from 'node:buffer';
import { JsonElement, textOf } from './json-element.ts';
import { parseJson } from './json.ts';
import {
  broken,
  endOfBlanks,
  endOfPlain,
  endOfString,
  endOfValue,
  isAt,
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

interface FoundArray {
  readonly start: number;
  readonly end: number;
  readonly count: number;
  /** A row for each element, as in ElementPlaces. */
  readonly places: Int32Array;
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

function readArray(bytes: Uint8Array, start: number, members: Names): FoundArray {
  const { rowSize } = members;
  let places = new Int32Array(usualElements * rowSize);
  let count = 0;
  let at = startInside(bytes, start, sign.open, 1);
  for (let isOpen = bytes[at] !== sign.close; isOpen; count += 1) {
    const row = count * rowSize;
    if (row === places.length) places = twice(places);
    at = endOfBlanks(bytes, readElement(bytes, at, members, places, row));
    isOpen = bytes[at] === sign.comma;
    if (isOpen) at = endOfBlanks(bytes, at + 1);
  }
  return { start, end: passSign(bytes, at, sign.close), count, places };
}

/** As many as the largest page of messages has. */
const usualElements = 1000;

function twice(places: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(places.length * 2);
  larger.set(places);
  return larger;
}

/** Writes the row of the object that begins at `start`; where the object ends. */
function readElement(bytes: Uint8Array, start: number, members: Names, places: Int32Array, row: number): number {
  let at = startInside(bytes, start, sign.openObject, 2);
  for (let isOpen = bytes[at] !== sign.closeObject; isOpen;) {
    const plainEnd = endOfPlain(bytes, at + 1);
    const nameEnd = endOfString(bytes, at, plainEnd);
    const value = startOfValue(bytes, nameEnd);
    const end = endOfValue(bytes, value, 3);
    const index = indexOfName(bytes, at, plainEnd, nameEnd, members);
    if (index >= 0) {
      places[row + 2 + index * 2] = value;
      places[row + 3 + index * 2] = end;
    }
    at = endOfBlanks(bytes, end);
    isOpen = bytes[at] === sign.comma;
    if (isOpen) at = endOfBlanks(bytes, at + 1);
  }
  const end = passSign(bytes, at, sign.closeObject);
  places[row] = start;
  places[row + 1] = end;
  return end;
}

/** Names of members, by their number of bytes. */
interface Names {
  readonly names: readonly string[];
  readonly byLength: readonly (readonly { readonly name: Buffer; readonly index: number }[] | undefined)[];
  /** Places of an element: its own two, and two for each name. */
  readonly rowSize: number;
}

function namesIn(names: readonly string[]): Names {
  const all = names.map((name, index) => ({ name: Buffer.from(name), index }));
  const longest = Math.max(0, ...all.map(({ name }) => name.length));
  const byLength = Array.from({ length: longest + 1 }, (_, length) => {
    const some = all.filter(({ name }) => name.length === length);
    return some.length > 0 ? some : undefined;
  });
  return { names, byLength, rowSize: 2 + 2 * names.length };
}

/** Which of the names the string is that begins at `start`, or -1; `plainEnd` is before its end where it has an escape. */
function indexOfName(bytes: Uint8Array, start: number, plainEnd: number, end: number, names: Names): number {
  if (plainEnd + 1 < end) return names.names.indexOf(String(parseJson(textOf(bytes, start, end))));
  const some = names.byLength[end - start - 2];
  for (let at = 0; some && at < some.length; at += 1) {
    const candidate = some[at];
    if (candidate && isAt(bytes, start + 1, candidate.name)) return candidate.index;
  }
  return -1;
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
