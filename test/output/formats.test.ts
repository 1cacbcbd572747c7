import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { generalFormats } from '../../src/output/formats.ts';
import { isWhole, onesFor } from '../helpers/extent.ts';
import { anyText } from '../helpers/texts.ts';
import { look, many, written } from './looks.ts';

const seed = { seed: 1, numRuns: isWhole ? 100 : 20 };
const dangerous = fc.constantFrom(
  '\x1b[2J',
  '\x9b',
  '\u202e',
  '\u2028',
  '\u{e0041}',
  '\r',
  '\n',
  '\t',
  '\\',
  '"',
  ',',
  '\x7f',
  '\ud800',
);
const text = fc.oneof(
  anyText(),
  fc.array(fc.oneof(dangerous, fc.string())).map((parts) => parts.join('')),
  fc.constantFrom(...'no|y|null|~|=|0o17|017|1:20|1e3|2001-12-14|-|- a|#|a: b| x ||x\n|\n\n'.split('|')),
);
const unit = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const { tree: json } = fc.letrec((tie) => ({
  tree: fc.oneof({ maxDepth: 3 }, unit, fc.array(tie('tree')), fc.dictionary(text, tie('tree'))),
}));
/** As JSON carries it: without -0. */
const values = json.map((value) => JSON.parse(JSON.stringify(value)) as unknown);

describe.each([false, true])('on a terminal: %s', (terminal) => {
  test('json reads back as the same value', async () => {
    await fc.assert(
      fc.asyncProperty(values, fc.array(values), async (value, list) => {
        expect(JSON.parse(await written({ one: [value] }, look('json', { terminal })))).toEqual([value]);
        expect(JSON.parse(await written(many(...list), look('json', { terminal })))).toEqual(list);
      }),
      seed,
    );
  });

  test('ndjson reads back as the same values, a line each', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(values), async (list) => {
        const lines = (await written(many(...list), look('ndjson', { terminal }))).split('\n');
        expect(lines.pop()).toBe('');
        expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(list);
      }),
      seed,
    );
  });

  test.each(onesFor(Number(terminal), ['1.1', '1.2'] as const))(
    'yaml reads back as the same value by version %s',
    async (version) => {
      await fc.assert(
        fc.asyncProperty(fc.array(values), async (list) => {
          const document = await written(many(...list), look('yaml', { terminal }));
          expect(parseYaml(document, { version, merge: false })).toEqual(list);
          expect(document.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u);
        }),
        seed,
      );
    },
  );
});

test('yaml quotes what one of its versions would read as something else', async () => {
  const row = {
    '<<': '<<',
    a: '=',
    b: '0o17',
    c: '017',
    d: 'no',
    e: '1:20',
    f: '2001-12-14',
    g: 'a\tb\nc',
    h: 'plain text',
  };
  expect(await written({ one: row }, look('yaml'))).toBe(
    '"<<": "<<"\na: "="\nb: "0o17"\nc: "017"\nd: "no"\ne: "1:20"\nf: "2001-12-14"\ng: "a\\tb\\nc"\nh: plain text\n',
  );
});

test('yaml quotes a line of nothing but spaces, which other readers drop from a block', async () => {
  expect(await written({ one: ['a\n  \nb', 'a\n\n b'] }, look('yaml'))).toBe('- "a\\n \\ \\nb"\n- |-\n  a\n\n   b\n');
});

test('yaml repeats a value that is there twice, and folds no long line', async () => {
  const shared = { text: 'word '.repeat(40).trim() };
  const lines = `- text: ${shared.text}\n`;
  expect(await written(many(shared, shared), look('yaml'))).toBe(lines + lines);
  expect(await written({ one: { a: shared, b: shared } }, look('yaml'))).toBe(
    `a:\n  text: ${shared.text}\nb:\n  text: ${shared.text}\n`,
  );
});

test('json on a terminal holds no character that a terminal obeys', async () => {
  const row = { 'k\x9b': '\x1b\x7f\u202e\u{e0041}' };
  expect(await written(many(row), look('ndjson', { terminal: true }))).toBe(
    '{"k\\u009b":"\\u001b\\u007f\\u202e\\udb40\\udc41"}\n',
  );
  expect(await written(many(row), look('ndjson'))).toBe('{"k\x9b":"\\u001b\x7f\u202e\u{e0041}"}\n');
});

