import { maxDepth } from './json.ts';

/*
 * The grammar of RFC 8259 over bytes. Each function takes where something begins and returns where it ends, the place behind its last
 * byte; the text of strings is not decoded. A position is a number and not a cursor that is passed around, and no function is passed:
 * that makes a scan twice as fast.
 */

export const sign = {
  quote: 0x22,
  backslash: 0x5c,
  comma: 0x2c,
  colon: 0x3a,
  open: 0x5b,
  close: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

const { quote, backslash, comma, colon, open, close, openObject, closeObject } = sign;
const [tab, newline, carriageReturn, space] = [0x09, 0x0a, 0x0d, 0x20];
const [minus, plus, point, zero, nine] = [0x2d, 0x2b, 0x2e, 0x30, 0x39];
/** By their first letter. */
const keywords = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]));

/**
 * The end of the value at `start`, below `depth` objects and arrays.
 * @throws SyntaxError for no value, or one too deep
 */
export function endOfValue(bytes: Uint8Array, start: number, depth: number): number {
  const first = bytes[start] ?? 0;
  if (first === quote) return endOfString(bytes, start);
  if (first === openObject) return endOfObject(bytes, start, depth);
  if (first === open) return endOfArray(bytes, start, depth);
  if (first === minus || isDigit(first)) return endOfNumber(bytes, start);
  return endOfKeyword(bytes, start);
}

/** The end of the string that begins at `start`. @throws SyntaxError for control characters and unknown escapes */
export function endOfString(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== quote) throw broken(start);
  let at = endOfPlain(bytes, start + 1);
  while (bytes[at] === backslash) at = endOfPlain(bytes, at + escapeLength(bytes, at));
  return passSign(bytes, at, quote);
}

/** The first place from `start` on with a quotation mark, a backslash or a control character. */
function endOfPlain(bytes: Uint8Array, start: number): number {
  let at = start;
  for (const end = start + shortText; at < end; at += 1) if (!isPlain(bytes[at] ?? 0)) return at;
  const words = wordsOf(bytes);
  for (const last = bytes.length - 4; at <= last && isPlainWord(words.getInt32(at));) at += 4;
  while (isPlain(bytes[at] ?? 0)) at += 1;
  return at;
}

/** A longer string is read by four bytes at a time: byte by byte a page of messages takes 1.25 times as long. */
const shortText = 24;

/** Comparisons are twice as fast as a table of 256. */
function isPlain(byte: number): boolean {
  return byte >= space && byte !== quote && byte !== backslash;
}

/** Whether four bytes are plain: where one is below n, `word - n` in each byte borrows from its highest bit. */
function isPlainWord(word: number): boolean {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const found =
    ((word - 0x20202020) & ~word) | ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes);
  return (found & 0x80808080) === 0;
}

/** Whether the `length` bytes at `at` are those that are at `earlier` too. */
export function isRepeated(bytes: Uint8Array, at: number, earlier: number, length: number): boolean {
  if (at + length > bytes.length) return false;
  const words = wordsOf(bytes);
  let done = 0;
  for (; done + 4 <= length; done += 4) if (words.getInt32(at + done) !== words.getInt32(earlier + done)) return false;
  while (done < length && bytes[at + done] === bytes[earlier + done]) done += 1;
  return done === length;
}

let words = new DataView<ArrayBufferLike>(new ArrayBuffer(0));
let wordsBytes: Uint8Array = new Uint8Array();

/** The same bytes, four at a time. A page is read by many calls: its view is made at the first. */
function wordsOf(bytes: Uint8Array): DataView {
  if (wordsBytes !== bytes) {
    wordsBytes = bytes;
    words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }
  return words;
}

/** The first place from `start` on that is no blank; the end of the document where there is none. */
export function endOfBlanks(bytes: Uint8Array, start: number): number {
  let at = start;
  // A read beyond the end would make every read slower.
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte > space || (byte !== space && byte !== newline && byte !== carriageReturn && byte !== tab)) break;
  }
  return at;
}

/** Where the value of a member begins whose name ends at `nameEnd`. @throws SyntaxError where no colon is between */
export function startOfValue(bytes: Uint8Array, nameEnd: number): number {
  return endOfBlanks(bytes, passSign(bytes, endOfBlanks(bytes, nameEnd), colon));
}

