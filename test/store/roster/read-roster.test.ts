import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Failure, usage } from '../../../src/core/failure.ts';
import {
  oncePerUser,
  readRoster,
  type CheckedRoster,
  type RosterSource,
} from '../../../src/store/roster/read-roster.ts';
import { rosterFields, type LicenseFields } from '../../../src/schema/license.ts';
import { failureOf } from '../place.ts';

const folder = 'test/fixtures/spreadsheets/files';

function read(
  file: string,
  bytes: Buffer | string,
  how: Partial<RosterSource> = {},
): Promise<CheckedRoster<LicenseFields>> {
  const source = { file, bytes: Buffer.from(bytes), format: undefined, ...how };
  const completion = <R extends { readonly app_code?: number }>(
    _rows: readonly R[],
  ): Promise<(row: R) => R & { readonly app_code: number }> =>
    Promise.resolve((row: R) => ({ ...row, app_code: row.app_code ?? 7 }));
  return readRoster(source, { fields: rosterFields, ...oncePerUser, completion });
}

/** How each row is named by what fills it in: with the line that it begins on. */
async function refusalsOf(file: string, bytes: Buffer): Promise<readonly string[]> {
  const completion = () =>
    Promise.resolve(({ remote_user }: { readonly remote_user: string }): LicenseFields => {
      throw usage(remote_user);
    });
  const reading = readRoster({ file, bytes, format: undefined }, { fields: rosterFields, ...oncePerUser, completion });
  const failure = await reading.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return failure instanceof Failure ? failure.message.split('\n') : [];
}

describe('a control character in a name', () => {
  const inName = (sign: string) => `remote_user,size_allowance\nben,3\n"ada${sign}bob",5\n`;

  test.each([
    ['\n', 'a line break'],
    ['\r\n', 'a line break'],
    ['\r', 'a line break'],
    ['\t', 'a tab'],
    ['\u001b', 'U+001B'],
    ['\u007f', 'U+007F'],
    ['\b', 'U+0008'],
    ['\u0085', 'U+0085'],
  ])('of CSV is a bad row: %j', async (sign, named) => {
    expect(await failureOf(() => read('roster.csv', inName(sign)))).toEqual({
      kind: 'usage',
      message: `roster.csv:3: remote_user holds ${named}`,
      hint: 'Look for a quote that is not closed. Only JSON can give a name that contains one.',
    });
  });

  test('and a quote that is forgotten does not make one user of two lines', async () => {
    const message = (await failureOf(() => read('roster.csv', 'remote_user,size_allowance\n"ada,4\nbob",5\ncleo,6\n')))
      .message;
    expect(message).toBe('roster.csv:2: remote_user holds a line break');
  });

  test.each(['size_allowance', 'note'])('is for the column itself to judge elsewhere: %s', async (column) => {
    const text = `remote_user,size_allowance,note\nada,${column === 'note' ? '4,"x\ny"' : '"4\n5",x'}\n`;
    const { rows } = await read('roster.csv', text).catch(() => ({ rows: [] }));
    expect(rows).toHaveLength(column === 'note' ? 1 : 0);
  });

  test.each(['json', 'ndjson'] as const)('of %s is meant', async (format) => {
    const row = JSON.stringify({ remote_user: 'ada\tbob', size_allowance: 5 });
    const { rows } = await read('roster', format === 'json' ? `[${row}]` : row, { format });
    expect(rows).toEqual([{ remote_user: 'ada\tbob', size_allowance: 5, app_code: 7 }]);
  });
});

