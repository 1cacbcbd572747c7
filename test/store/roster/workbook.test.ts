import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { oncePerUser, readRoster, type RosterSource } from '../../../src/store/roster/read-roster.ts';
import { rosterFields } from '../../../src/schema/license.ts';
import { isWhole } from '../../helpers/extent.ts';
import { rowOf, workbookOf, zipOf, type WorkbookParts } from '../../helpers/workbook.ts';
import { failureOf } from '../place.ts';

const header = rowOf(1, ['remote_user', 'size_allowance', 'note']);
const ada = rowOf(2, ['ada', 4]);
const grace = rowOf(3, ['grace', 18]);
const good = [
  { remote_user: 'ada', size_allowance: 4, app_code: 7 },
  { remote_user: 'grace', size_allowance: 18, app_code: 7 },
];

interface Read {
  readonly rows: readonly unknown[];
  readonly others: readonly unknown[];
  readonly warnings: readonly string[];
}

async function read(bytes: Buffer, how: Partial<RosterSource> = {}): Promise<Read> {
  const warnings: string[] = [];
  const source = {
    file: 'roster.xlsx',
    bytes,
    format: undefined,
    warn: (text: string) => void warnings.push(text),
    ...how,
  };
  const completion = <R extends { readonly app_code?: number }>() =>
    Promise.resolve((row: R) => ({ ...row, app_code: row.app_code ?? 7 }));
  const { rows, others } = await readRoster(source, { fields: rosterFields, ...oncePerUser, completion });
  return { rows, others, warnings };
}

async function refusal(bytes: Buffer, how: Partial<RosterSource> = {}): Promise<readonly [string, string | undefined]> {
  const failure = await failureOf(() => read(bytes, how));
  expect(failure.kind).toBe('usage');
  return [failure.message, failure.hint];
}

/** Cells of a size: each in B2 of a sheet with a good header. */
const withSize = (cell: string, parts: Partial<WorkbookParts> = {}): Buffer =>
  workbookOf({ sheets: header + rowOf(2, ['ada', cell]) + grace, ...parts });
const withUser = (cell: string, parts: Partial<WorkbookParts> = {}): Buffer =>
  workbookOf({ sheets: header + rowOf(2, [cell, 4]) + grace, ...parts });

const dates = (code: string): string =>
  `<numFmts><numFmt numFmtId="164" formatCode="${code}"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>` +
  '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/><xf numFmtId="49"/></cellXfs>';

