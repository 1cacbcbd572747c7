import { expect, test } from 'vitest';
import {
  columnsOf,
  isWithoutHeader,
  readAliases,
  repeatedHeader,
  type WantedColumns,
} from '../../../src/store/roster/header.ts';

const wanted: WantedColumns = {
  names: ['remote_user', 'size_allowance', 'app_code'],
  required: ['remote_user', 'size_allowance'],
  aliases: new Map(),
};
const list = { ...wanted, required: ['remote_user'], alone: 'remote_user' };
const named = { ...list, aliases: new Map([['login', 'remote_user']]) };

test.each<[string, readonly string[], WantedColumns, boolean]>([
  ['a user alone', ['ada'], list, true],
  ['a user between blanks', ['', 'ada', ''], list, true],
  ['two cells', ['ada', 'ben'], list, false],
  ['the name of the column', ['Remote User'], list, false],
  ['a user, where --column names the header', ['ada'], named, false],
  ['a usual header, where --column names another', ['users'], named, false],
  ['a user in a table', ['ada'], wanted, false],
])('a first row is a name already: %s', (_what, cells, columns, expected) => {
  expect(isWithoutHeader({ line: 1, cells }, columns)).toBe(expected);
});

test.each([
  ['remote_user', 'expected NAME=HEADER'],
  ['=x', 'expected NAME=HEADER'],
  ['remote_user=', 'expected NAME=HEADER'],
  ['u=x', "'u' is not a column of the roster"],
])('--column %s is refused: %s', (word, message) => {
  expect(() => readAliases([word], wanted.names)).toThrow(`--column ${word}: ${message}`);
});

test.each<[string, readonly string[], string | undefined]>([
  ['all of it', ['remote_user', 'Size Allowance', 'x'], 'the header again: remote_user, Size Allowance'],
  ['one cell', ['', 'size_allowance', ''], 'the header again: size_allowance'],
  ['a value beside it', ['remote_user', '4', ''], undefined],
  ['nothing of ours', ['', '', 'note'], undefined],
])('the header again: %s', (_what, cells, reason) => {
  expect(repeatedHeader(cells, ['remote_user', 'size_allowance', 'note'], wanted)?.reason).toBe(reason);
});

test('a header has a thousand columns at most, and twenty of them are named', () => {
  const cells = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`.padEnd(61, 'x'));
  const messageOf = (count: number) => () => columnsOf({ line: 1, cells: cells(count) }, wanted);
  const shown = (count: number) => cells(count).map((cell) => cell.slice(0, 60));
  const lacks = 'the header lacks remote_user and size_allowance; it has';
  expect(messageOf(20)).toThrow(new RegExp(`^${lacks} ${shown(20).join(', ')}$`));
  expect(messageOf(21)).toThrow(new RegExp(`^${lacks} ${shown(20).join(', ')}, …$`));
  expect(messageOf(1000)).toThrow(lacks);
  expect(messageOf(1001)).toThrow('the header has 1001 columns; at most 1000 are read');
});
