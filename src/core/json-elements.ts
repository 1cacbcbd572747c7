import { isUtf8 } from 'node:buffer';
import { isObject, parseJson } from './json.ts';
import {
  broken,
  endOfBlanks,
  endOfString,
  endOfValue,
  integerOf,
  isRepeated,
  passSign,
  sign,
  startInside,
  startOfValue,
  textOf,
  withoutBlanks,
} from './json-syntax.ts';

/** A document that is an object, one of whose members is an array of objects. */
interface JsonEnvelope {
  /** The document with an empty array in place of the elements. */
  readonly rest: string;
  readonly elements: readonly JsonElement[];
}

/**
 * The objects in the array `name` of a document, unchanged but for line breaks, with the places of `memberNames`. The
 * grammar of all of it is checked; only what a caller asks for is parsed.
 * @throws SyntaxError where the document has no such array of objects, is not JSON, or is nested too deep
 */
export function elementsOf(document: Uint8Array, name: string, memberNames: readonly string[]): JsonEnvelope {
  const bytes = isUtf8(document) ? document : Buffer.from(new TextDecoder().decode(document));
  const mark = Buffer.from('\uFEFF');
  let kept = endOfBlanks(bytes, mark.every((byte, at) => byte === bytes[at]) ? mark.length : 0);
  let rest = '';
  let found: FoundElements | undefined;
  let at = startInside(bytes, kept, sign.openObject, 0);
  for (let isOpen = bytes[at] !== sign.closeObject; isOpen;) {
    const nameEnd = endOfString(bytes, at);
    const value = startOfValue(bytes, nameEnd);
    const isSought = parseJson(textOf(bytes, at, nameEnd)) === name;
    const array = isSought ? readElements(bytes, value, memberNames) : undefined;
    if (array) {
      rest += textOf(bytes, kept, value + 1);
      kept = array.end - 1;
      found = array;
    }
    at = endOfBlanks(bytes, array?.end ?? endOfValue(bytes, value, 1));
    isOpen = bytes[at] === sign.comma;
    if (isOpen) at = endOfBlanks(bytes, at + 1);
  }
  const end = endOfBlanks(bytes, passSign(bytes, at, sign.closeObject));
  if (end < bytes.length) throw broken(end);
  if (!found) throw new SyntaxError(`it has no '${name}'`);
  // Line breaks of a document that is JSON are between its tokens.
  if (bytes.includes(0x0a) || bytes.includes(0x0d)) return elementsOf(withoutBlanks(bytes), name, memberNames);
  const page = { document: bytes, names: memberNames, places: found.places };
  return {
    rest: rest + textOf(bytes, kept, end),
    elements: Array.from({ length: found.count }, (_, row) => new JsonElement(page, row)),
  };
}

/** Where the elements of an array are in a document, and the values of their noted members. */
interface JsonElements {
  readonly document: Uint8Array;
  readonly names: readonly string[];
  /** For each element its start and end, then start and end of the value of each name, 0 and 0 where there is none. */
  readonly places: ArrayLike<number>;
}

/** Places of an element: its own two, and two for each name. */
function rowSizeOf(names: readonly unknown[]): number {
  return 2 + 2 * names.length;
}

