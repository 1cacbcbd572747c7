import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/core/failure.ts';
import { generalFormats, type Format } from '../../src/output/formats.ts';
import type { Show } from '../../src/output/presentation.ts';
import { writeResult } from '../../src/output/write.ts';
import { failing, look, many, written } from './looks.ts';

const licenses = [
  { code: 'k-1', remote_user: 'ann', app_code: 7, size_allowance: 6, active: true, note: null, tags: ['a'] },
  { code: 'k-2', remote_user: 'bo\tb', app_code: 7, size_allowance: 18, active: false, note: 'x,"y"\n=1', tags: [] },
];

const show: Show<unknown> = {
  columns: [
    { name: 'license_code', of: (row) => (row as { code: string }).code },
    ...['remote_user', 'app_code', 'size_allowance'],
    { name: 'code', when: 'asked' },
  ],
  others: 'known',
};

describe('whole outputs of a list', () => {
  test.each<[Format, string]>([
    [
      'table',
      'license_code  remote_user  app_code  size_allowance  active  note\n' +
        'k-1           ann                 7               6  true\n' +
        'k-2           bo\\tb               7              18  false   x,"y"\\n=1\n',
    ],
    [
      'tsv',
      'license_code\tremote_user\tapp_code\tsize_allowance\tactive\tnote\n' +
        'k-1\tann\t7\t6\ttrue\t\n' +
        'k-2\tbo\\tb\t7\t18\tfalse\tx,"y"\\n=1\n',
    ],
    [
      'csv',
      'license_code,remote_user,app_code,size_allowance,active,note\n' +
        'k-1,ann,7,6,true,\n' +
        'k-2,"bo\tb",7,18,false,"x,""y""\n=1"\n',
    ],
    ['json', `${JSON.stringify(licenses, null, 2)}\n`],
    ['ndjson', `${licenses.map((row) => JSON.stringify(row)).join('\n')}\n`],
    [
      'yaml',
      `- code: k-1
  remote_user: ann
  app_code: 7
  size_allowance: 6
  active: true
  note: null
  tags:
    - a
- code: k-2
  remote_user: "bo\\tb"
  app_code: 7
  size_allowance: 18
  active: false
  note: |-
    x,"y"
    =1
  tags: []
`,
    ],
  ])('%s', async (format, text) => {
    expect(await written(many(...licenses), look(format), show)).toBe(text);
    expect(await written({ one: licenses }, look(format), show)).toBe(text);
  });
});

describe('whole outputs of one object', () => {
  test.each<[Format, string]>([
    ['table', 'id  name\n 9  no\n'],
    ['tsv', 'id\tname\n9\tno\n'],
    ['csv', 'id,name\n9,no\n'],
    ['json', '{\n  "id": 9,\n  "name": "no",\n  "nested": {\n    "a": 1\n  }\n}\n'],
    ['ndjson', '{"id":9,"name":"no","nested":{"a":1}}\n'],
    ['yaml', 'id: 9\nname: "no"\nnested:\n  a: 1\n'],
  ])('%s', async (format, text) => {
    expect(await written({ one: { id: 9, name: 'no', nested: { a: 1 } } }, look(format))).toBe(text);
  });
});

describe('small results', () => {
  const formats = ['table', 'tsv', 'csv', 'json', 'ndjson', 'yaml'] as const;
  test('are shown in every format', () => {
    const advice = 'name the format in `formats`, and what it writes of each result below';
    const others = generalFormats.filter((format) => !format.startsWith('excel'));
    expect(formats.toSorted(), advice).toEqual(others.toSorted());
  });

  const each = async (result: () => Parameters<typeof written>[0], shown?: Show<unknown>): Promise<string[]> =>
    Promise.all(formats.map((format) => written(result(), look(format), shown)));

  test('null and undefined are nothing, or null in a document', async () => {
    const nothing = ['', '', '', 'null\n', '', 'null\n'];
    expect(await each(() => ({ one: null }))).toEqual(nothing);
    expect(await each(() => ({ one: undefined }))).toEqual(nothing);
  });

  test('an empty list is empty, with the header that is known', async () => {
    expect(await each(() => many())).toEqual(['', '', '', '[]\n', '', '[]\n']);
    expect(await each(() => many(), { columns: ['a', 'b'] })).toEqual(['', 'a\tb\n', 'a,b\n', '[]\n', '', '[]\n']);
  });

  test('a scalar is one line', async () => {
    expect(await each(() => ({ one: 'a"b' }))).toEqual([
      'a"b\n',
      'a"b\n',
      '"a""b"\n',
      '"a\\"b"\n',
      '"a\\"b"\n',
      'a"b\n',
    ]);
    expect(await each(() => ({ one: 5 }))).toEqual(['5\n', '5\n', '5\n', '5\n', '5\n', '5\n']);
  });

  test('scalars in a list are a line each', async () => {
    const wide = 'x'.repeat(20);
    expect(await written(many(wide), look('table', { terminal: true, width: 19 }))).toBe(`${wide}\n`);
    expect(await each(() => many('a', 2))).toEqual([
      'a\n2\n',
      'a\n2\n',
      'a\n2\n',
      '[\n  "a",\n  2\n]\n',
      '"a"\n2\n',
      '- a\n- 2\n',
    ]);
  });

  test('integers beyond 2^53 keep their digits', async () => {
    expect(await each(() => many({ id: 12345678901234567890n }))).toEqual([
      `${'id'.padStart(20)}\n12345678901234567890\n`,
      'id\n12345678901234567890\n',
      'id\n12345678901234567890\n',
      '[\n  {\n    "id": 12345678901234567890\n  }\n]\n',
      '{"id":12345678901234567890}\n',
      '- id: 12345678901234567890\n',
    ]);
  });

  test('nested values of a named column are compact JSON', async () => {
    const row = { a: { b: ['\t'] } };
    expect(await written({ one: row }, look('tsv'), { columns: ['a'] })).toBe('a\n{"b":["\\\\t"]}\n');
    expect(await written({ one: row }, look('csv'), { columns: ['a'] })).toBe('a\n"{""b"":[""\\t""]}"\n');
    expect(await written({ one: row }, look('table'))).toBe('a\n{"b":["\\t"]}\n');
  });

  test('an empty cell alone in its record is quoted in csv, because an empty line would be lost', async () => {
    expect(await written(many({ a: '' }, { a: null }), look('csv'))).toBe('a\n""\n""\n');
  });

  test('inherited properties are no values', async () => {
    expect(await written({ one: { a: 1 } }, look('tsv'), { columns: ['a', 'constructor'] })).toBe(
      'a\tconstructor\n1\t\n',
    );
  });
});

