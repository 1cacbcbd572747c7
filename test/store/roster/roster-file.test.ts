import { describe, expect, test } from 'vitest';
import { readRoster, type RosterFormat, type RosterRecord } from '../../../src/store/roster/roster-file.ts';
import { failureOf } from '../place.ts';

interface Row {
  readonly place: string;
  readonly values: Readonly<Record<string, string>>;
}

function rowsOf(records: Iterable<RosterRecord>): Row[] {
  return Array.from(records, ({ place, values }) => ({ place, values: values() }));
}

const read = async (text: string, format: RosterFormat): Promise<Row[]> =>
  rowsOf(await readRoster(text, format, ['remote_user']));

const ada = { remote_user: 'ada', size_allowance: '4' };
const ben = { remote_user: 'ben', size_allowance: '5' };

test.each<[RosterFormat, string]>([
  ['csv', 'remote_user,size_allowance\nada,4\n\nben,5\n'],
  ['ndjson', '\uFEFF{"remote_user":"ada","size_allowance":4}\r\n\r\n{"remote_user":"ben","size_allowance":5}'],
  ['ndjson', '\n{"remote_user":"ada","size_allowance":4}\n{"remote_user":"ben","size_allowance":5}\n\n'],
  ['json', '[{"remote_user":"ada","size_allowance":4},\n {"remote_user":"ben","size_allowance":5}]'],
])('a roster of %s is read again each time it is gone through: %j', async (format, text) => {
  const records = await readRoster(text, format, ['remote_user']);
  const [first, second] = [rowsOf(records), rowsOf(records)];
  expect(first.map(({ values }) => values)).toEqual([ada, ben]);
  expect(second).toEqual(first);
});

test('lines of ndjson are counted with the empty ones', async () => {
  const text = '\n{"remote_user":"ada"}\n\n \n{"remote_user":"ben"}';
  expect((await read(text, 'ndjson')).map(({ place }) => place)).toEqual(['line 2', 'line 5']);
});

describe('a CSV of several portions', () => {
  /** Every seventh row is quoted and holds a line break of its own, and an empty line follows each eleventh. */
  function long(count: number, end: string): { text: string; places: string[] } {
    const places: string[] = [];
    let text = `remote_user,note${end}`;
    for (let index = 0; index < count; index += 1) {
      places.push(`line ${text.split(end).length}`);
      text += index % 7 === 0 ? `user-${index},"ä${end}b"${end}` : `user-${index},ä${end}`;
      if (index % 11 === 0) text += end;
    }
    return { text, places };
  }

  test.each(['\n', '\r\n', '\r'])('has each row once, with the line it begins on (ends %j)', async (end) => {
    const { text, places } = long(2500, end);
    const rows = await read(text, 'csv');
    expect(rows.map(({ values }) => values['remote_user'])).toEqual(places.map((_place, index) => `user-${index}`));
    expect(rows.map(({ values }) => values['note'])).toEqual(
      places.map((_place, index) => (index % 7 === 0 ? `ä${end}b` : 'ä')),
    );
    expect(rows.map(({ place }) => place)).toEqual(places);
  });

  test.each([998, 999, 1000, 1999])('ends where the text ends (%i rows)', async (count) => {
    expect(await read(long(count, '\n').text, 'csv')).toHaveLength(count);
  });

  test('is refused with the line of the whole file where a later portion is no CSV', async () => {
    const users = Array.from({ length: 1500 }, (_, index) => `user-${index}`);
    const text = ['remote_user', ...users, 'x"y', 'z'].join('\n');
    expect(await failureOf(() => read(text, 'csv'))).toMatchObject({
      kind: 'usage',
      message: expect.stringMatching(/^not valid CSV: .* at line 1502\b/) as string,
    });
  });
});
