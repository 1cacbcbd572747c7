import { describe, expect, test } from 'vitest';
import { rosterFields } from '../../../src/schema/license.ts';
import { oncePerUser, readRoster } from '../../../src/store/roster/read-roster.ts';
import { rowOf, workbookOf } from '../../helpers/workbook.ts';

const completion = <R>() => Promise.resolve((row: R) => ({ ...row, app_code: 7 }));
const read = (bytes: Buffer, columns: readonly string[] = [], headerLine?: number) =>
  readRoster(
    { file: 'sheet', bytes, format: undefined, columns, headerLine },
    { fields: rosterFields, ...oncePerUser, completion },
  );
const csv = (text: string) => Buffer.from(text);

test('a header that lacks a column is never guessed, and read with --column', async () => {
  const text = csv('E-Mail;Anzahl\nada;4\n');
  await expect(read(text)).rejects.toMatchObject({
    message: 'sheet: the header lacks remote_user and size_allowance; it has E-Mail, Anzahl',
    details: {
      hint: 'Name it with --column remote_user=HEADER --column size_allowance=HEADER. Without a header the file needs a first line: remote_user,size_allowance.',
    },
  });
  const { rows } = await read(text, ['remote_user=E-Mail', 'size_allowance=Anzahl']);
  expect(rows).toEqual([{ remote_user: 'ada', size_allowance: 4, app_code: 7 }]);
});

test('several headers of --column that the file lacks are one message', async () => {
  await expect(read(csv('Login,Size\na,4\n'), ['remote_user=Mail', 'size_allowance=Menge'])).rejects.toThrow(
    "sheet: the header lacks 'mail' and 'menge'; it has Login, Size",
  );
});

describe('title rows above the header', () => {
  test.each([
    [[], 'Remote User;Ort;Size-Allowance', 'Remote User and Size-Allowance'],
    [['remote_user=Login'], 'Login;Size Allowance', 'Login and Size Allowance'],
  ])('%j: the columns of %s are named as the sheet has them', async (columns, header, found) => {
    await expect(read(csv(`Kunden 2026;\n;\n${header}\nada;4\n`), columns)).rejects.toMatchObject({
      message: `sheet: line 1 is not the header; line 3 has ${found}`,
      details: { hint: 'Give --header-line 3.' },
    });
  });

  test('in a workbook', async () => {
    const columns = ['remote_user=E-Mail', 'size_allowance=Anzahl'];
    const rows = [rowOf(1, ['Kunden 2026']), rowOf(3, ['E-Mail', 'Anzahl']), rowOf(4, ['ada', 4])];
    const bytes = workbookOf({ sheets: { Kunden: rows.join('') } });
    await expect(read(bytes, columns)).rejects.toThrow('sheet: line 1 is not the header; line 3 has E-Mail and Anzahl');
    expect((await read(bytes, columns, 3)).rows).toHaveLength(1);
  });
});

test.each([
  [
    'remote_user,size_allowance\nada,4\nada,5\n',
    'Remove one of the lines, or name their applications in a column app_code.',
  ],
  [
    'remote_user,size_allowance,app_code\nada,4,\nada,5,\n',
    'Remove one of the lines, or name their applications in a column app_code.',
  ],
  ['remote_user,size_allowance,app_code\nada,4,9\nada,5,9\n', 'Remove one of the lines.'],
])('a user who is there twice may be meant in two applications, where the rows name none: %j', async (text, hint) => {
  await expect(read(csv(text))).rejects.toMatchObject({
    message: "sheet:3: user 'ada' is already on line 2",
    details: { hint },
  });
});
