import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readLongPage, readerOf } from '../../../src/api/licensing/long-list.ts';
import { parseJson, writeJson } from '../../../src/core/json.ts';
import { isWhole } from '../../helpers/extent.ts';

type Piece = { rest: unknown } | { array: string | undefined; element: unknown };

/** What a reader finds in a document that comes in chunks of `size` bytes, and what is beside it for a long page. */
async function split(text: string, size = 7): Promise<Piece[]> {
  const reader = readerOf();
  const runs: ReturnType<typeof reader.read>[number][] = [];
  for (const chunk of chunksOf(text, size)) runs.push(...reader.read(chunk));
  const elements = runs.flatMap((run) => run.elements.map((element) => ({ array: run.array, element })));
  return [...elements, { rest: (await pageOf(chunksOf(text, size))).body }];
}

/** As of a file, each chunk is in the place of the one before. */
function* chunksOf(text: string, size: number): Generator<Uint8Array> {
  const bytes = Buffer.from(text);
  const chunk = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; at += size) yield chunk.subarray(0, bytes.copy(chunk, 0, at));
}

const pageOf = (chunks: Iterable<Uint8Array>) =>
  readLongPage({
    async *read() {
      yield* chunks;
    },
  });

test('the elements of a list, then the list itself', async () => {
  expect(await split('[{"a":1},2,[3]]')).toEqual([
    { array: undefined, element: { a: 1 } },
    { array: undefined, element: 2 },
    { array: undefined, element: [3] },
    { rest: [{ a: 1 }, 2, [3]] },
  ]);
});

test('the elements of each list in an object under its name, then what is beside them', async () => {
  expect(
    await split('{"count":2,"links":{"next":[1]},"results":[{"é":12345678901234567890},{"b":[1]}],"x":[]}'),
  ).toEqual([
    { array: 'results', element: { é: 12345678901234567890n } },
    { array: 'results', element: { b: [1] } },
    { rest: { count: 2, links: { next: [1] }, results: [{ é: 12345678901234567890n }, { b: [1] }], x: [] } },
  ]);
});

test('quotation marks, escapes and brackets in strings and names are text', async () => {
  expect(await split('{"a\\"]":["]\\\\","\\"[,"],"__proto__":[{}]}', 1)).toEqual([
    { array: 'a"]', element: ']\\' },
    { array: 'a"]', element: '"[,' },
    { array: '__proto__', element: {} },
    { rest: parseJson('{"a\\"]":["]\\\\","\\"[,"],"__proto__":[{}]}') },
  ]);
});

test('a byte order mark is no part of the document', async () => {
  expect(await split('\uFEFF[1]')).toEqual([{ array: undefined, element: 1 }, { rest: [1] }]);
});

test('of a long list the rest has a hundred elements', async () => {
  const pieces = await split(JSON.stringify({ rows: Array.from({ length: 1000 }, (_, index) => index) }), 1000);
  const last = pieces.pop();
  expect(pieces).toEqual(Array.from({ length: 1000 }, (_, element) => ({ array: 'rows', element })));
  expect(last).toEqual({ rest: { rows: Array.from({ length: 100 }, (_, index) => index) } });
});

/** Each character there is, as of the unit `binary`, for which fast-check first makes a table of all 1.1 million. */
const character = fc.integer({ min: 0, max: 0x10f7ff }).map(
  (place) => String.fromCodePoint(place < 0xd800 ? place : place + 0x800),
  (text) => {
    const code = typeof text === 'string' ? (text.codePointAt(0) ?? -1) : -1;
    return code < 0xd800 ? code : code - 0x800;
  },
);

test('any document is what it is for JSON.parse, wherever it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ stringUnit: character }), fc.integer({ min: 1, max: 40 }), async (text, size) => {
      const pieces = await split(text, size);
      const value = parseJson(text);
      expect(writeJson(pieces.at(-1))).toBe(writeJson({ rest: value }));
      const elements = pieces.flatMap((piece) =>
        'element' in piece && piece.array === undefined ? [piece.element] : [],
      );
      expect(elements).toEqual(Array.isArray(value) ? value : []);
    }),
    { numRuns: isWhole ? 300 : 20, seed: 1 },
  );
});

describe('is refused as no JSON', () => {
  test.each([
    ['a cut list', '[{"a":1},'],
    ['a cut element', '[{"a":1'],
    ['a cut string', '["a'],
    ['a missing comma', '[{"a":1}{"a":2}]'],
    ['a comma before the end', '[1,]'],
    ['a comma at the beginning', '[,1]'],
    ['an element that is missing', '[1,,2]'],
    ['an array that a brace ends', '[1}'],
    ['an element that a bracket ends', '[{"a":1]]'],
    ['an array without a name', '{[1]}'],
    ['a cut object', '{"rows":[1]'],
    ['a word after the end', '[1]x'],
    ['a second document', '[1][2]'],
    ['a number with a leading zero', '[01]'],
    ['a page', '<html></html>'],
    ['an empty text', ''],
    ['600 levels', `${'['.repeat(600)}${']'.repeat(600)}`],
  ])('%s', async (_name, text) => {
    await expect(split(text, 3)).rejects.toThrow(SyntaxError);
  });
});

test('of two lists of one name the last counts', async () => {
  const { body, rowsOf } = await pageOf([Buffer.from('{"rows":[{"a":1},{"a":2}],"n":1,"rows":[{"a":3}]}')]);
  expect(body).toEqual({ rows: [{ a: 3 }], n: 1 });
  const { count, each } = rowsOf((body as { rows: unknown[] }).rows);
  expect(count).toBe(1);
  const rows: unknown[] = [];
  for await (const some of each) rows.push(...some);
  expect(rows).toEqual([{ a: 3 }]);
});

test('an element without an end is refused before it fills the memory', async () => {
  function* endless(): Generator<Uint8Array> {
    yield Buffer.from('["');
    for (;;) yield Buffer.alloc(1024 * 1024, 'a');
  }
  await expect(pageOf(endless())).rejects.toThrow('an element of it is larger than 16 MiB');
});