test('a list in json is the text of the whole array', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(values, { minLength: 1 }), async (list) => {
      expect(await written(many(...list), look('json'))).toBe(`${JSON.stringify(list, null, 2)}\n`);
    }),
    seed,
  );
});

/** As UTF-8 carries it: a lone surrogate is no character. */
const characters = text.map((value) => Buffer.from(value).toString());
const table = fc.array(fc.array(characters, { minLength: 2, maxLength: 2 }), { minLength: 1 });
const rowOf = ([a, b]: readonly string[]): object => ({ a, b });

test('tsv cells read back', async () => {
  const back: Readonly<Record<string, string>> = { '\\t': '\t', '\\n': '\n', '\\r': '\r', '\\\\': '\\' };
  const unescape = (cell: string): string => cell.replace(/\\[tnr\\]/g, (pair) => back[pair] ?? pair);
  await fc.assert(
    fc.asyncProperty(table, async (rows) => {
      const lines = (await written(many(...rows.map(rowOf)), look('tsv'))).split('\n');
      expect(lines.shift()).toBe('a\tb');
      expect(lines.pop()).toBe('');
      expect(lines.map((line) => line.split('\t').map(unescape))).toEqual(rows);
    }),
    seed,
  );
});

test('csv cells read back', async () => {
  await fc.assert(
    fc.asyncProperty(table, async (rows) => {
      const csv = await written(many(...rows.map(rowOf)), look('csv'));
      expect(parse(csv, { record_delimiter: '\n' })).toEqual([['a', 'b'], ...rows]);
    }),
    seed,
  );
});

test('csv of one column reads back, empty cells too', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(characters, { minLength: 1 }), async (cells) => {
      const csv = await written(many(...cells.map((a) => ({ a }))), look('csv'));
      expect(parse(csv, { record_delimiter: '\n', skip_empty_lines: true })).toEqual([
        ['a'],
        ...cells.map((cell) => [cell]),
      ]);
    }),
    seed,
  );
});

/**
 * What a program reads that has another separator than the file: it takes a quote for one at the beginning of a cell
 * alone, and any line break outside of quotes for the end of a record.
 */
function readCells(csv: string, separator: string): string[] {
  const cells: string[] = [];
  const token = new RegExp(`(?:"((?:[^"]|"")*)"?)?([^${separator}\\r\\n]*)(?:[${separator}\\r\\n]|$)`, 'y');
  for (let at = 0; at < csv.length; at = token.lastIndex) {
    token.lastIndex = at;
    const [, quoted = '', rest = ''] = token.exec(csv) ?? [];
    cells.push(quoted.replaceAll('""', '"') + rest);
  }
  return cells;
}

/** RFC 4180 to the letter: a break or a quote that is not quoted is an error. */
function strictRecords(csv: string, separator: string, lineEnd: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  const token = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${separator}\\r\\n]*))(${separator}|${lineEnd})`, 'y');
  for (let at = 0; at < csv.length; at = token.lastIndex) {
    token.lastIndex = at;
    const found = token.exec(csv);
    if (!found) throw new Error(`no record at ${at}: ${JSON.stringify(csv.slice(at, at + 40))}`);
    record.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    if (found[3] === separator) continue;
    records.push(record);
    record = [];
  }
  return records;
}

const breaks = fc.constantFrom(
  ...['\n', '\r', '\r\n', ',', ';', '\t', '"', '=1', '-', '+', '@', '|', 'a', ' '],
  // Full width, and what a spreadsheet drops.
  ...['\uFF1D\uFF11', '\uFF0B', '\uFF0D', '\uFF20', '\0', '\x1b', '\u200b'],
);
const broken = fc.array(breaks, { maxLength: 8 }).map((parts) => parts.join(''));

test.each([
  ['excel', ',', '\r\n'],
  ['excel-semicolon', ';', '\r\n'],
  ['csv', ',', '\n'],
] as const)('%s reads back by the letter of RFC 4180, breaks and separators quoted', async (format, by, end) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(broken, broken), { minLength: 1 }), async (rows) => {
      const csv = await written(many(...rows.map(rowOf)), look(format));
      const read = strictRecords(csv.replace('\uFEFF', ''), by, end);
      const plain = (cells: readonly string[]) =>
        cells.map((text) => (format === 'csv' ? text : text.replaceAll("'", '')));
      expect(read.map(plain)).toEqual([['a', 'b'], ...rows]);
    }),
    seed,
  );
});

test('every csv quotes what another program may end a cell at', async () => {
  const cells = ['a\nb', 'a\rb', 'a\r\nb', 'a,b', 'a;b', 'a\tb', 'a\u2028b', 'a"b'];
  for (const format of ['csv', 'excel', 'excel-semicolon'] as const) {
    const csv = await written(many(...cells.map((a) => ({ a }))), look(format, { header: false }));
    const end = format === 'csv' ? '\n' : '\r\n';
    expect(csv.replace('\uFEFF', '')).toBe(cells.map((cell) => `"${cell.replaceAll('"', '""')}"${end}`).join(''));
  }
});

