import { expect, test } from 'vitest';
import { rosterFields } from '../../../src/schema/license.ts';
import { oncePerUser, readRoster } from '../../../src/store/roster/read-roster.ts';

const completion = <R>() => Promise.resolve((row: R) => row);
const read = (file: string, bytes: Buffer) =>
  readRoster({ file, bytes, format: undefined }, { fields: rosterFields, ...oncePerUser, completion });
const ada = { remote_user: 'ada', size_allowance: 4 };
const ben = { remote_user: 'ben', size_allowance: 2 };
const pretty = `${JSON.stringify(ada, null, 2)}\n${JSON.stringify(ben, null, 2)}\n`;

test.each(['rows.ndjson', 'rows.json', 'rows'])(
  'objects one after another are read as jq writes them: %s',
  async (file) => {
    const { rows, lines } = await read(file, Buffer.from(pretty));
    expect([rows, lines]).toEqual([
      [ada, ben],
      [1, 5],
    ]);
  },
);

test.each([undefined, 2])('one object is a row of a .json file too, on lines or on one (indent %s)', async (indent) => {
  const { rows } = await read('row.json', Buffer.from(JSON.stringify(ada, null, indent)));
  expect(rows).toEqual([ada]);
});

test('an object that does not end, and a bad line between others, are named by their line', async () => {
  const cut = `${JSON.stringify(ada)}\n{"remote_user": ben}\n{\n  "remote_user": "cleo",\n`;
  await expect(read('rows.ndjson', Buffer.from(cut))).rejects.toThrow(
    /rows\.ndjson:2: not valid JSON.*\nrows\.ndjson:3: not valid JSON/,
  );
});

test('a file that is not UTF-8 is told in one line, with its cure', async () => {
  const bytes = Buffer.from('remote_user,size_allowance\nJ\xfcrgen,4\nada,3\nS\xf6ren,2\n', 'latin1');
  await expect(read('sheet.csv', bytes)).rejects.toMatchObject({
    message: 'sheet.csv: not UTF-8 on line 2 and 1 more; it may be Windows-1252, as Excel writes CSV',
    details: { hint: expect.stringContaining('"CSV UTF-8"') as string },
  });
});