describe('columns', () => {
  const row = { a: 1, b: 2, c: [3] };

  test('named columns are all there is unless others follow', async () => {
    expect(await written({ one: row }, look('tsv'), { columns: ['b'] })).toBe('b\n2\n');
    expect(await written({ one: row }, look('tsv'), { columns: ['b'], others: 'known' })).toBe('b\ta\n2\t1\n');
    expect(await written({ one: { a: 1, c: [3] } }, look('tsv'))).toBe('a\n1\n');
    expect(await written({ one: { c: [3] } }, look('tsv'))).toBe('c\n[3]\n');
  });

  test('no header leaves the rows', async () => {
    for (const [format, text] of [
      ['tsv', '1\t2\n'],
      ['csv', '1,2\n'],
      ['table', '1  2\n'],
    ] as const) {
      expect(await written({ one: row }, look(format, { header: false }))).toBe(text);
    }
    expect(await written(many(), look('tsv', { header: false }), { columns: ['a'] })).toBe('');
  });
});

describe('fields', () => {
  const fields = ['size_allowance', 'license_code'];

  test.each<[Format, string]>([
    ['table', 'size_allowance  license_code\n             6  k-1\n'],
    ['tsv', 'size_allowance\tlicense_code\n6\tk-1\n'],
    ['csv', 'size_allowance,license_code\n6,k-1\n'],
    ['json', '[\n  {\n    "size_allowance": 6,\n    "license_code": "k-1"\n  }\n]\n'],
    ['ndjson', '{"size_allowance":6,"license_code":"k-1"}\n'],
    ['yaml', '- size_allowance: 6\n  license_code: k-1\n'],
  ])('%s has those and in that order', async (format, text) => {
    expect(await written(many(licenses[0]), look(format, { fields }), show)).toBe(text);
  });

  test('keys of JSON may be nested values, and null stays null', async () => {
    expect(await written({ one: licenses[0] }, look('ndjson', { fields: ['tags', 'note'] }), show)).toBe(
      '{"tags":["a"],"note":null}\n',
    );
  });

  test('a later row without the key goes without it', async () => {
    expect(await written(many({ a: 1 }, {}), look('ndjson', { fields: ['a'] }))).toBe('{"a":1}\n{}\n');
    expect(await written(many({ a: 1, b: 2 }, { b: 3 }), look('tsv', { fields: ['a', 'b'] }))).toBe(
      'a\tb\n1\t2\n\t3\n',
    );
  });
});

describe('rows that end by throwing', () => {
  const failure = new Failure('incomplete', 'page 3 failed');
  test.each<[Format, string]>([
    ['table', 'a\n1\n2\n'],
    ['tsv', 'a\n1\n2\n'],
    ['csv', 'a\n1\n2\n'],
    ['json', '[\n  {\n    "a": 1\n  },\n  {\n    "a": 2\n  }\n]\n'],
    ['ndjson', '{"a":1}\n{"a":2}\n'],
    ['yaml', '- a: 1\n- a: 2\n'],
  ])('%s is closed, and the failure is thrown on', async (format, text) => {
    const pieces: string[] = [];
    const sink = { write: (piece: string) => Promise.resolve(void pieces.push(piece)) };
    await expect(writeResult({ many: failing([{ a: 1 }, { a: 2 }], failure) }, look(format), sink)).rejects.toBe(
      failure,
    );
    expect(pieces.join('')).toBe(text);
  });

  test('a list that fails at once is an empty document', async () => {
    const pieces: string[] = [];
    const sink = { write: (piece: string) => Promise.resolve(void pieces.push(piece)) };
    await expect(writeResult({ many: failing([], failure) }, look('json'), sink)).rejects.toBe(failure);
    expect(pieces.join('')).toBe('[]\n');
  });
});
