/**
 * JSON that keeps integers beyond 2^53: they are read as `bigint` and written digit for digit, so that a server's number is
 * never rewritten (contract, section 3). Everything else is the platform's JSON.
 * @throws SyntaxError as JSON.parse does
 */
export function parseJson(text: string): unknown {
  if (!/\d{16}/.test(text) || text.includes(mark)) return JSON.parse(text);
  const marked = text.replace(stringOrNumber, (token) => (isExact(token) ? token : `"${mark}${token}"`));
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && markedText.test(value) ? BigInt(value.slice(mark.length)) : value,
  );
}

/** `indent` as in JSON.stringify. A value that JSON cannot hold (undefined at the top) is written as null. */
export function writeJson(value: unknown, indent?: number): string {
  const found: bigint[] = [];
  const marked = (_key: string, item: unknown): unknown => {
    if (typeof item !== 'bigint') return item;
    found.push(item);
    return `${mark}${item}`;
  };
  const text = JSON.stringify(value, marked, indent) as string | undefined;
  if (text === undefined) return 'null';
  return found.length > 0 ? text.replace(markedInteger, '$1') : text;
}

/** Private-use characters that no field of either service begins with. */
const mark = '\uE0B1big\uE0B1';
const markedText = new RegExp(`^${mark}-?\\d+$`);
const markedInteger = new RegExp(`"${mark}(-?\\d+)"`, 'g');
/** A string is matched in runs, since one choice a character would overflow the stack on a long text; an open one to the end. */
const stringOrNumber = /"[^"\\]*(?:\\[^][^"\\]*)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function isExact(token: string): boolean {
  return !/^-?[1-9]\d{15,}$/.test(token) || String(Number(token)) === token;
}
