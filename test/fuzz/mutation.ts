import { brotliCompressSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';

/** An answer as it goes over the wire, before its bytes are written. */
export interface Wire {
  readonly statusLine: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** How the connection ends after the bytes. */
  readonly end: 'close' | 'reset' | 'hang';
}

/** One change of an answer; a case is a few of them, so that it can be printed and repeated. */
export type Mutation =
  | { readonly kind: 'value'; readonly at: number; readonly to: string }
  | { readonly kind: 'key'; readonly at: number; readonly to: string }
  | { readonly kind: 'drop' | 'repeat'; readonly at: number }
  | { readonly kind: 'deep'; readonly levels: number; readonly open: '[' | '{"a":' }
  | { readonly kind: 'body'; readonly to: string }
  | { readonly kind: 'cut' | 'flip'; readonly at: number }
  | { readonly kind: 'insert'; readonly at: number; readonly bytes: readonly number[] }
  | { readonly kind: 'status'; readonly line: string }
  | { readonly kind: 'header'; readonly name: string; readonly value: string }
  | { readonly kind: 'length'; readonly value: string }
  | { readonly kind: 'encode'; readonly as: 'gzip' | 'br' | 'label only' | 'cut gzip' | 'twice' }
  | { readonly kind: 'end'; readonly as: Wire['end'] }
  | { readonly kind: 'echo'; readonly at: number };

/** JSON texts that replace a value. */
const values = [
  ...['null', 'true', 'false', '0', '-1', '1.5', '1e400', '9007199254740993', '-0', '""', '"x"', '[]', '{}', '[[]]'],
  ...['[null]', '{"a":{}}', '"\\u0000"', '"\\ud800"', '"\\u001b[2J\\u202e"', `"${'x'.repeat(5000)}"`, '"\\ufeff"'],
  ...['"https://elsewhere.example/?page=2"', '"?page=1"', '"http://["', '"1"', '"error"', '{"__proto__":{"x":1}}'],
];
const names = ['__proto__', 'constructor', 'toString', 'error', 'errors', 'detail', 'next', 'results', 'count', ''];
const bodies = [
  ...['', ' ', '\n', '<html><body>Log in</body></html>', '\ufeff[]', '\u0000', 'x'.repeat(100_000)],
  ...'null [ { " [1, {"a" 12 - NaN Infinity undefined []] {}{} [{}] [null] "K" [1e999] true'.split(' '),
];
const codes = [
  100, 101, 103, 199, 201, 202, 204, 205, 206, 226, 300, 301, 302, 304, 307, 308, 399, 400, 401, 402, 403, 404, 405,
  408, 409, 410, 413, 414, 418, 429, 451, 499, 500, 501, 502, 503, 504, 511, 599, 600, 999, -1,
];
const statuses = [
  ...codes.map((code) => `HTTP/1.1 ${code} x`),
  ...['HTTP/1.1 000 x', 'HTTP/1.1 abc', 'HTTP/1.1 ', 'HTTP/1.0 200 OK', 'HTTP/2 200', 'HTTP/9.9 200 OK', 'ICY 200 OK'],
  ...['garbage', ''],
];
const headers: readonly (readonly [string, string])[] = [
  ...['text/html', 'application/json; charset=utf-16', 'image/png', '', 'x'].map(
    (type) => ['content-type', type] as const,
  ),
  ...['0', '-1', '1e99', 'NaN', '0.001', '99999999999999999999', 'Mon, 16 Mar 2026 09:00:02 GMT', 'soon', ''].map(
    (wait) => ['retry-after', wait] as const,
  ),
  ...['/', 'https://elsewhere.example/', 'http://[', '', '//', 'javascript:x', '?', '#'].map(
    (target) => ['location', target] as const,
  ),
  ...['<?page=1>; rel=next', '<>; rel="next"', '<', '<http://[>; rel=next', '<a>;'.repeat(3000)].map(
    (link) => ['link', link] as const,
  ),
  ...['0-0/0', 'x 0-1/99', '*/5', 'x 5-1/-3', ''].map((range) => ['content-range', range] as const),
  ...['-1', '99999999', 'x'].map((total) => ['x-total-count', total] as const),
  ...['chunked', 'gzip, chunked', 'x'].map((coding) => ['transfer-encoding', coding] as const),
  ['x-big', 'y'.repeat(20_000)],
  ['x\u0001', 'z'],
  ['set-cookie', 'a=b'],
  ['connection', 'upgrade'],
];

const place = fc.nat(10_000);

/** Two or three changes now and then, one most of the time: a case that fails says why. */
export const mutations: fc.Arbitrary<readonly Mutation[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('value' as const), at: place, to: fc.constantFrom(...values) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('key' as const), at: place, to: fc.constantFrom(...names) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('drop' as const, 'repeat' as const), at: place }) },
    fc.record({
      kind: fc.constant('deep' as const),
      levels: fc.constantFrom(5, 500, 10_000, 200_000),
      open: fc.constantFrom('[' as const, '{"a":' as const),
    }),
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('body' as const), to: fc.constantFrom(...bodies) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('cut' as const, 'flip' as const), at: place }) },
    fc.record({
      ...{ kind: fc.constant('insert' as const), at: place },
      bytes: fc.array(fc.nat(255), { minLength: 1, maxLength: 4 }),
    }),
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('status' as const), line: fc.constantFrom(...statuses) }) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(...headers).map(([name, value]) => ({ kind: 'header' as const, name, value })),
    },
    fc.record({
      kind: fc.constant('length' as const),
      value: fc.constantFrom('0', '1', '7', '99999', '-1', 'x', '', '5, 6', '18446744073709551616'),
    }),
    fc.record({
      kind: fc.constant('encode' as const),
      as: fc.constantFrom('gzip' as const, 'br' as const, 'label only' as const, 'cut gzip' as const, 'twice' as const),
    }),
    fc.record({ kind: fc.constant('end' as const), as: fc.constantFrom('reset' as const, 'hang' as const) }),
    fc.record({ kind: fc.constant('echo' as const), at: place }),
  ),
  { minLength: 1, maxLength: 3 },
);