describe('a spreadsheet', () => {
  const [ada, grace] = [
    { remote_user: 'ada', size_allowance: 4, app_code: 7 },
    { remote_user: 'grace', size_allowance: 18, app_code: 7 },
  ];

  /** The lines that ada and grace begin on. */
  const good: Readonly<Record<string, readonly [number, number]>> = {
    'excel-alt-enter.csv': [2, 4],
    'excel-blank-rows.csv': [3, 5],
    'excel-csv-utf8.csv': [2, 3],
    'excel-german.csv': [2, 3],
    'excel-german-utf8.csv': [2, 3],
    'excel-macintosh.csv': [2, 3],
    'excel-sep.csv': [3, 4],
    'excel-sep-bom-tab.csv': [3, 4],
    'excel-short-rows.csv': [2, 3],
    'excel-text-tabs.txt': [2, 3],
    'excel-title-case.csv': [2, 3],
    'excel-trailing-cells.csv': [2, 3],
    'excel-unicode-text.txt': [2, 3],
    'google-download.csv': [2, 3],
    'google-download.tsv': [2, 3],
    'google-form.csv': [2, 3],
    'hand-blanks-outside-quotes.csv': [2, 3],
    'hand-blanks.csv': [2, 3],
    'hand-mixed-line-ends.csv': [2, 3],
    'hand-upper-case.csv': [2, 3],
    'hand-utf16-big-endian.csv': [2, 3],
    'libreoffice-blank-first-lines.csv': [4, 6],
    'libreoffice-default.csv': [2, 3],
    'libreoffice-quote-all.csv': [2, 3],
    'libreoffice-semicolon-quote-all.csv': [2, 3],
    'libreoffice-tab.tsv': [2, 3],
    'libreoffice-utf16.csv': [2, 3],
    'libreoffice-xlsx-renamed.csv': [2, 3],
    'libreoffice.xlsx': [2, 3],
    'openpyxl.xlsx': [2, 3],
    'xlsxwriter-inline.xlsx': [2, 3],
  };

  const bad: Readonly<Record<string, string>> = {
    'excel-97.xls': ': this is a workbook (.xls), not text',
    'excel-decimal-comma.csv': ":2: size_allowance: '4,0' is not a whole number, 1 to 18",
    'excel-latin1.csv': ': not valid UTF-8',
    'excel-workbook-renamed.csv': ': a damaged workbook: it is cut off',
    'excel-workbook.xlsx': ': a damaged workbook: it is cut off',
    'google-login-column.csv': ': the header lacks remote_user and size_allowance; it has Login, Sensors, Name',
    'google-two-headers.csv': ": the headers 'Remote User' and 'remote_user' are both read as remote_user",
    'hand-comma-in-cell.csv': ':2: 4 cells, and the header has 3',
    'hand-cut-off.csv': ':3: 2 cells, and the header has 3; the file may be cut off here',
    'hand-no-header.csv': ': the header lacks remote_user and size_allowance; it has ada, 4',
    'hand-open-quote.csv': ':3: not valid CSV: quote not closed',
    'hand-quoted-blank.csv': ':2: remote_user: begins or ends with a space',
    'hand-repeated.csv': ":6: user 'ada' is already on line 3",
    'hand-stray-quote.csv': ':2: not valid CSV: invalid opening quote',
    'hand-utf16-without-mark.csv': ': this is not text, or UTF-16 without a byte order mark',
    'hand-web-page.xls': ': this is HTML or XML, not a roster',
    'libreoffice-ods-renamed.xlsx': ': this is a workbook (.ods)',
    'libreoffice-workbook.ods': ': a damaged workbook: it is cut off',
    'libreoffice-xls-renamed.xlsx': ': this is a workbook (.xls), not text',
    'openpyxl-formula.xlsx': ":2: size_allowance: cell B2 of sheet 'Users' holds a formula without a stored result",
    'xlsxwriter-title.xlsx': ": sheet 'Users': line 1 is not the header; line 3 has remote_user and size_allowance",
  };

  test('is in one of the two tables', () => {
    expect(readdirSync(folder).sort()).toEqual([...Object.keys(good), ...Object.keys(bad)].sort());
  });

  test.each(Object.entries(good))('%s is read as meant', async (file, lines) => {
    const bytes = readFileSync(join(folder, file));
    expect((await read(file, bytes)).rows).toEqual([ada, grace]);
    expect(await refusalsOf(file, bytes)).toEqual([`${file}:${lines[0]}: ada`, `${file}:${lines[1]}: grace`]);
  });

  test.each(Object.entries(bad))('%s is refused%s', async (file, message) => {
    expect(await failureOf(() => read(file, readFileSync(join(folder, file))))).toMatchObject({
      kind: 'usage',
      message: `${file}${message}`,
    });
  });

  test('of another character set is refused in one line, with how to save it', async () => {
    const bytes = Buffer.from('remote_user,size_allowance\nRen\xe9,4\nada,3\nJos\xe9,2\n', 'latin1');
    const failure = await failureOf(() => read('roster.csv', bytes));
    expect(failure.message).toBe('roster.csv: not valid UTF-8');
    expect(failure.hint).toContain('in Excel with File, Save As, "CSV UTF-8"');
  });

  test('with a strange header is read where --column names it', async () => {
    const columns = ['remote_user=Login', 'size-allowance=SENSORS'];
    const { rows } = await read('roster.csv', readFileSync(join(folder, 'google-login-column.csv')), { columns });
    expect(rows).toEqual([ada, grace]);
  });
});

