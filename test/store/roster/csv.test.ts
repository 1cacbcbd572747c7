import { describe, expect, test } from 'vitest';
import { tsv } from '../../../src/output/tsv.ts';
import { rosterFields } from '../../../src/schema/license.ts';
import { oncePerUser, readRoster, type RosterSource } from '../../../src/store/roster/read-roster.ts';
import { failureOf } from '../place.ts';

async function read(text: string, how: Partial<RosterSource> = {}) {
  const source = { file: 'roster', bytes: Buffer.from(text), format: undefined, ...how };
  const completion = <R>() => Promise.resolve((row: R) => row);
  return readRoster(source, { fields: rosterFields, ...oncePerUser, completion });
}

const usersOf = async (text: string) => (await read(text)).rows.map(({ remote_user }) => remote_user);

describe('tsv of our own', () => {
  const names = ['CORP\\jdoe', 'a "b" c', 'O\'Neill, 5" pipe', 'x;y', 'C:\\temp\\new'];

  test.each([
    [['license_code', 'remote_user', 'app_code', 'size_allowance']],
    [['remote_user', 'app_code', 'size_allowance', 'status', 'change']],
    [['remote_user', 'size_allowance']],
    [['size_allowance', 'remote_user', 'note', 'license_code']],
  ])('is read as it is printed: %j', async (columns) => {
    const { row } = tsv({ show: { columns }, fields: columns, header: true, terminal: false } as never);
    const values = {
      license_code: 'K-1',
      app_code: 7,
      size_allowance: 4,
      status: 'created',
      change: null,
      note: 'a\tb\\',
    };
    const text = names.map((remote_user) => row({ ...values, remote_user })).join('');
    expect(await usersOf(text)).toEqual(names);
    expect(await usersOf(text.replaceAll('\n', '\r\n'))).toEqual(names);
  });

  test('other columns are undone too', async () => {
    const text = 'license_code\tremote_user\tsize_allowance\tnote\nK\tada\t4\ta\\tb\\\\c\\nd\n';
    expect((await read(text, { keepBeside: [] })).others).toEqual([{ license_code: 'K', note: 'a\tb\\c\nd' }]);
  });

  test('a row that is cut off is bad', async () => {
    expect((await failureOf(() => read('license_code\tremote_user\tsize_allowance\nK\tada\t4\nK\tben'))).message).toBe(
      'roster:3: 2 cells, and the header has 3; the file may be cut off here',
    );
  });
});

test('a line of a mebibyte is read, and of a longer one its number is said', async () => {
  const file = (bytes: number): string => `remote_user,size_allowance,note\nada,4,${'x'.repeat(bytes - 6)}`;
  expect(await usersOf(file(1024 ** 2))).toEqual(['ada']);
  const refusal = async (text: string): Promise<string> => (await failureOf(() => read(text))).message;
  expect(await refusal(file(1024 ** 2 + 1))).toBe('roster: a line of more than 1 MiB: line 2');
  expect(await refusal('x'.repeat(1024 ** 2 + 1))).toBe('roster: a line of more than 1 MiB: line 1');
});

describe('an ordinary file', () => {
  test.each([
    ['pasted from Excel', 'remote_user\tsize_allowance\nCORP\\jdoe\t4\nCORP\\tom\t4\n', ['CORP\\jdoe', 'CORP\\tom']],
    ['a status of people', 'remote_user\tsize_allowance\tStatus\nCORP\\\\jdoe\t4\tx\n', ['CORP\\\\jdoe']],
    ['with another column', 'remote_user\tsize_allowance\tDepartment\nCORP\\\\jdoe\t4\tx\n', ['CORP\\\\jdoe']],
    ['CSV', 'remote_user,size_allowance,status\nCORP\\\\jdoe,4,x\n"a, b",4,y\n', ['CORP\\\\jdoe', 'a, b']],
    ['below sep=', 'sep=\t\nlicense_code\tremote_user\tsize_allowance\nK\tC\\\\ada\t4\n', ['C\\\\ada']],
    ['quoted headers', '"remote_user"\t"size_allowance"\n"ada"\t"4"\n', ['ada']],
  ])('stays one: %s', async (_name, text, users) => {
    expect(await usersOf(text)).toEqual(users);
  });

  test.each([
    ['remote_user\tsize_allowance\n"ada"\t4\n', 2, 'ada', '"ada"'],
    ['remote_user\tsize_allowance\nCORP\\\\jdoe\t4\nCORP\\tom\t4\n', 2, 'CORP\\\\jdoe', 'CORP\\jdoe'],
    ['license_code\tremote_user\tsize_allowance\nK\tada\t4\n"K,"\tCORP\\\\jdoe\t4\n', 3, 'CORP\\\\jdoe', 'CORP\\jdoe'],
  ])('in which a user has two readings is refused: %j', async (text, line, one, other) => {
    const { kind, message, hint } = await failureOf(() => read(text));
    expect([kind, message]).toEqual([
      'usage',
      `roster:${line}: remote_user is '${one}' if a person or a spreadsheet wrote this, and '${other}' if chatelaine printed it`,
    ]);
    expect(hint).toContain('-o ndjson');
  });
});
