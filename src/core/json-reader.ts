import { isUtf8 } from 'node:buffer';
import { parseJson } from './json.ts';
import { JsonElement, readElements, type JsonElements } from './json-elements.ts';
import {
  broken,
  endOfBlanks,
  endOfMark,
  endOfString,
  endOfValue,
  passSign,
  sign,
  startInside,
  startOfValue,
  textOf,
  withoutBlanks,
} from './json-syntax.ts';

/**
 * Where the elements of an array begin and end, in a document that is whole or that comes in chunks. All of it is checked by the grammar of
 * JSON; nothing of it is changed, and only what a caller asks for is parsed.
 */

/** A document that is an object, one of whose members is an array of objects. */
interface JsonEnvelope {
  /** The document with an empty array in place of the elements. */
  readonly rest: string;
  readonly elements: readonly JsonElement[];
}

/**
 * The objects in the array `name` of a whole document, each without a line break, with the places of the members `memberNames`. Of two
 * members of one name the last counts, as everywhere.
 * @throws SyntaxError where the document is not JSON, is no object, or has no such array of objects
 */
export function elementsOf(document: Uint8Array, name: string, memberNames: readonly string[]): JsonEnvelope {
  const bytes = isUtf8(document) ? document : Buffer.from(new TextDecoder().decode(document));
  const reader = readerOf({ array: name, names: memberNames });
  const run = reader.end(bytes).at(-1);
  if (!run) throw new SyntaxError(`it has no '${name}'`);
  // Line breaks of a document that is JSON are between its tokens.
  if (bytes.includes(0x0a) || bytes.includes(0x0d)) return elementsOf(withoutBlanks(bytes), name, memberNames);
  return { rest: reader.rest(), elements: Array.from({ length: run.count }, (_, row) => new JsonElement(run, row)) };
}

/** Elements of an array of a document. */
export interface JsonRun extends JsonElements {
  /** The member that the array is; undefined: the document is the array. */
  readonly array: string | undefined;
  /** The place of that member in the document, from 0 on: of two members of one name the last counts. */
  readonly index: number;
}

/** What a reader looks for; without an array: each array that is a member of the document, or the document itself. */
interface Sought {
  /** The member that is an array of objects. */
  readonly array?: string;
  /** Members of the objects whose places are noted. */
  readonly names: readonly string[];
}

/** Reads a document piece by piece. Each call returns the elements that are whole by now, at least one run for each array. */
interface JsonReader {
  /** @throws SyntaxError where what is begun becomes larger than 16 MiB: an element, or what is beside the arrays */
  read(chunk: Uint8Array): readonly JsonRun[];
  /** @throws SyntaxError where the document is not JSON, or is nested too deep */
  end(last?: Uint8Array): readonly JsonRun[];
  /** The document with an empty array in place of each that was read. */
  rest(): string;
}

const mostBegun = 16 * 1024 * 1024;

export function readerOf(sought: Sought = { names: [] }): JsonReader {
  const input: JsonInput = { bytes: new Uint8Array(), at: 0, isWhole: false, rest: '' };
  const runs = readDocument(input, sought);
  let chunks: Uint8Array[] = [];
  let needed = 0;

  const read = (): readonly JsonRun[] => {
    input.bytes = joined([input.bytes.subarray(input.at), ...chunks]);
    input.at = 0;
    chunks = [];
    const found: JsonRun[] = [];
    for (let next = runs.next(); !next.done && next.value; next = runs.next()) found.push(next.value);
    return found;
  };

  return {
    read(chunk) {
      chunks.push(chunk);
      needed -= chunk.length;
      if (needed > 0) return [];
      const found = read();
      const begun = input.bytes.length - input.at;
      if (Math.max(begun, input.rest.length) > mostBegun)
        throw new SyntaxError('an element of it is larger than 16 MiB');
      // What is begun is looked at again from its beginning, so it must have grown.
      needed = begun;
      return found;
    },
    end(last = new Uint8Array()) {
      chunks.push(last);
      input.isWhole = true;
      return read();
    },
    rest: () => input.rest,
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(), ...others] = parts.filter(({ length }) => length > 0);
  return others.length === 0 ? first : Buffer.concat([first, ...others]);
}

