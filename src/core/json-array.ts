import { parseJson } from './json.ts';
import { textOf } from './json-element.ts';
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
} from './json-syntax.ts';

/** An array of objects in a document. */
export interface FoundArray {
  readonly start: number;
  readonly end: number;
  readonly count: number;
  /** A row for each element, as in ElementPlaces. */
  readonly places: Int32Array;
}

/**
 * The array of objects that begins at `start`, and where the named members of each are.
 * @throws SyntaxError for what is no array of objects
 */
export function readArray(bytes: Uint8Array, start: number, members: Names): FoundArray {
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
export function readElement(bytes: Uint8Array, start: number, members: Names, places: Int32Array, row: number): number {
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
export interface Names {
  readonly names: readonly string[];
  readonly byLength: readonly (readonly { readonly name: Buffer; readonly index: number }[] | undefined)[];
  /** Places of an element: its own two, and two for each name. */
  readonly rowSize: number;
}

export function namesIn(names: readonly string[]): Names {
  const all = names.map((name, index) => ({ name: Buffer.from(name), index }));
  const longest = Math.max(0, ...all.map(({ name }) => name.length));
  const byLength = Array.from({ length: longest + 1 }, (_, length) => {
    const some = all.filter(({ name }) => name.length === length);
    return some.length > 0 ? some : undefined;
  });
  return { names, byLength, rowSize: 2 + 2 * names.length };
}

/** Which of the names the string is that begins at `start`, or -1; `plainEnd` is before its end where it has an escape. */
export function indexOfName(bytes: Uint8Array, start: number, plainEnd: number, end: number, names: Names): number {
  if (plainEnd + 1 < end) return names.names.indexOf(String(parseJson(textOf(bytes, start, end))));
  const some = names.byLength[end - start - 2];
  for (let at = 0; some && at < some.length; at += 1) {
    const candidate = some[at];
    if (candidate && isAt(bytes, start + 1, candidate.name)) return candidate.index;
  }
  return -1;
}