test.each([
  ['Login', '--column Login: expected NAME=HEADER'],
  ['login=Login', "--column login=Login: 'login' is not a column of the roster"],
  ['remote_user=Account', "roster.csv: the header lacks 'account'; it has Login, remote_user, size_allowance"],
  ['remote_user=Login', "roster.csv: the headers 'Login' and 'remote_user' are both read as remote_user"],
])('--column %s is refused', async (word, message) => {
  const text = 'Login,remote_user,size_allowance\na,b,4\n';
  expect(await failureOf(() => read('roster.csv', text, { columns: [word] }))).toMatchObject({
    kind: 'usage',
    message,
  });
});

const ann = '"Doe, \\"Ann\\""';

test.each([
  ['NDJSON', `{"remote_user":${ann},"size_allowance":4}\n`],
  ['NDJSON with numbers as text and a mark', `\uFEFF{"remote_user":${ann},"size_allowance":"4"}\r\n`],
  ['JSON', ` [\n  {"remote_user":${ann},"size_allowance":4}\n]`],
  ['JSON with a mark', `\uFEFF[{"remote_user":${ann},"size_allowance":4}]`],
  ['CSV with a mark, CRLF and empty lines', '\uFEFFx,remote_user,size_allowance\r\n\r\nx,"Doe, ""Ann""",4\r\n\r\n'],
])('what has no extension is read by how it begins: %s', async (_form, text) => {
  expect((await read('standard input', text)).rows).toEqual([
    { remote_user: 'Doe, "Ann"', size_allowance: 4, app_code: 7 },
  ]);
});

test('only the header decides on the separator', async () => {
  const { rows } = await read('a.csv', 'remote_user,size_allowance\na;b;c;d,4\n"e,f",5\n');
  expect(rows.map(({ remote_user }) => remote_user)).toEqual(['a;b;c;d', 'e,f']);
});

test('the lines of rows are right below quoted cells that hold CRLF', async () => {
  const text = 'remote_user,size_allowance,note\r\na,1,"x\r\ny\r\nz"\r\n\r\nb,2,"\r\n"\r\nc,0,\r\n';
  expect(await failureOf(() => read('a.csv', text))).toMatchObject({
    message: 'a.csv:8: size_allowance: 0 is out of range; must be 1 to 18',
  });
});

describe('bad rows', () => {
  test('are named one by one up to 20, the others by line and reason', async () => {
    const lines = Array.from(
      { length: 40 },
      (_, index) => `u${index},${index % 4 === 3 ? '4.5' : index % 2 ? 99 : ''}`,
    );
    const text = ['remote_user,size_allowance', 'ada,4', ...lines, 'ada,5', 'ada,6'].join('\n');

    const problems = (await failureOf(() => read('roster.csv', text))).message.split('\n');

    expect(problems.slice(0, 4)).toEqual([
      'roster.csv:3: size_allowance is missing',
      'roster.csv:4: size_allowance: 99 is out of range; must be 1 to 18',
      'roster.csv:5: size_allowance is missing',
      "roster.csv:6: size_allowance: '4.5' is not a whole number, 1 to 18",
    ]);
    expect(problems.slice(20)).toEqual([
      'roster.csv: lines 23, 25, 27, 29, 31, 33, 35, 37, 39, 41: size_allowance is missing',
      'roster.csv: lines 24, 28, 32, 36, 40: size_allowance: the value is out of range; must be 1 to 18',
      'roster.csv: lines 26, 30, 34, 38, 42: size_allowance: the value is not a whole number, 1 to 18',
      'roster.csv: lines 43-44: the user is already on an earlier line',
    ]);
  });

  test('above a limit end the reading', async () => {
    const text = `remote_user,size_allowance\n${'ada,\n'.repeat(10_010)}`;
    const { message } = await failureOf(() => read('roster.csv', text));
    expect(message.split('\n').slice(20)).toEqual([
      'roster.csv: lines 22-10001: size_allowance is missing',
      'roster.csv: more than 10000 bad rows; not read beyond line 10002',
    ]);
  });
});