/** How far a document has been read. */
interface JsonInput {
  bytes: Uint8Array;
  /** What is before this place is not looked at again. */
  at: number;
  /** Whether the document ends where the bytes do. */
  isWhole: boolean;
  /** The text beside the arrays. */
  rest: string;
}

/** Work that yields undefined where it needs more bytes. */
type JsonWork<T, Y = undefined> = Generator<Y | undefined, T, undefined>;

function* readDocument(input: JsonInput, sought: Sought): JsonWork<void, JsonRun> {
  yield* keep(input, endOfMark);
  input.rest = '';
  yield* keep(input, endOfBlanks);
  const first = input.bytes[input.at];
  if (sought.array !== undefined || first === sign.openObject) yield* readMembers(input, sought);
  else if (first === sign.open) yield* readArray(input, sought, { array: undefined, index: 0, depth: 0 });
  else yield* keep(input, (bytes, at) => endOfValue(bytes, at, 0));
  yield* keep(input, endOfBlanks);
  if (input.at < input.bytes.length) throw broken(input.at);
}

function* readMembers(input: JsonInput, sought: Sought): JsonWork<void, JsonRun> {
  yield* keep(input, (bytes, at) => startInside(bytes, at, sign.openObject, 0));
  let index = 0;
  for (let isOpen = input.bytes[input.at] !== sign.closeObject; isOpen;) {
    const start = yield* keep(input, (bytes, at) => startOfValue(bytes, endOfString(bytes, at)));
    const array = String(parseJson(textOf(input.bytes, start, endOfString(input.bytes, start))));
    const isSought = sought.array === undefined ? input.bytes[input.at] === sign.open : sought.array === array;
    if (isSought) yield* readArray(input, sought, { array, index, depth: 1 });
    else yield* keep(input, (bytes, at) => endOfValue(bytes, at, 1));
    index += 1;
    yield* keep(input, endOfBlanks);
    isOpen = input.bytes[input.at] === sign.comma;
    if (isOpen) yield* keep(input, (bytes, at) => endOfBlanks(bytes, at + 1));
  }
  yield* keep(input, (bytes, at) => passSign(bytes, at, sign.closeObject));
}

/**
 * Goes behind what `endOf` finds the end of, and keeps its text. That is whole where a byte follows it, since a number may go on in the
 * next chunk; an error may come from the cut.
 * @returns where it began
 */
function* keep(input: JsonInput, endOf: (bytes: Uint8Array, start: number) => number): JsonWork<number> {
  for (;;) {
    const { bytes, at, isWhole } = input;
    try {
      const end = endOf(bytes, at);
      if (end < bytes.length || isWhole) {
        input.rest += textOf(bytes, at, end);
        input.at = end;
        return at;
      }
    } catch (cause) {
      if (isWhole || !(cause instanceof SyntaxError)) throw cause;
    }
    yield;
  }
}

/** An array whose elements are looked for; `depth` is the number of objects and arrays around it. */
type ArrayPlace = Pick<JsonRun, 'array' | 'index'> & { readonly depth: number };

function* readArray(input: JsonInput, sought: Sought, { array, index, depth }: ArrayPlace): JsonWork<void, JsonRun> {
  yield* keep(input, (bytes, at) => startInside(bytes, at, sign.open, depth));
  const { names } = sought;
  const members = sought.array === undefined ? undefined : names;
  let isOpen = input.bytes[input.at] !== sign.close;
  if (!isOpen) yield { array, index, document: input.bytes, names, places: [], count: 0 };
  while (isOpen) {
    const { places, count, next, isEnded } = readElements(input, depth + 1, members);
    yield { array, index, document: input.bytes, names, places, count };
    input.at = next;
    isOpen = !isEnded;
    if (isOpen) yield;
  }
  yield* keep(input, (bytes, at) => passSign(bytes, at, sign.close));
}