/** An object of JSON as its bytes, without a line break. A typed array for each would make V8's heap grow by 40 MB. */
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
    return new JsonElement({ document, names: [], places: [0, document.length] }, 0);
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
    if (end === 0) return undefined;
    return integerOf(document, start, end) ?? parseJson(textOf(document, start, end));
  }

  /** The value of any member; one whose place was not noted is found by parsing the object. */
  member(name: string): unknown {
    if (this.#page.names.includes(name)) return this.read(name);
    const object = this.parse();
    return isObject(object) ? object[name] : undefined;
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

interface FoundElements extends Pick<JsonElements, 'places'> {
  readonly count: number;
  /** Where the array ends. */
  readonly end: number;
}

/** The elements of the array that begins at `start`, each an object. */
function readElements(bytes: Uint8Array, start: number, names: readonly string[]): FoundElements {
  const members: Members = { names, known: [] };
  const rowSize = rowSizeOf(names);
  let places = new Int32Array(usualElements * rowSize);
  let count = 0;
  let at = startInside(bytes, start, sign.open, 1);
  for (let isOpen = bytes[at] !== sign.close; isOpen; count += 1) {
    const row = count * rowSize;
    if (row === places.length) {
      const more = new Int32Array(places.length * 2);
      more.set(places);
      places = more;
    }
    places[row] = at;
    at = endOfElement(bytes, at, members, places, row);
    places[row + 1] = at;
    at = endOfBlanks(bytes, at);
    isOpen = bytes[at] === sign.comma;
    if (isOpen) at = endOfBlanks(bytes, at + 1);
  }
  return { places, count, end: passSign(bytes, at, sign.close) };
}

/** A member as the last element that has it holds it. */
interface Member {
  /** Which of the noted names it has, or -1. */
  readonly index: number;
  /** From the beginning of its name to behind the colon. */
  readonly nameLength: number;
  /** Where its name begins. */
  at: number;
  /** From the beginning of its name to the end of its value. */
  length: number;
}

/** More members than a message has; of an object with more, those beyond are read each time. */
const mostKnown = 64;

/** What is known of the elements before, in the order in which it came. */
interface Members {
  readonly names: readonly string[];
  readonly known: Member[];
}

/**
 * Writes the places of the named members of the object at `start`; returns its end. Bytes that equal those of the
 * element before are not read again: without this a page of messages takes 1.7 times as long.
 */
function endOfElement(
  bytes: Uint8Array,
  start: number,
  { names, known }: Members,
  places: Int32Array,
  row: number,
): number {
  let at = startInside(bytes, start, sign.openObject, 2);
  let expected = 0;
  for (let isOpen = bytes[at] !== sign.closeObject; isOpen;) {
    const place = placeOfMember(bytes, at, known, expected);
    const member = known[place] ?? readMember(bytes, at, names);
    if (place === known.length && place < mostKnown) known.push(member);
    expected = place + 1;
    const end = endOfMember(bytes, at, member);
    if (member.index >= 0) {
      places[row + 2 + member.index * 2] = endOfBlanks(bytes, at + member.nameLength);
      places[row + 3 + member.index * 2] = end;
    }
    at = endOfBlanks(bytes, end);
    isOpen = bytes[at] === sign.comma;
    if (isOpen) at = endOfBlanks(bytes, at + 1);
  }
  return passSign(bytes, at, sign.closeObject);
}

/** The number of the known member whose name begins at `at`, the expected one first; their count for any other. */
function placeOfMember(bytes: Uint8Array, at: number, known: readonly Member[], expected: number): number {
  for (let count = 0; count < known.length; count += 1) {
    const place = (expected + count) % known.length;
    const member = known[place];
    if (member && isRepeated(bytes, at, member.at, member.nameLength)) return place;
  }
  return known.length;
}

/** The end of the member at `at`, whose name is known; its value is remembered. */
function endOfMember(bytes: Uint8Array, at: number, member: Member): number {
  const { nameLength, at: earlier, length } = member;
  // The byte behind the value too: a number might go on there.
  const isKnown = isRepeated(bytes, at + nameLength, earlier + nameLength, length - nameLength + 1);
  if (!isKnown) member.length = endOfValue(bytes, endOfBlanks(bytes, at + nameLength), 3) - at;
  member.at = at;
  return at + member.length;
}

function readMember(bytes: Uint8Array, at: number, names: readonly string[]): Member {
  const nameEnd = endOfString(bytes, at);
  const index = names.indexOf(String(parseJson(textOf(bytes, at, nameEnd))));
  const value = passSign(bytes, endOfBlanks(bytes, nameEnd), sign.colon);
  return { index, nameLength: value - at, at, length: endOfValue(bytes, endOfBlanks(bytes, value), 3) - at };
}
