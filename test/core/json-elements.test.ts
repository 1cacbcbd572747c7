import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWhole } from '../helpers/extent.ts';
import { elementsOf } from '../../src/core/json-elements.ts';
import { parseJson } from '../../src/core/json.ts';

function scanned(text: string | Uint8Array) {
  const { body, elements } = elementsOf(typeof text === 'string' ? Buffer.from(text) : text, 'rows');
  return { body, texts: elements.map(({ bytes }) => Buffer.from(bytes).toString('utf8')), elements };
}

const escaped = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;

const problemIn = (read: () => unknown): string | undefined => {
  try {
    return void read();
  } catch (cause) {
    if (cause instanceof SyntaxError) return cause.message;
    throw cause;
  }
};

const json = fc.jsonValue({ maxDepth: 2 });
/**
 * Elements repeat the names and values of those before them, or nearly: numbers that go on, strings of more than a few
 * words.
 */
const alike = fc.constantFrom(1, 12, 1.5, null, [], 'x'.repeat(23), 'x'.repeat(24), `${'x'.repeat(40)}é"\n€`);
const row = fc.dictionary(
  fc.oneof(fc.constantFrom('id', 'name', '__proto__'), fc.string()),
  fc.oneof({ arbitrary: alike, weight: 3 }, json),
  { maxKeys: 4 },
);
const document = fc.record({ before: json, rows: fc.array(row, { maxLength: 6 }), after: json });
const indent = fc.constantFrom(undefined, 1, '\t', '\r\n');

