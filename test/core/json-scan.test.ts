import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import wabt from 'wabt';
import { namesIn, readArray } from '../../src/core/json-array.ts';
import { scanArray } from '../../src/core/json-scan.ts';

const names = ['id', 'subject', 'a-name-of-twenty-eight-bytes'];
const scan = (text: string | Buffer, wanted: readonly string[] = names) =>
  scanArray(Buffer.from(text), 0, namesIn(wanted));

/** What readArray answers; undefined where it throws. */
function read(text: Buffer) {
  try {
    const { places, count, ...found } = readArray(text, 0, namesIn(names));
    return { ...found, count, places: places.subarray(0, count * (2 + 2 * names.length)) };
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

test('the module is the compiled text', async () => {
  const { parseWat } = await wabt();
  const text = readFileSync(new URL('../../src/core/json-scan.wat', import.meta.url), 'utf8');
  const { buffer } = parseWat('json-scan.wat', text, { simd: true, multi_value: true }).toBinary({});
  const module = Buffer.from(buffer).toString('base64');
  await expect(
    `/** json-scan.wat, compiled; \`npm run golden\` writes it. */\nexport const jsonScanModule =\n  '${module}';\n`,
  ).toMatchFileSnapshot('../../src/core/json-scan-module.ts');
});

describe('scanArray', () => {
  const name = fc.oneof(fc.constantFrom(...names, 'i', 'idle'), fc.string({ maxLength: 40 }));
  const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.string({ minLength: 14, maxLength: 70 }));
  const elements = fc.array(fc.dictionary(name, value, { maxKeys: 6 }), { maxLength: 5 });
  const indent = fc.constantFrom(undefined, 1, '\t', '\r\n');
  const document = fc.tuple(elements, indent).map(([rows, space]) => JSON.stringify(rows, null, space));
  const isPlain = (text: string): boolean => JSON.stringify(text) === `"${text}"`;

  test('finds what readArray finds, where no name has an escape', () => {
    const plain = elements.filter((rows) => rows.flatMap(Object.keys).every(isPlain));
    fc.assert(
      fc.property(plain, indent, (rows, space) => {
        const text = JSON.stringify(rows, null, space);
        expect(scan(text)).toEqual(read(Buffer.from(text)));
      }),
      { numRuns: 1000 },
    );
  });

  test('finds the same or nothing, wherever a document is changed', () => {
    const changes = fc.constantFrom(...'{ } [ ] " , : \\ 0 1 9 . e E + - t f n u é'.split(' '), ' ', '\n', '\u0001');
    let [found, refused] = [0, 0];
    fc.assert(
      fc.property(document, fc.nat(), fc.nat(3), changes, (text, at, cut, added) => {
        const place = at % text.length;
        const changed = Buffer.from(text.slice(0, place) + added + text.slice(place + cut));
        const scanned = scan(changed);
        if (scanned) expect(scanned).toEqual(read(changed));
        if (scanned) found += 1;
        else refused += 1;
      }),
      { numRuns: 4000 },
    );
    expect(Math.min(found, refused)).toBeGreaterThan(400);
  });

  test('finds the same with any byte at any place', () => {
    const document = Buffer.from(String.raw`[{"id":"a\u0aF9\n/","b":-10.5e+3,"c":[true,false,null,{}]} ]`);
    const differing: string[] = [];
    for (let place = 0; place < document.length; place += 1) {
      for (let byte = 0; byte < 256; byte += 1) {
        const changed = Buffer.from(document);
        changed[place] = byte;
        if (JSON.stringify(scan(changed)) !== JSON.stringify(read(changed))) differing.push(changed.toString('latin1'));
      }
    }
    expect(differing).toEqual([]);
  });

  test.each(['[]', '[{}]', ' ]', '[{"id":-0.5e+7,"a":[1,[],{}]}]'])('%s, cut anywhere, is nothing', (text) => {
    for (let length = 0; length < text.length; length += 1) expect(scan(text.slice(0, length))).toBeUndefined();
  });

  test('a document does not read on in what was scanned before it', () => {
    expect(scan(`[{"id":"${'a'.repeat(100)}"}]`)).toMatchObject({ count: 1 });
    expect(scan('[{"id":"aaaa')).toBeUndefined();
    expect(scan('[{"other":1}]')?.places).toEqual(Int32Array.of(1, 12, 0, 0, 0, 0, 0, 0));
  });

  test.each([
    ['more elements than it has rows for', `[${'{},'.repeat(8192)}{}]`],
    ['a depth that readArray judges', `[{"a":${'['.repeat(65)}${']'.repeat(65)}}]`],
    ['an escape in a name', String.raw`[{"\u0069d":1}]`],
    ['a name that is too long for its table', '[{"id":1}]', ['id', 'a-name-of-twenty-nine-bytes-x']],
  ])('leaves to readArray: %s', (_, text, wanted?: readonly string[]) => {
    expect(scan(text, wanted)).toBeUndefined();
    expect(() => readArray(Buffer.from(text), 0, namesIn(wanted ?? names))).not.toThrow();
  });

  test('takes as many elements and levels as it says', () => {
    expect(scan(`[${'{},'.repeat(8191)}{}]`)).toMatchObject({ count: 8192 });
    expect(scan(`[{"a":${'['.repeat(64)}${']'.repeat(64)}}]`)).toMatchObject({ count: 1 });
  });
});
