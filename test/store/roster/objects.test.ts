import { expect, test } from 'vitest';
import { rosterFields } from '../../../src/schema/license.ts';
import { oncePerUser, readRoster } from '../../../src/store/roster/read-roster.ts';

const completion = <R>() => Promise.resolve((row: R) => row);
const read = (file: string, bytes: Buffer) =>
  readRoster({ file, bytes, format: undefined }, { fields: rosterFields, ...oncePerUser, completion });
const ada = { remote_user: 'ada', size_allowance: 4 };

test('bad lines are named, each by its number', async () => {
  const cut = `${JSON.stringify(ada)}\n{"remote_user": ben}\n{\n`;
  await expect(read('rows.ndjson', Buffer.from(cut))).rejects.toThrow(
    /rows\.ndjson:2: not valid JSON.*\nrows\.ndjson:3: not valid JSON/,
  );
});

test.each([
  ['two objects on a line', 'rows.ndjson', '{"remote_user":"ada"}{"remote_user":"ben"}\n', ':1: not valid JSON: '],
  ['commas between lines', 'rows.ndjson', '{"remote_user":"ada"},\n', ':1: not valid JSON: '],
  ['two arrays', 'rows.json', '[{"remote_user":"ada"}]\n[{"remote_user":"ben"}]\n', ': not valid JSON: '],
  ['lines in a file of JSON', 'rows.json', `{"remote_user":"ada"}\n`, ': not a JSON array'],
])('%s are refused with the cure', async (_what, file, text, message) => {
  await expect(read(file, Buffer.from(text))).rejects.toMatchObject({
    message: expect.stringContaining(file + message) as string,
    details: { hint: expect.stringContaining('Write each object on a line of its own') as string },
  });
});

test.each([
  [
    '{"remote_user":"}","size_allowance":4,"a":[1],"remote_user":"b"}',
    "rows.ndjson:1: an object has 'remote_user' twice",
  ],
  [
    '{"remote_user":"ada","size_allowance":4,"a":{"b":1,"b\\u0063":2,"bc":[{}]}}',
    "rows.ndjson:1: an object has 'bc' twice",
  ],
])('a key that an object has twice is refused: %s', async (text, message) => {
  await expect(read('rows.ndjson', Buffer.from(text))).rejects.toThrow(message);
});

test.each(['["ada"]', '{"a":1}', 'true'])('a user that is %s is refused', async (value) => {
  const text = `{"remote_user":${value},"size_allowance":4}\n`;
  await expect(read('rows.ndjson', Buffer.from(text))).rejects.toThrow('remote_user: neither a text nor a number');
});

test('the same key in two objects, and as a value, is no repetition', async () => {
  const text = '[{"remote_user":"remote_user","size_allowance":4,"a":[{"b":1},{"b":2}],"b":"b"}]';
  expect((await read('rows.json', Buffer.from(text))).rows).toEqual([
    { remote_user: 'remote_user', size_allowance: 4 },
  ]);
});

test('keys and headers in full width are those of the roster', async () => {
  const wide = (text: string) => text.replace(/[a-z_]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));
  const rows = `{"${wide('remote_user')}":"ada","${wide('size_allowance')}":4}\n`;
  const table = `${wide('remote_user')},${wide('size_allowance')}\nada,4\n`;
  expect((await read('rows.ndjson', Buffer.from(rows))).rows).toEqual([ada]);
  expect((await read('rows.csv', Buffer.from(table))).rows).toEqual([ada]);
});