test.each([
  ['a header of very many columns', `remote_user,size_allowance${',c'.repeat(1000)}\n`, 'the header has 1002 columns'],
  [
    'a line of many cells',
    `remote_user,size_allowance\nada,4${','.repeat(2 ** 20)}\n`,
    'a line of more than 1 MiB: line 2',
  ],
  ['a cell over several lines', `remote_user,size_allowance\n"${'x\n'.repeat(2 ** 20)}",4`, 'a row of more than 1 MiB'],
  ['a large file', Buffer.alloc(2 ** 26 + 1, 'x'), 'more than 64 MiB'],
  ['nothing', '', 'no rows: the file is empty'],
  ['a header alone', 'remote_user,size_allowance\n', 'no rows'],
  ['a header that has one twice', 'remote_user,size_allowance,remote_user\n', "the header has 'remote_user' twice"],
  [
    'an open quote below a bad row',
    'remote_user,size_allowance\na,0\n"b,1\n',
    'roster:2: size_allowance: 0 is out of range; must be 1 to 18\nroster:3: not valid CSV',
  ],
  [
    'a user who is there three times',
    'remote_user,size_allowance\nada,4\nada,5\nada,6\n',
    "roster:3: user 'ada' is already on line 2\nroster:4: user 'ada' is already on line 2",
  ],
  ['an object that is no list', '{"remote_user": "a",\n "size_allowance": 4}', 'roster:1: not valid JSON'],
  ['a list of words', '["a", 4]', 'roster: row 1: not an object\nroster: row 2: not an object'],
])('%s is refused', async (_what, bytes, message) => {
  expect((await failureOf(() => read('roster', bytes))).message).toContain(message);
});

describe('a second header, as files have it that were joined', () => {
  const hint = 'Remove the line: two files were joined. A user of that name can be given in JSON.';
  test.each<[string, readonly string[], (readonly string[])?]>([
    ['remote_user,size_allowance\nada,4\nremote_user,size_allowance\nben,5\n', ['remote_user', 'size_allowance']],
    ['remote_user,size_allowance,note\nada,4,x\nRemote User,Size-Allowance,other\n', ['Remote User', 'Size-Allowance']],
    ['Login;size_allowance\nada;4\nlogin;size_allowance\n', ['login', 'size_allowance'], ['remote_user=Login']],
    ['remote_user,size_allowance,app_code\nada,4,7\nremote_user,size_allowance\n', ['remote_user', 'size_allowance']],
    [
      'license_code\tremote_user\tsize_allowance\nk\tada\t4\nlicense_code\tremote_user\tsize_allowance\n',
      ['remote_user', 'size_allowance'],
    ],
  ])('is refused, naming its line: %j', async (text, cells, columns) => {
    const failure = await failureOf(() => read('roster.csv', text, { columns }));
    expect(failure).toEqual({ kind: 'usage', message: `roster.csv:3: the header again: ${cells.join(', ')}`, hint });
  });

  const readList = (text: string) => {
    const fields = { remote_user: rosterFields.remote_user };
    const completion = <R>() => Promise.resolve((row: R) => row);
    const rules = { fields, alone: 'remote_user', noun: 'user', nameOf: String, completion };
    return readRoster({ file: 'list', bytes: Buffer.from(text), format: undefined }, rules);
  };

  test.each([
    ['with a header', 'remote_user\nada\nRemote User\nben\n', 3],
    ['without one', 'ada\nremote_user\nben\n', 2],
  ])('of a list %s', async (_what, text, line) => {
    expect((await failureOf(() => readList(text))).message).toMatch(`list:${line}: the header again: `);
  });

  test.each([
    [
      'CORP\\\\jdoe',
      "'CORP\\\\jdoe' if a person or a spreadsheet wrote this, and 'CORP\\jdoe' if chatelaine printed it",
    ],
    ['CORP\\jdoe', undefined],
    ['\\\\host\\jdoe', undefined],
  ])('nor is a name of two readings in a list without a header: %s', async (name, message) => {
    const reading = readList(`ada\n${name}\n`);
    if (message === undefined) expect((await reading).rows.at(-1)).toEqual({ remote_user: name });
    else expect((await failureOf(() => reading)).message).toBe(`list:2: ${message}`);
  });

  test('in a list below our header, quotes that CSV needs are clear', async () => {
    const { rows } = await readList('remote_user\n"a, b"\nada\n');
    expect(rows).toEqual([{ remote_user: 'a, b' }, { remote_user: 'ada' }]);
  });

  test('is a user where another cell of the row is a value', async () => {
    const { rows } = await read('roster.csv', 'remote_user,size_allowance\nremote_user,4\n');
    expect(rows).toMatchObject([{ remote_user: 'remote_user', size_allowance: 4 }]);
  });
});

