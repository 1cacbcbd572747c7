import { unless } from './failure.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON.parse, but integers beyond 2^53 become `bigint`. @throws SyntaxError, also for a document nested too deep */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw tooDeep();
  if (!longNumber.test(text) || text.includes(mark)) return JSON.parse(text);
  const marked = text.replace(stringOrNumber, (token) =>
    /^-?[1-9]\d{15,}$/.test(token) && String(Number(token)) !== token ? `"${mark}${token}"` : token,
  );
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && markedText.test(value) ? BigInt(value.slice(mark.length)) : value,
  );
}

/** The value that a text is as JSON; undefined where it is none. */
export function jsonIn(text: string): { readonly value: unknown } | undefined {
  return unless(SyntaxError, () => ({ value: parseJson(text) }));
}

/** `indent` as in JSON.stringify. A value that JSON cannot hold (undefined at the top) is written as null. */
export function writeJson(value: unknown, indent?: number): string {
  if (value === undefined) return 'null';
  return unless(TypeError, () => JSON.stringify(value, undefined, indent)) ?? writeMarked(value, indent);
}

/** JSON.stringify refuses a bigint. A replacer makes each value slower, so it is used only where there is one. */
function writeMarked(value: unknown, indent: number | undefined): string {
  const marked = (_key: string, item: unknown): unknown => (typeof item === 'bigint' ? `${mark}${item}` : item);
  return JSON.stringify(value, marked, indent).replace(markedInteger, '$1');
}

/** Far more than a document of either service has; a few thousand levels exhaust the stack of recursive code. */
export const maxDepth = 500;

export function tooDeep(): SyntaxError {
  return new SyntaxError(`it is nested more than ${maxDepth} levels deep`);
}

/** True if a document is too deep to be parsed: 60 MiB of `[` would take 2.7 GB. Linear in its length. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === sign.quote) at = endOfString(text, at);
    else if (code === sign.open || code === sign.openObject) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (code === sign.close || code === sign.closeObject) depth -= 1;
  }
  return false;
}

/** The signs that give a document its structure, as codes of UTF-8 and UTF-16. */
export const sign = {
  quote: 0x22,
  backslash: 0x5c,
  open: 0x5b,
  close: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/** The position of the quotation mark that ends the string; the end of the text where none does. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === sign.backslash) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

/** A number that may lose digits. What precedes it excludes most digits inside strings, such as those of a hash. */
const longNumber = /(?:^|[\s,:[])-?[1-9]\d{15}/;

/** Private-use characters that no field of either service begins with. */
const mark = '\uE0B1big\uE0B1';
const markedText = new RegExp(`^${mark}-?\\d+$`);
const markedInteger = new RegExp(`"${mark}(-?\\d+)"`, 'g');
/** A string is matched in runs: one choice a character would overflow the stack. An open string matches to the end. */
const stringOrNumber = /"[^"\\]*(?:\\[^][^"\\]*)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