describe('elementsOf', () => {
  test('finds the same elements as JSON.parse, each on one line, whatever blanks there are', () => {
    fc.assert(
      fc.property(document, indent, fc.boolean(), (value, space, isAscii) => {
        const letters = isAscii ? /[^\0-~]/g : /€/g;
        const text = JSON.stringify(value, null, space).replace(letters, escaped);
        const { body, texts, elements } = scanned(text);

        const rows = (JSON.parse(text) as { rows: object[] }).rows;
        expect(texts.map((one) => JSON.parse(one) as unknown)).toEqual(rows);
        expect(texts.filter((one) => /[\r\n]/.test(one))).toEqual([]);
        expect(elements.map((one) => one.parse())).toEqual(rows);
        expect(body).toEqual({ ...(JSON.parse(text) as object), rows: [] });
        for (const [index, one] of elements.entries())
          for (const name of ['id', 'name', '__proto__', 'toString'])
            expect(one.read(name)).toEqual(
              Object.hasOwn(rows[index] ?? {}, name)
                ? Object.entries(rows[index] ?? {}).find(([own]) => own === name)?.[1]
                : undefined,
            );
      }),
    );
  });

  test('bytes that are no UTF-8 are replaced, as in a text', () => {
    const { texts } = scanned(Buffer.from('{"rows":[{"a":"caf\xe9"}]}', 'latin1'));
    expect(texts).toEqual(['{"a":"caf\ufffd"}']);
    expect(elementsOf(Buffer.from('{"rows":[{"a":"\xe9"}]}', 'latin1'), 'rows').elements[0]?.length).toBe(11);
  });

  test('refuses what JSON.parse refuses, and nothing else, wherever a document is changed', () => {
    const signs = fc.constantFrom(...'{ } [ ] " , : \\ 0 1 9 . e E + - t f n é'.split(' '), ' ', '\n', '\u0001');
    fc.assert(
      fc.property(document, fc.nat(), fc.nat(3), signs, indent, (value, at, cut, added, space) => {
        const text = JSON.stringify(value, null, space);
        const place = at % text.length;
        const changed = text.slice(0, place) + added + text.slice(place + cut);
        const parsed = problemIn(() => JSON.parse(changed));
        const found = problemIn(() => scanned(changed));
        const rows = parsed === undefined ? rowsOf(JSON.parse(changed)) : undefined;
        expect(found === undefined).toBe(rows !== undefined);
        if (rows) expect(scanned(changed).texts.map((one) => JSON.parse(one) as unknown)).toEqual(rows);
      }),
      { numRuns: isWhole ? 2000 : 200 },
    );
  });

  test('leaves numbers, escapes and the order of members as they came', () => {
    const one = '{"id":1,"float":1.0,"large":123456789012345678901,"power":1E+2,"text":"\\u0041\\/é","a":1,"a":2}';
    expect(scanned(`{"rows":[${one}, ${one}],"x":1}`)).toMatchObject({ body: { x: 1 }, texts: [one, one] });
  });

  test('takes line breaks out of an element, and blanks with them, but not out of its strings', () => {
    expect(scanned('{"rows":[\n{\r\n  "id" : 1,\n "name": "a  \\n b"\n}\n]}').texts).toEqual([
      '{"id":1,"name":"a  \\n b"}',
    ]);
    expect(scanned('{"rows":[ { "id" : 1 } ]}').texts).toEqual(['{ "id" : 1 }']);
  });

  test.each([
    ['{"id":7}', 7],
    ['{"id":-7}', -7],
    ['{"id":7.5}', 7.5],
    ['{"id":1e3}', 1000],
    ['{"id":12345678901234567890}', 12345678901234567890n],
    ['{"id":"seven"}', 'seven'],
    ['{"id":{"id":8}}', { id: 8 }],
    ['{"id":1,"id":2}', 2],
    ['{"\\u0069d":3}', 3],
    ['{"xid":1}', undefined],
    ['{"a":{"id":1}}', undefined],
  ])('reads id in %s', (element, id) => {
    expect(scanned(`{"rows":[${element}]}`).elements[0]?.read('id')).toEqual(id);
  });

  test('the last of two arrays of that name counts, and no array inside another value', () => {
    const inner = '"other":{"rows":[{"id":3}]},"text":"rows",';
    expect(scanned(`{${inner}"rows":[{"id":1},{"a":[{}]}],"more":["rows",[{}]]}`).texts).toEqual([
      '{"id":1}',
      '{"a":[{}]}',
    ]);
    expect(scanned('{"r\\u006fws":[{"id":1}]}').texts).toEqual(['{"id":1}']);
    expect(scanned('{"rows":[{"id":1}],"rows":[]}').texts).toEqual([]);
    expect(scanned('{"rows":[{"id":1}],"rows":[{"id":2}]}').texts).toEqual(['{"id":2}']);
  });

  test('bytes that are no UTF-8 become replacement characters, and a byte order mark is passed over', () => {
    const bytes = Buffer.concat([Buffer.from('\uFEFF{"rows":[{"name":"'), Buffer.from([0xff]), Buffer.from('"}]}')]);
    expect(scanned(bytes).texts).toEqual(['{"name":"\uFFFD"}']);
    expect(scanned('\uFEFF{"rows":[{"name":"x"}]}').texts).toEqual(['{"name":"x"}']);
  });

  test.each([
    ['', 'JSON'],
    ['[]', "no list of objects 'rows'"],
    ['{"rows":[1]}', "no list of objects 'rows'"],
    ['{"rows":{}}', "no list of objects 'rows'"],
    ['{"row":[]}', "no list of objects 'rows'"],
    ['{"rows":[],"rows":0}', "no list of objects 'rows'"],
    ['{"rows":[{"id":1},]}', 'JSON'],
    ['{"rows":[{"name":"12345678"},{"name":"12', 'JSON'],
    ['{"rows":[]} x', 'JSON'],
    ['{"rows":[]}\u0000', 'JSON'],
    ['{"rows":[{"a":"\n"}]}', 'JSON'],
    [`{"rows":[{"a":${'['.repeat(600)}${']'.repeat(600)}}]}`, 'nested more than 500'],
  ])('%s is refused: %s', (text, message) => {
    expect(problemIn(() => scanned(text))).toContain(message);
  });

  test('as deep as parseJson goes', () => {
    const deep = (depth: number): string => `{"rows":[{"a":${'['.repeat(depth)}${']'.repeat(depth)}}]}`;
    expect(problemIn(() => scanned(deep(497)))).toBeUndefined();
    expect(problemIn(() => parseJson(deep(497)))).toBeUndefined();
    expect(problemIn(() => scanned(deep(498)))).toContain('nested');
    expect(problemIn(() => parseJson(deep(498)))).toContain('nested');
  });
});

/** The rows of a document, where it has some and each is an object. */
function rowsOf(value: unknown): unknown[] | undefined {
  const rows = typeof value === 'object' && value !== null && 'rows' in value ? value.rows : undefined;
  const isObject = (one: unknown): boolean => typeof one === 'object' && one !== null && !Array.isArray(one);
  return Array.isArray(rows) && rows.every(isObject) ? rows : undefined;
}
