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
const lacks = 'sheet: the header lacks remote_user and size_allowance; it has';

describe('a header that does not fit', () => {
  test.each([
    ['E-Mail;Anzahl;Ort', 'E-Mail and Anzahl', '--column remote_user=E-Mail --column size_allowance=Anzahl'],
    ['Login,Size', 'Login and Size', '--column remote_user=Login --column size_allowance=Size'],
    ['Benutzer;Sensoren', 'Benutzer and Sensoren', '--column remote_user=Benutzer --column size_allowance=Sensoren'],
    ['User Name,Größe', 'User Name and Größe', "--column 'remote_user=User Name' --column 'size_allowance=Größe'"],
    [
      'remote_usr,size_alowance',
      'remote_usr and size_alowance',
      '--column remote_user=remote_usr --column size_allowance=size_alowance',
    ],
    ['Name;E-Mail;Anzahl', 'E-Mail and Anzahl', '--column remote_user=E-Mail --column size_allowance=Anzahl'],
    ['Name,Anzahl', 'Name and Anzahl', '--column remote_user=Name --column size_allowance=Anzahl'],
    ['Mail,Foo', 'Mail', '--column remote_user=Mail --column size_allowance=HEADER'],
  ])('is named once with the near columns and the options to paste: %s', async (header, near, options) => {
    const shown = header.split(/[;,]/).join(', ');
    const row = header.replaceAll(/[^;,]+/g, '4');
    await expect(read(csv(`${header}\n${row}\n`))).rejects.toMatchObject({
      message: `${lacks} ${shown}`,
      details: { hint: `Did you mean ${near}? Add ${options}` },
    });
  });

  test('is never guessed, and read with those options', async () => {
    const text = csv('E-Mail;Anzahl\nada;4\n');
    await expect(read(text)).rejects.toThrow(lacks);
    const { rows } = await read(text, ['remote_user=E-Mail', 'size_allowance=Anzahl']);
    expect(rows).toEqual([{ remote_user: 'ada', size_allowance: 4, app_code: 7 }]);
  });

  test('several headers of --column that the file lacks are one message', async () => {
    await expect(read(csv('Login,Size\na,4\n'), ['remote_user=Mail', 'size_allowance=Menge'])).rejects.toMatchObject({
      message: "sheet: the header lacks 'mail' and 'menge'; it has Login, Size",
      details: { hint: 'Did you mean Login and Size? Add --column remote_user=Login --column size_allowance=Size' },
    });
  });
});

describe('title rows above such a header', () => {
  const hint = 'Add --header-line 3 --column remote_user=E-Mail --column size_allowance=Anzahl';
  const message = 'line 1 is not the header; line 3 has E-Mail and Anzahl';

  test('in CSV', async () => {
    await expect(read(csv('Kunden 2026;\n;\nE-Mail;Anzahl\nada;4\n'))).rejects.toMatchObject({
      message: `sheet: ${message}`,
      details: { hint },
    });
  });

  test.each([
    [[], 'Remote User;Ort;Size-Allowance', 'Remote User and Size-Allowance', 'Give --header-line 3.'],
    [['remote_user=Login'], 'Login;Size Allowance', 'Login and Size Allowance', 'Give --header-line 3.'],
    [[], 'Anzahl;Remote User', 'Anzahl and Remote User', 'Add --header-line 3 --column size_allowance=Anzahl'],
  ])('%j: the columns of %s are named as the sheet has them', async (columns, header, found, advice) => {
    await expect(read(csv(`Kunden 2026;\n;\n${header}\nada;4\n`), columns)).rejects.toMatchObject({
      message: `sheet: line 1 is not the header; line 3 has ${found}`,
      details: { hint: advice },
    });
  });

  test('in a workbook', async () => {
    const rows = [rowOf(1, ['Kunden 2026']), rowOf(3, ['E-Mail', 'Anzahl']), rowOf(4, ['ada', 4])];
    const bytes = workbookOf({ sheets: { Kunden: rows.join('') } });
    await expect(read(bytes)).rejects.toMatchObject({ message: `sheet: ${message}`, details: { hint } });
    const { rows: found } = await read(bytes, ['remote_user=E-Mail', 'size_allowance=Anzahl'], 3);
    expect(found).toHaveLength(1);
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