/** The answer with one change; `authorization` is what the request brought, for servers that repeat it. */
export function mutate(wire: Wire, mutation: Mutation, authorization: string): Wire {
  switch (mutation.kind) {
    case 'value':
      return onValue(wire, mutation.at, () => mutation.to);
    case 'echo':
      return onValue(wire, mutation.at, () => JSON.stringify(`you sent ${authorization}`));
    case 'repeat':
      return onValue(wire, mutation.at, (text) => `[${Array.from({ length: 50 }, () => text).join()}]`);
    case 'drop':
      return onValue(wire, mutation.at, () => '');
    case 'key':
      return onKey(wire, mutation.at, mutation.to);
    case 'deep':
      return { ...wire, body: Buffer.from(mutation.open.repeat(mutation.levels)) };
    case 'body':
      return { ...wire, body: Buffer.from(mutation.to) };
    case 'status':
      return { ...wire, statusLine: mutation.line };
    case 'header':
      return { ...wire, headers: [...without(wire, mutation.name), [mutation.name, mutation.value]] };
    case 'length':
      return { ...wire, headers: [...without(wire, 'content-length'), ['content-length', mutation.value]] };
    case 'encode':
      return encoded(wire, mutation.as);
    case 'end':
      return { ...wire, end: mutation.as };
    default:
      return { ...wire, body: onBytes(wire.body, mutation) };
  }
}

function without({ headers: present }: Wire, name: string): Wire['headers'] {
  return present.filter(([known]) => known !== name);
}

/** A token of JSON: a string, a number or a word, with what follows it. */
const token = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/g;

function onValue(wire: Wire, at: number, change: (text: string) => string): Wire {
  return onToken(wire, at, (following) => !following.startsWith(':'), change);
}

function onKey(wire: Wire, at: number, to: string): Wire {
  return onToken(
    wire,
    at,
    (following) => following.startsWith(':'),
    () => JSON.stringify(to),
  );
}

function onToken(wire: Wire, at: number, fits: (following: string) => boolean, change: (text: string) => string): Wire {
  const text = wire.body.toString('utf8');
  const found = [...text.matchAll(token)].filter(({ index, 0: word }) =>
    fits(text.slice(index + word.length, index + word.length + 1)),
  );
  const chosen = found[at % Math.max(1, found.length)];
  if (!chosen) return wire;
  const end = chosen.index + chosen[0].length;
  return { ...wire, body: Buffer.from(text.slice(0, chosen.index) + change(chosen[0]) + text.slice(end)) };
}

function onBytes(body: Buffer, mutation: Mutation & { readonly kind: 'cut' | 'flip' | 'insert' }): Buffer {
  const at = mutation.at % Math.max(1, body.length);
  if (mutation.kind === 'cut') return body.subarray(0, at);
  if (mutation.kind === 'insert')
    return Buffer.concat([body.subarray(0, at), Buffer.from(mutation.bytes), body.subarray(at)]);
  const changed = Buffer.from(body);
  changed[at] = (changed[at] ?? 0) ^ 0x80;
  return changed;
}

function encoded(wire: Wire, as: (Mutation & { readonly kind: 'encode' })['as']): Wire {
  const label = as === 'twice' ? 'gzip, br' : as === 'br' ? 'br' : 'gzip';
  const zipped = gzipSync(wire.body);
  const bodies = {
    gzip: zipped,
    br: brotliCompressSync(wire.body),
    'label only': wire.body,
    'cut gzip': zipped.subarray(0, zipped.length >> 1),
    twice: brotliCompressSync(zipped),
  };
  return { ...wire, body: bodies[as], headers: [...without(wire, 'content-encoding'), ['content-encoding', label]] };
}