const shared = (...texts: readonly string[]): string => texts.map((text) => `<si>${text}</si>`).join('');
const bySharedTexts = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>${rowOf(2, ['<c t="s"><v>2</v></c>', 4])}${rowOf(3, ['<c t="s"><v>3</v></c>', 18])}`;

describe('a bad row of a workbook', () => {
  const signs = { x000A: 'a line break', x0009: 'a tab', x001B: 'U+001B' };
  test.each(Object.entries(signs))('has a control character in a name: %s', async (sign, held) => {
    const [message] = await refusal(withUser(`<c t="inlineStr"><is><t>ada_${sign}_bob</t></is></c>`));
    expect(message).toBe(`roster.xlsx:2: remote_user holds ${held}`);
  });

  test.each(['<c r="A2" t="inlineStr"><is><t>bob</t></is></c>', '<c r="A2"/>'])(
    'has two cells of one place: %s',
    async (cell) => {
      const twice = `<row r="2"><c r="A2" t="inlineStr"><is><t>ada</t></is></c>${cell}<c r="B2"><v>4</v></c></row>`;
      expect(await refusal(workbookOf({ sheets: header + twice + grace }))).toEqual([
        "roster.xlsx:2: remote_user: cell A2 of sheet 'Users' holds two cells of one place",
        'Open the workbook in a spreadsheet program and save it again.',
      ]);
    },
  );
});

describe('a workbook that is read as meant', () => {
  test.each<[string, Buffer, Partial<RosterSource>?]>([
    ['of inline texts', workbookOf({ sheets: header + ada + grace })],
    [
      'of shared texts, with runs of formats and a phonetic reading',
      workbookOf({
        sheets: bySharedTexts,
        strings: shared(
          '<t>Remote User</t>',
          '<t>size-allowance</t>',
          '<r><rPr><b/></rPr><t>a</t></r><r><t>da</t></r><rPh sb="0" eb="1"><t>no</t></rPh>',
          '<t>grace</t>',
        ),
      }),
    ],
    [
      'of elements with a prefix',
      workbookOf({ sheets: '', files: { 'xl/worksheets/sheet1.xml': prefixed(header + ada + grace) } }),
    ],
    ['without places of rows and cells', workbookOf({ sheets: (header + ada + grace).replace(/ r="[A-Z]?\d+"/g, '') })],
    ['of numbers as text', workbookOf({ sheets: header + rowOf(2, ['ada', '4']) + rowOf(3, ['grace', '18']) })],
    ['of numbers in other spellings', withSize('<c><v>4.0</v></c>')],
    ['of a number by its exponent', withSize('<c><v>4E+0</v></c>')],
    [
      'of blank cells of every type',
      workbookOf({
        sheets:
          header +
          ada +
          rowOf(3, ['grace', 18, '<c t="s"><v></v></c>']) +
          rowOf(4, ['<c t="s"/>', '<c><v> </v></c>']) +
          rowOf(5, ['<c t="s"><v> </v></c>', '<c t="n"/>']),
        strings: shared('<t>remote_user</t>'),
      }),
    ],
    ['of blanks around a text', withUser('<c t="inlineStr"><is><t xml:space="preserve"> ada\u00A0</t></is></c>')],
    ['of a text in CDATA', withUser('<c t="inlineStr"><is><t><![CDATA[ada]]></t></is></c>')],
    ['of an escaped character', withUser('<c t="inlineStr"><is><t>a_x0064_a</t></is></c>')],
    ['of formulas with their results', withSize('<c><f>2+2</f><v>4</v></c>')],
    ['of a formula that is a text', withUser('<c t="str"><f>LOWER("ADA")</f><v>ada</v></c>')],
    ['with a number in the format of text', withSize('<c s="3"><v>4</v></c>', { styles: dates('@') })],
    [
      'with a number in the usual format of powers',
      withSize('<c s="0"><v>4</v></c>', { styles: '<cellXfs><xf numFmtId="48"/></cellXfs>' }),
    ],
    [
      'with a number format that names no date',
      withSize('<c s="1"><v>4</v></c>', { styles: dates('#,##0 &quot;days&quot;;[Red]\\d0') }),
    ],
    [
      'with styles and nothing in the cells',
      workbookOf({ sheets: `${header}${ada}${grace}<row r="4"><c r="A4" s="1"/><c r="B4" s="1"/></row>` }),
    ],
    ['with blank rows between', workbookOf({ sheets: header + rowOf(5, ['ada', 4]) + rowOf(9, ['grace', 18]) })],
    [
      'with blank rows first',
      workbookOf({
        sheets:
          '<row r="1"/>' + rowOf(4, ['remote_user', 'size_allowance']) + rowOf(5, ['ada', 4]) + rowOf(6, ['grace', 18]),
      }),
    ],
    [
      'with dates, errors and booleans in other columns',
      workbookOf({
        sheets:
          header + rowOf(2, ['ada', 4, '<c t="e"><v>#N/A</v></c>']) + rowOf(3, ['grace', 18, '<c t="b"><v>1</v></c>']),
      }),
    ],
    [
      'with cells beside the header',
      workbookOf({ sheets: header + ada + grace + rowOf(4, ['', '', '', '', 'ask Ben']) }),
    ],
    ['with a row and cells without places', workbookOf({ sheets: header + ada.replaceAll(/ r="\w+"/g, '') + grace })],
    [
      'with a merged title above, by the line of the header',
      workbookOf({
        sheets:
          rowOf(1, ['License roster 2026']) +
          rowOf(3, ['remote_user', 'size_allowance']) +
          rowOf(4, ['ada', 4]) +
          rowOf(5, ['grace', 18]),
      }),
      { headerLine: 3 },
    ],
    [
      'in the second sheet, by its name',
      workbookOf({ sheets: { Notes: rowOf(1, ['Read me']), 'R&amp;D': header + ada + grace } }),
      { sheet: 'R&D' },
    ],
    [
      'behind a hidden sheet',
      workbookOf({
        sheets: { Lists: rowOf(1, ['a']), Users: header + ada + grace },
        attributes: { Lists: 'state="hidden"' },
      }),
    ],
    ['of files that are not compressed', workbookOf({ sheets: header + ada + grace, packing: { method: 0 } })],
    ['under the name of CSV', workbookOf({ sheets: header + ada + grace }), { file: 'roster.csv' }],
    ['from standard input', workbookOf({ sheets: header + ada + grace }), { file: 'standard input', format: 'xlsx' }],
  ])('%s', async (_name, bytes, how) => {
    expect(await read(bytes, how)).toEqual({ rows: good, others: [], warnings: [] });
  });

  test('with very many rows of which two hold something', async () => {
    const count = isWhole ? 1_000_000 : 2000;
    const empty = Array.from({ length: count }, (_, index) => `<row r="${index + 3}" s="1" customFormat="1"/>`);
    const bytes = workbookOf({ sheets: header + ada + empty.join('') + rowOf(count + 3, ['grace', 18]) });
    expect((await read(bytes)).rows).toEqual(good);
  });

  test('keeps other columns as the texts that they show: dates of both epochs, booleans and errors', async () => {
    const cells = [
      '<c s="1"><v>46082</v></c>',
      '<c s="1"><v>46082.5</v></c>',
      '<c t="b"><v>0</v></c>',
      '<c t="e"><v>#N/A</v></c>',
      '<c><v>2.5</v></c>',
    ];
    const sheets =
      rowOf(1, ['remote_user', 'size_allowance', 'day', 'time', 'is', 'bad', 'part']) + rowOf(2, ['ada', 4, ...cells]);
    const others = async (properties: string): Promise<readonly unknown[]> =>
      (await read(workbookOf({ sheets, styles: dates('dd.mm.yyyy'), properties }), { keepBeside: [] })).others;
    const rest = { is: 'FALSE', bad: '#N/A', part: '2.5' };
    expect(await others('')).toEqual([{ day: '2026-03-01', time: '2026-03-01T12:00:00', ...rest }]);
    expect(await others('date1904="1"')).toEqual([{ day: '2030-03-02', time: '2030-03-02T12:00:00', ...rest }]);
  });
});

/** The same sheet as writers of the OpenXML SDK name its elements. */
function prefixed(rows: string): string {
  const tagged = `<worksheet><sheetData>${rows}</sheetData></worksheet>`.replace(/<(\/?)(\w)/g, '<$1x:$2');
  return tagged.replace(
    '<x:worksheet',
    '<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"',
  );
}

const asText = 'Format the column as text, and type the value again.';

test('formats without a code are dates where the standard says so, and days count to the year 9999', async () => {
  const formats = [0, 14, 13, 22, 23, 24, 36, 37, 44, 45, 47, 48, 49, 50, 58, 59];
  const days = [-1, 0, 59, 60, 61, 61.5, 2958465, 2958466];
  const cells = [...formats.map((_id, style) => [style, 7]), ...days.map((day) => [1, day])];
  const rows = cells.map(([style, day], at) => rowOf(at + 2, [`user-${at}`, 4, `<c s="${style}"><v>${day}</v></c>`]));
  const styles = `<cellXfs>${formats.map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs>`;
  const { others } = await read(workbookOf({ sheets: header + rows.join(''), styles }), { keepBeside: [] });
  const notes = others.map((row) => (row as { note: unknown }).note);
  expect(formats.filter((_id, at) => notes[at] === '1900-01-07')).toEqual([14, 22, 24, 36, 45, 47, 50, 58]);
  expect(notes.slice(formats.length).join(' ')).toBe(
    '-1 1899-12-31 1900-02-28 1900-02-28 1900-03-01 1900-03-01T12:00:00 9999-12-31 2958466',
  );
});

test.each(['Z', 'AA', 'AZ', 'BA', 'ZZ', 'AAA'])('a cell of column %s is named as people name it', async (column) => {
  const text = (place: string, words: string): string => `<c r="${place}" t="inlineStr"><is><t>${words}</t></is></c>`;
  const first = `<row r="1">${text('A1', 'remote_user')}${text(`${column}1`, 'size_allowance')}</row>`;
  const second = `<row r="2">${text('A2', 'ada')}<c r="${column}2" t="b"><v>1</v></c></row>`;
  const [message] = await refusal(workbookOf({ sheets: first + second }));
  expect(message).toBe(`roster.xlsx:2: size_allowance: cell ${column}2 of sheet 'Users' holds a boolean`);
});

describe('a workbook with a cell that is no user or size', () => {
  test.each<[string, Buffer, string, string]>([
    ['a date', withSize('<c s="1"><v>46082</v></c>', { styles: dates('d/m/yy') }), 'a date', asText],
    ['a date of the usual format', withSize('<c s="2"><v>4</v></c>', { styles: dates('@') }), 'a date', asText],
    ['a date by its type', withSize('<c t="d"><v>2026-03-01</v></c>'), 'a date', asText],
    ['hours', withSize('<c s="1"><v>4</v></c>', { styles: dates('[h]') }), 'a date', asText],
    ['a boolean', withSize('<c t="b"><v>1</v></c>'), 'a boolean', 'Type the value as text.'],
    ['an error', withSize('<c t="e"><f>1/0</f><v>#DIV/0!</v></c>'), 'the error #DIV/0!', 'Fix its formula.'],
    ['a fraction', withSize('<c><v>2.5</v></c>'), '2.5, which is not a whole number', 'Type a whole number.'],
    [
      'a formula without a result',
      withSize('<c><f>2+2</f></c>'),
      'a formula without a stored result',
      'Open the workbook in a spreadsheet program and save it again.',
    ],
  ])('%s is named', async (_name, bytes, holds, hint) => {
    expect(await refusal(bytes)).toEqual([
      `roster.xlsx:2: size_allowance: cell B2 of sheet 'Users' holds ${holds}`,
      hint,
    ]);
  });

  test.each<[string, Buffer, string]>([
    [
      'a long number',
      withUser('<c><v>1E+15</v></c>'),
      'a number of more than 15 digits, of which a spreadsheet keeps 15',
    ],
    [
      'a number with zeros before it',
      withUser('<c s="1"><v>123</v></c>', { styles: dates('00000') }),
      'the number 123, which it shows as 00123',
    ],
  ])('%s as a user', async (_name, bytes, holds) => {
    expect(await refusal(bytes)).toEqual([
      `roster.xlsx:2: remote_user: cell A2 of sheet 'Users' holds ${holds}`,
      asText,
    ]);
  });

  test('of the same kind are grouped', async () => {
    const rows = Array.from({ length: 30 }, (_, index) => rowOf(index + 2, [`user-${index}`, '<c><v>2.5</v></c>']));
    const [message] = await refusal(workbookOf({ sheets: header + rows.join('') }));
    expect(message.split('\n').at(-1)).toBe('roster.xlsx: lines 22-31: size_allowance: holds a fraction');
  });
});

const damagedHint = 'Open it in the spreadsheet program and save it again, or save it as "CSV UTF-8".';
const whole = workbookOf({ sheets: header + ada + grace });
const bomb = (
  name: string,
  head: string,
  piece: string,
  mebibytes: number,
  packing?: WorkbookParts['packing'],
): Buffer =>
  workbookOf({
    sheets: '',
    files: { [name]: Buffer.concat([Buffer.from(head), Buffer.alloc(mebibytes * 1024 * 1024, piece)]) },
    ...(packing && { packing }),
  });
const sheetOf = (xml: string | Buffer): Buffer =>
  workbookOf({ sheets: '', files: { 'xl/worksheets/sheet1.xml': xml } });
const longRow = `<row spans="${'1'.repeat(32_000)}"/>`;

/** A good workbook with changed bytes. `entry`: where the last entry of the directory is; `end`: where its end is. */
function patched(change: (bytes: Buffer, entry: number, end: number) => unknown): Buffer {
  const bytes = Buffer.from(whole);
  const [entry, end] = ['PK\x01\x02', 'PK\x05\x06'].map((mark) => bytes.lastIndexOf(mark, undefined, 'latin1'));
  change(bytes, entry ?? 0, end ?? 0);
  return bytes;
}

const withoutSheet = Buffer.from(
  Buffer.from(workbookOf({ sheets: header, packing: { method: 0 } }))
    .toString('latin1')
    .replaceAll('xl/worksheets/sheet1.xml', 'xl/worksheets/sheet9.xml')
    .replace('worksheets/sheet9.xml"', 'worksheets/sheet1.xml"'),
  'latin1',
);

describe('a file that is refused', () => {
  test.each<[string, Buffer, string, string?, Partial<RosterSource>?]>([
    [
      'a title above the header',
      workbookOf({ sheets: rowOf(1, ['Roster']) + rowOf(4, ['remote_user', 'size_allowance']) + rowOf(5, ['ada', 4]) }),
      'line 1 is not the header; line 4 has remote_user and size_allowance',
      'Give --header-line 4.',
    ],
    [
      'another first sheet',
      workbookOf({ sheets: { Notes: rowOf(1, ['Read', 'me']), Users: rowOf(1, ['remote_user']) } }),
      "sheet 'Notes': the header lacks remote_user and size_allowance; it has Read, me",
      'Name it with --column remote_user=HEADER --column size_allowance=HEADER. Without a header the file needs a first line: remote_user,size_allowance. For another sheet give --sheet: Users.',
    ],
    [
      'a sheet that is not there',
      whole,
      "--sheet: there is no 'users'; the sheets are Users",
      'Did you mean Users?',
      { sheet: 'users' },
    ],
    ['no rows', workbookOf({ sheets: header }), 'no rows'],
    [
      'a password (Office)',
      Buffer.concat([Buffer.from('D0CF11E0A1B11AE1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
      'this workbook is protected by a password',
      'Open it, and save it without one.',
    ],
    [
      'a password (zip)',
      workbookOf({ sheets: header, packing: { says: { flags: 1 } } }),
      'it is protected by a password',
      'Open it, and save it without one.',
    ],
    [
      '.ods',
      zipOf({ mimetype: 'application/vnd.oasis.opendocument.spreadsheet', 'content.xml': '' }),
      'this is a workbook (.ods)',
      'Open it in the spreadsheet program and save it as ".xlsx" or "CSV UTF-8".',
    ],
    [
      '.xlsb',
      zipOf({ 'xl/workbook.bin': '' }),
      'this is a workbook (.xlsb)',
      'Open it in the spreadsheet program and save it as ".xlsx" or "CSV UTF-8".',
    ],
    [
      'text',
      Buffer.from('remote_user,size_allowance\nada,4\n'),
      'this is text, not a workbook (.xlsx)',
      'If it is CSV, give --input-format csv.',
    ],
    ['a workbook as CSV', whole, 'this is a workbook, not text', 'Give --input-format xlsx.', { format: 'csv' }],
    ['half a file', whole.subarray(0, whole.length / 2), 'a damaged workbook: it is cut off', damagedHint],
    [
      'a wrong checksum',
      workbookOf({ sheets: header, packing: { says: { crc: 1 } } }),
      'a damaged workbook: a checksum is wrong',
      damagedHint,
    ],
    [
      'a file that is not where the directory says',
      patched((bytes, entry) => bytes.writeUInt32LE(1, entry + 42)),
      'a damaged workbook: a file is missing',
      damagedHint,
    ],
    [
      'compressed data that are none',
      patched((bytes, entry) =>
        bytes.fill(0xff, bytes.readUInt32LE(entry + 42) + 49, bytes.readUInt32LE(entry + 42) + 60),
      ),
      'a damaged workbook: its compressed data are broken',
      damagedHint,
    ],
    ['a sheet without its file', withoutSheet, 'a damaged workbook: a sheet is missing', damagedHint],
    [
      'a cell without a place',
      workbookOf({ sheets: `${header}<row r="2"><c r="2"><v>1</v></c></row>` }),
      'a damaged workbook: a cell has no place',
      damagedHint,
    ],
    [
      'a number that is none',
      withSize('<c r="B2"><v>four</v></c>'),
      'a damaged workbook: a number is none',
      damagedHint,
    ],
    [
      'broken XML',
      workbookOf({ sheets: `${header}<row r="2"><c></row>` }),
      'a damaged workbook: xl/worksheets/sheet1.xml: <c> is not closed',
      damagedHint,
    ],
    [
      'a text that is missing',
      withUser('<c t="s"><v>9</v></c>'),
      'a damaged workbook: a cell refers to a text that is missing',
      damagedHint,
    ],
    [
      'rows out of order',
      workbookOf({ sheets: header + ada + ada }),
      'a damaged workbook: row 2 follows row 2',
      damagedHint,
    ],
    [
      'a bomb that says it is small',
      bomb('xl/worksheets/sheet1.xml', '<worksheet><sheetData>', longRow, 130, { says: { size: 9 } }),
      'a sheet, or the texts of all, is larger than 128 MiB',
      'Copy the columns that count into a new workbook.',
    ],
    [
      'a bomb of cells',
      bomb('xl/worksheets/sheet1.xml', '<worksheet><sheetData><row>', '<c/>', 2),
      'a damaged workbook: xl/worksheets/sheet1.xml: an element with more than 500000 in it',
      damagedHint,
    ],
    [
      'a bomb of levels',
      bomb('xl/worksheets/sheet1.xml', '<worksheet><a/>', '<a>', 1),
      'a damaged workbook: xl/worksheets/sheet1.xml: more than 64 levels',
      damagedHint,
    ],
    [
      'levels that are not too many',
      sheetOf(`<worksheet>${'<a>'.repeat(63)}`),
      'a damaged workbook: xl/worksheets/sheet1.xml: <a> is not closed',
      damagedHint,
    ],
    [
      'Latin-1',
      sheetOf(Buffer.from('<worksheet>\xe9</worksheet>', 'latin1')),
      'a damaged workbook: xl/worksheets/sheet1.xml: not UTF-8',
      damagedHint,
    ],
    ...[20, 42].map((field): [string, Buffer, string, string] => [
      `Zip64 by the field ${field}`,
      patched((bytes, entry) => bytes.writeUInt32LE(0xffffffff, entry + field)),
      'a damaged workbook: it is a Zip64 archive, which is not read',
      damagedHint,
    ]),
    [
      'a bomb of entities',
      sheetOf('<!DOCTYPE w [<!ENTITY a "aaaa">]><worksheet>&a;</worksheet>'),
      'a damaged workbook: xl/worksheets/sheet1.xml: a document type',
      damagedHint,
    ],
  ])('%s', async (_name, bytes, message, hint, how) => {
    expect(await refusal(bytes, how)).toEqual([`roster.xlsx: ${message}`, hint]);
  });
});

describe('of several sheets', () => {
  const field = (name: string): Buffer => readFileSync(join('test/fixtures/spreadsheets/field', name));
  const users = async (bytes: Buffer, how: Partial<RosterSource> = {}) =>
    (await read(bytes, how)).rows.map((row) => (row as { remote_user: string }).remote_user);
  const title = rowOf(1, ['Customers of spring']);
  const low = rowOf(3, ['remote_user', 'size_allowance']) + rowOf(4, ['ben', 2]);

  test.each([
    ['twosheets.xlsx', 'North, South'],
    ['active.xlsx', 'Old, Current'],
  ])('none is taken where several have the columns: %s', async (name, sheets) => {
    expect(await refusal(field(name))).toEqual([
      `roster.xlsx: the workbook has 2 sheets with the columns remote_user and size_allowance: ${sheets}`,
      'Name one with --sheet NAME.',
    ]);
  });

  test('the one that is named is taken', async () => {
    expect(await users(field('twosheets.xlsx'), { sheet: 'South' })).toEqual(['s1', 's2']);
  });

  test('the one that has the columns is taken', async () => {
    const notes = rowOf(1, ['Read', 'me']);
    const sheets = { Notes: notes, Prices: rowOf(1, ['size_allowance', 'price']), Users: header + ada + grace };
    expect((await read(workbookOf({ sheets }))).rows).toEqual(good);
    const two = { Old: header + ada, Users: header + grace };
    expect(await users(workbookOf({ sheets: two, attributes: { Old: 'state="hidden"' } }))).toEqual(['grace']);
  });

  test('a header below a title counts too', async () => {
    const both = workbookOf({ sheets: { Users: header + ada, Spring: title + low } });
    expect((await refusal(both))[0]).toContain('has 2 sheets');
    expect(await users(both, { headerLine: 3 })).toEqual(['ben']);
    const [message, hint] = await refusal(workbookOf({ sheets: { Notes: title, Spring: title + low } }));
    expect(message).toContain("sheet 'Spring': line 1 is not the header; line 3 has remote_user and size_allowance");
    expect(hint).toContain('Give --header-line 3.');
  });

  test('columns of other names count by --column', async () => {
    const sheets = { Notes: title, Users: rowOf(1, ['Login', 'size_allowance']) + ada };
    expect(await users(workbookOf({ sheets }), { columns: ['remote_user=Login'] })).toEqual(['ada']);
  });

  test('a cell that a merge leaves empty is a bad row', async () => {
    expect(await refusal(field('merged.xlsx'))).toEqual([
      "roster.xlsx:3: size_allowance: cell B3 of sheet 'Users' is empty: it is merged with B2",
      'Unmerge the cells, and write the value in each row.',
    ]);
  });

  test('also in a column that may be blank, and not above the header or in a column of others', async () => {
    const names = rowOf(2, ['remote_user', 'size_allowance', 'app_code', 'note']);
    const rows = rowOf(1, ['Spring']) + names + rowOf(3, ['ada', 4, 7, 'x']) + rowOf(4, ['grace', 18]);
    const merged = (...refs: readonly string[]): Buffer => {
      const cells = refs.map((ref) => `<mergeCell ref="${ref}"/>`).join('');
      const xml = `<worksheet><sheetData>${rows}</sheetData><mergeCells>${cells}</mergeCells></worksheet>`;
      return sheetOf(xml);
    };
    expect(await users(merged('A1:D1', 'D3:D4'), { headerLine: 2 })).toEqual(['ada', 'grace']);
    for (const [ref, first] of [
      ['C3:C9', 'C3'],
      ['B4:C4', 'B4'],
    ] as const) {
      const [message] = await refusal(merged('A1:D1', ref), { headerLine: 2 });
      expect(message).toBe(`roster.xlsx:4: app_code: cell C4 of sheet 'Users' is empty: it is merged with ${first}`);
    }
  });

  test('a number that its format shows behind a prefix and zeros is no user', async () => {
    expect((await refusal(field('prefixfmt.xlsx')))[0]).toContain('the number 12, which it shows as');
  });
});

describe('CSV below a title', () => {
  const titled = 'Roster of spring;;\r\n\r\nRemote User;Size allowance;"two\r\nlines"\r\nada;4;\r\ngrace;18;\r\n';
  const csv = Buffer.from(titled);

  test('names the line of the header', async () => {
    expect(await refusal(csv, { file: 'roster.csv' })).toEqual([
      'roster.csv: line 1 is not the header; line 3 has Remote User and Size allowance',
      'Give --header-line 3.',
    ]);
  });

  test('is read from the line that is given, and its rows keep their lines', async () => {
    const how = { file: 'roster.csv', headerLine: 3 };
    expect((await read(csv, how)).rows).toEqual(good);
    const [message] = await refusal(Buffer.from(titled.replace('18', '19')), how);
    expect(message).toBe('roster.csv:6: size_allowance: 19 is out of range; must be 1 to 18');
  });

  test('with a second header, as of sheets that were joined', async () => {
    const again = rowOf(4, ['Remote User', 'size_allowance', 'x']);
    const [message] = await refusal(workbookOf({ sheets: header + ada + grace + again }));
    expect(message).toBe('roster.xlsx:4: the header again: Remote User, size_allowance');
  });

  test('offers no other line than the one that is given', async () => {
    const [message] = await refusal(Buffer.from(`a,b\n${titled}`), { file: 'roster.csv', headerLine: 2 });
    expect(message).toBe('roster.csv: the header lacks remote_user and size_allowance; it has Roster of spring');
  });

  test('has no rows where its header is beyond the end', async () => {
    expect(await refusal(csv, { file: 'roster.csv', headerLine: 40 })).toEqual(['roster.csv: no rows', undefined]);
  });

  test.each<[Partial<RosterSource>, string]>([
    [{ sheet: 'Users' }, '--sheet: roster.csv is csv, which has no sheets'],
    [{ headerLine: 2, format: 'ndjson' }, '--header-line: roster.csv is ndjson, which has no header'],
  ])('%j is refused', async (how, message) => {
    expect(await refusal(csv, { file: 'roster.csv', ...how })).toEqual([message, undefined]);
  });
});