/** The place behind this sign. @throws SyntaxError where another one is at `at` */
export function passSign(bytes: Uint8Array, at: number, wanted: number): number {
  if (bytes[at] !== wanted) throw broken(at);
  return at + 1;
}

/**
 * The first place inside an object or array that is no blank.
 * @throws SyntaxError for another sign, or beyond the depth
 */
export function startInside(bytes: Uint8Array, start: number, opening: number, depth: number): number {
  const inside = passSign(bytes, start, opening);
  if (depth >= maxDepth) throw new SyntaxError(`it is nested more than ${maxDepth} levels deep`);
  return endOfBlanks(bytes, inside);
}

function endOfObject(bytes: Uint8Array, start: number, depth: number): number {
  let at = startInside(bytes, start, openObject, depth);
  for (let isOpen = bytes[at] !== closeObject; isOpen;) {
    at = endOfValue(bytes, startOfValue(bytes, endOfString(bytes, at)), depth + 1);
    at = endOfBlanks(bytes, at);
    isOpen = bytes[at] === comma;
    if (isOpen) at = endOfBlanks(bytes, at + 1);
  }
  return passSign(bytes, at, closeObject);
}

function endOfArray(bytes: Uint8Array, start: number, depth: number): number {
  let at = startInside(bytes, start, open, depth);
  for (let isOpen = bytes[at] !== close; isOpen;) {
    at = endOfBlanks(bytes, endOfValue(bytes, at, depth + 1));
    isOpen = bytes[at] === comma;
    if (isOpen) at = endOfBlanks(bytes, at + 1);
  }
  return passSign(bytes, at, close);
}

function endOfNumber(bytes: Uint8Array, start: number): number {
  const first = bytes[start] === minus ? start + 1 : start;
  let at = bytes[first] === zero ? first + 1 : endOfDigits(bytes, first);
  if (bytes[at] === point) at = endOfDigits(bytes, at + 1);
  if (((bytes[at] ?? 0) | 0x20) !== 0x65) return at;
  at += 1;
  return endOfDigits(bytes, bytes[at] === minus || bytes[at] === plus ? at + 1 : at);
}

/** At least one. */
function endOfDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isDigit(bytes[at] ?? 0)) at += 1;
  if (at === start) throw broken(at);
  return at;
}

/** The integer of at most 15 digits that is written here: `JSON.parse` takes ten times as long. */
export function integerOf(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end - start > 15) return undefined;
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (!isDigit(byte)) return undefined;
    value = value * 10 + byte - zero;
  }
  return value;
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= nine;
}

function endOfKeyword(bytes: Uint8Array, start: number): number {
  const word = keywords.get(bytes[start] ?? 0);
  if (!word?.every((byte, at) => byte === bytes[start + at])) throw broken(start);
  return start + word.length;
}

const escapes = new Set(Buffer.from('"\\/bfnrt'));

function escapeLength(bytes: Uint8Array, at: number): number {
  const letter = bytes[at + 1] ?? 0;
  if (escapes.has(letter)) return 2;
  const isUnicode = letter === 0x75 && [2, 3, 4, 5].every((place) => isHex(bytes[at + place] ?? 0));
  if (!isUnicode) throw broken(at);
  return 6;
}

function isHex(byte: number): boolean {
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}

/** What is at this place does not belong there. */
export function broken(at: number): SyntaxError {
  return new SyntaxError(`it is not JSON at byte ${at + 1}`);
}

/** The text of these bytes. */
export function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8', start, end);
}

/** The same document, which is JSON, without the blanks between its tokens. */
export function withoutBlanks(bytes: Uint8Array): Uint8Array {
  const kept = Buffer.alloc(bytes.length);
  let length = 0;
  for (let start = endOfBlanks(bytes, 0); start < bytes.length;) {
    const end = bytes[start] === sign.quote ? endOfString(bytes, start) : start + 1;
    kept.set(bytes.subarray(start, end), length);
    length += end - start;
    start = endOfBlanks(bytes, end);
  }
  return kept.subarray(0, length);
}