test('excel has no text that a spreadsheet takes for a formula, whatever it takes for the separator', async () => {
  const message = "Hello\n=cmd|'/C calc'!A0";
  const cells = fc.array(fc.oneof(broken, characters, fc.constant(message)), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(cells, fc.constantFrom('excel' as const, 'excel-semicolon' as const), async (texts, format) => {
      const csv = await written(many(...texts.map((a) => ({ n: 1, a }))), look(format));
      const bare = csv.replace('\uFEFF', '');
      for (const separator of [',', ';', '\t'])
        expect(
          readCells(bare, separator).filter((cell) => /^[\p{Cc}\p{Cf}]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]/u.test(cell)),
        ).toEqual([]);
      const read = strictRecords(bare, format === 'excel' ? ',' : ';', '\r\n');
      expect(read.slice(1).filter(([, cell = '']) => /^[=+\-@\t\r\n]/.test(cell))).toEqual([]);
      expect(read.slice(1).map(([, cell]) => cell?.replaceAll("'", ''))).toEqual(
        texts.map((text) => text.replaceAll("'", '')),
      );
    }),
    {
      ...seed,
      examples: [
        [[message], 'excel'],
        [['a;=1'], 'excel'],
        [['\0=1+1'], 'excel'],
        [['\uFF1D\uFF11'], 'excel'],
        [['a,"=1'], 'excel-semicolon'],
      ],
    },
  );
});

test('excel has a byte order mark and CRLF, leaves numbers alone, and makes names of columns harmless too', async () => {
  const row = { n: -5, big: -12345678901234567890n, text: '-5', '=cmd': true };
  expect(await written(many(row), look('excel'))).toBe(
    "\uFEFFn,big,text,'=cmd\r\n-5,-12345678901234567890,'-5,true\r\n",
  );
  expect(await written(many({ n: 1, text: 'a;b,c' }), look('excel-semicolon'))).toBe('\uFEFFn;text\r\n1;"a;b,c"\r\n');
  expect(await written(many(row), look('csv'))).toBe('n,big,text,=cmd\n-5,-12345678901234567890,-5,true\n');
});

test.each(generalFormats)('%s on a terminal is harmless', async (format) => {
  await fc.assert(
    fc.asyncProperty(table, async (rows) => {
      const shown = await written(many(...rows.map(rowOf)), look(format, { terminal: true, width: 40 }));
      expect(shown.replaceAll('\n', '').replaceAll(format === 'tsv' ? '\t' : '\n', '')).not.toMatch(
        /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u,
      );
    }),
    seed,
  );
});

test.each([
  ['a terminal gets a line break after a text that has none', true, ['{"a":', '1}'], '{"a":1}\n'],
  ['and none after one that has it', true, ['a\n', 'b\n'], 'a\nb\n'],
  ['nor after nothing', true, [''], ''],
  ['a pipe gets the text as it is', false, ['{"a":1}'], '{"a":1}'],
])('%s', async (_what, terminal, pieces, expected) => {
  expect(await written(many(...pieces), look('json', { terminal, isText: true }))).toBe(expected);
});