test('--where takes a column by the header that --column gives another name', async () => {
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const how = { columns: ['remote_user=Login'], where: ['Login=ben'], note };
  const { rows } = await read('roster.csv', 'Login,size_allowance\nada,4\nben,5\n', how);
  expect(rows).toMatchObject([{ remote_user: 'ben', size_allowance: 5 }]);
  expect(notes).toEqual(['1 of 2 rows is taken: remote_user is ben']);
});

describe('--where', () => {
  const sheet = 'remote_user,size_allowance,Status,O\nada,4,renew,Ulm\nben,x,leave,Ulm\nzoe,y,,Ulm\neva,4,renew,Bonn\n';
  const usersWhere = async (...where: string[]) =>
    (await read('roster.csv', sheet, { where })).rows.map(({ remote_user }) => remote_user);

  test('takes the rows of any value of a column, and of all columns; the others may be wrong', async () => {
    expect(await usersWhere('status=renew')).toEqual(['ada', 'eva']);
    expect(await usersWhere('Status=renew', 'Status=other', 'O=Ulm')).toEqual(['ada']);
    const blank = '[{"remote_user":"ada","size_allowance":4,"O":null}]';
    expect((await read('roster.json', blank, { where: ['O='] })).rows).toHaveLength(1);
  });

  test.each([
    ['Status=renwe', 'roster.csv: there is no row in which status is renwe', undefined],
    ['Status', '--where Status: expected COLUMN=VALUE', undefined],
    ['State=', 'roster.csv: --where state: no such column', 'There are remote_user, size_allowance, status, o.'],
  ])('%s is refused', async (word, message, hint) => {
    expect(await failureOf(() => usersWhere(word))).toMatchObject({ kind: 'usage', message, hint });
    const empty = await failureOf(() => read('roster.csv', 'remote_user,size_allowance\n', { where: ['O=Ulm'] }));
    expect(empty.message).toBe('roster.csv: no rows');
  });
});

describe('columns that are kept', () => {
  const keepBeside = ['remote_user', 'status', 'license'];

  test('are the same in each row, and renamed where the result has one of that name', async () => {
    const text = 'E-Mail,remote_user,Status,size_allowance,\nada@x.org,ada,new,4,1\n,grace,,18,\n';
    const { others } = await read('roster.csv', text, { keepBeside });
    expect(others).toEqual([
      { 'E-Mail': 'ada@x.org', roster_status: 'new' },
      { 'E-Mail': null, roster_status: null },
    ]);
  });

  test('of JSON keep their values', async () => {
    const text = '{"remote_user":"ada","size_allowance":4,"tags":["a"]}\n{"remote_user":"b","size_allowance":4,"n":1}';
    const { others } = await read('roster.ndjson', text, { keepBeside });
    expect(others).toEqual([
      { tags: ['a'], n: null },
      { tags: null, n: 1 },
    ]);
  });

  test('keep the order of the header where cells are blank', async () => {
    const text = 'Region;Mail;remote_user;Note;size_allowance;Last\n;;ada;;4;\nNorth;b@x.org;ben;new;4\n';
    const { others } = await read('roster.csv', text, { keepBeside });
    expect(others.map((row) => Object.entries(row).join(' '))).toEqual([
      'Region, Mail, Note, Last,',
      'Region,North Mail,b@x.org Note,new Last,',
    ]);
  });

  test('are refused where two would have one name', async () => {
    const text = 'remote_user,size_allowance,status,roster_status\nada,4,1,2\n';
    const failure = await failureOf(() => read('roster.csv', text, { keepBeside }));
    expect(failure.message).toBe('--keep-columns: two columns would be named roster_status');
  });
});

test('a bad row is named before the failure of what fills rows in', async () => {
  const source = { file: 'a.csv', format: undefined };
  const completion = () => Promise.reject(new Failure('config', 'no application'));
  const rules = { fields: rosterFields, ...oncePerUser, completion };
  const of = (text: string) => failureOf(() => readRoster({ ...source, bytes: Buffer.from(text) }, rules));
  expect(await of('remote_user,size_allowance\nada,0\n')).toMatchObject({ kind: 'usage' });
  expect(await of('remote_user,size_allowance\nada,4\n')).toMatchObject({ kind: 'config' });
});
