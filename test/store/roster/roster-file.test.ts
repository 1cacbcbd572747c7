import { describe, expect, test } from 'vitest';
import { openRosterFile, readRosterRows, type RosterFormat } from '../../../src/store/roster/roster-file.ts';

interface Row {
  readonly line: number;
  readonly values: Readonly<Record<string, unknown>>;
}

interface Bad {
  readonly line: number;
  readonly reason: string;
}

const wanted = { names: ['remote_user', 'size_allowance'], required: ['remote_user'], aliases: new Map() };

async function read(text: string, format: RosterFormat): Promise<{ rows: Row[]; bad: Bad[] }> {
  const rows: Row[] = [];
  const bad: Bad[] = [];
  await readRosterRows(openRosterFile({ file: 'roster', bytes: Buffer.from(text), format }), wanted, {
    row: (line, values) => void rows.push({ line, values: Object.fromEntries(values) }),
    bad: (line, { reason }) => void bad.push({ line, reason }),
  });
  return { rows, bad };
}

test.each<[RosterFormat, string, number[]]>([
  ['csv', 'remote_user,size_allowance\nada,4\n\nben,5\n', [2, 4]],
  [
    'ndjson',
    '\uFEFF{"remote_user":"ada","size_allowance":"4"}\r\n\r\n{"remote_user":"ben","size_allowance":"5"}',
    [1, 3],
  ],
  ['ndjson', '\n{"remote_user":"ada","size_allowance":"4"}\n \n{"remote_user":"ben","size_allowance":"5"}\n\n', [2, 4]],
  ['json', '[{"remote_user":"ada","size_allowance":"4"},\n {"remote_user":"ben","size_allowance":"5"}]', [1, 2]],
])('a roster of %s has each row with its place: %j', async (format, text, lines) => {
  const { rows } = await read(text, format);
  expect(rows).toEqual([
    { line: lines[0], values: { remote_user: 'ada', size_allowance: '4' } },
    { line: lines[1], values: { remote_user: 'ben', size_allowance: '5' } },
  ]);
});

describe('a long CSV', () => {
  /** Every seventh row is quoted and holds a line break of its own, and an empty line follows each eleventh. */
  function long(count: number, end: string): { text: string; places: number[] } {
    const places: number[] = [];
    let text = `remote_user,note${end}`;
    for (let index = 0; index < count; index += 1) {
      places.push(text.split(end).length);
      text += index % 7 === 0 ? `user-${index},"ä${end}b"${end}` : `user-${index},ä${end}`;
      if (index % 11 === 0) text += end;
    }
    return { text, places };
  }

  test.each(['\n', '\r\n', '\r'])('has each row once, with the line it begins on (ends %j)', async (end) => {
    const { text, places } = long(2500, end);
    const { rows } = await read(text, 'csv');
    expect(rows.map(({ values }) => values['remote_user'])).toEqual(places.map((_place, index) => `user-${index}`));
    expect(rows.map(({ values }) => values['note'])).toEqual(
      places.map((_place, index) => (index % 7 === 0 ? `ä${end}b` : 'ä')),
    );
    expect(rows.map(({ line }) => line)).toEqual(places);
  });

  test('is bad from the line on where it is no CSV', async () => {
    const users = Array.from({ length: 1500 }, (_, index) => `user-${index},`);
    const { rows, bad } = await read(['remote_user,note', ...users, '', 'x"y,', 'z,'].join('\n'), 'csv');
    expect(rows).toHaveLength(1500);
    expect(bad).toEqual([{ line: 1503, reason: 'not valid CSV: invalid opening quote' }]);
  });
});
