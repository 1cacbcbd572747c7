import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arrange, columnSizes, lineWidth } from '../../src/output/grid.ts';
import { uncut, whole } from '../../src/output/columns.ts';
import { formats } from '../../src/output/formats.ts';
import type { Presentation, Show } from '../../src/output/presentation.ts';
import { inZone } from '../helpers/zone.ts';
import { look, many, written } from './looks.ts';

const key = 'k'.repeat(30);
const rows = [
  {
    license_code: `${key}1`,
    remote_user: 'ada@example.com',
    app_code: 4711,
    size: 6,
    remark: 'a remark of many words',
  },
  { license_code: `${key}2`, remote_user: 'bob@example.com', app_code: 4711, size: 12, remark: 'another one' },
];
const show: Show<unknown> = {
  columns: whole('license_code', 'remote_user').map((column) => ({ ...column, when: 'there' })),
  others: 'known',
  none: 'no licenses match',
};

async function shownAt(
  width: number,
  result: Parameters<typeof written>[0] = many(...rows),
  rest: Partial<Presentation> = {},
): Promise<{ lines: string[]; notes: string[] }> {
  const notes: string[] = [];
  const note = (line: string): void => void notes.push(line.replaceAll('\n', ' '));
  const text = await written(result, look('table', { terminal: true, width, say: note, aside: note, ...rest }), show);
  return { lines: text.split('\n').slice(0, -1), notes };
}

describe('a table on a terminal', () => {
  test('shows all columns where they fit', async () => {
    const { lines, notes } = await shownAt(88);
    expect(lines[0]).toBe('license_code                     remote_user      app_code  size  remark');
    expect(notes).toEqual([]);
  });

  test('leaves out a constant column first, and says nothing of it', async () => {
    const { lines, notes } = await shownAt(84);
    expect(lines[0]).toBe('license_code                     remote_user      size  remark');
    expect(lines[1]).toContain('a remark of many words');
    expect(notes).toEqual([]);
  });

  test('then shortens texts, and leaves out the least important', async () => {
    expect((await shownAt(70)).lines[1]).toMatch(/ 6 {2}a remark…?/);
    const { lines, notes } = await shownAt(60);
    expect(lines[1]).toBe(`${key}1  ada@example.com     6`);
    expect(notes).toEqual(['left out to fit the width: remark']);
  });

  test('leaves out last what the user asked by', async () => {
    const dated = rows.map(({ remark: _, ...row }, index) => ({ ...row, created: `2026-02-1${index}` }));
    expect((await shownAt(62, many(...dated))).notes).toEqual(['left out to fit the width: created']);
    const { lines, notes } = await shownAt(62, many(...dated), { sort: 'created' });
    expect(lines[1]).toBe(`${key}1  ada@example.com  2026-02-10`);
    expect(notes).toEqual(['left out to fit the width: size']);
  });

  test('is records where the whole columns do not fit, and a value wraps without ellipsis', async () => {
    const { lines, notes } = await shownAt(34);
    expect(lines.slice(0, 8)).toEqual([
      `license_code  ${key.slice(0, 20)}`,
      `              ${key.slice(20)}1`,
      'remote_user   ada@example.com',
      'app_code      4711',
      'size          6',
      'remark        a remark of many',
      '              words',
      '',
    ]);
    expect(notes).toEqual([]);
  });

  test('has values below their names where there is little room', async () => {
    expect((await shownAt(33)).lines.slice(0, 3)).toEqual(['license_code', `  ${key}1`, 'remote_user']);
  });

  test('says so where it is empty, in a pipe too, unless the format says it', async () => {
    expect(await shownAt(80, many())).toEqual({ lines: [], notes: ['no licenses match'] });
    expect((await shownAt(80, many(), { format: formats.json })).notes).toEqual([]);
    expect((await shownAt(80, many(), { terminal: false })).notes).toEqual(['no licenses match']);
    expect((await shownAt(80, many(), { format: formats.tsv, terminal: false })).notes).toEqual(['no licenses match']);
  });

  test('does not call a column constant that differs in a later row', async () => {
    const later = Array.from({ length: 300 }, (_, index) => ({ ...rows[0], app_code: index < 250 ? 1 : 2 }));
    const { notes } = await shownAt(48, many(...later));
    expect(notes).toEqual(['left out to fit the width: app_code']);
  });

  test('an empty column is not shown, with room or without, unless it was asked for or a later row fills it', async () => {
    const unfilled = rows.map((row) => ({ ...row, error: '' }));
    expect((await shownAt(100, many({ size: 1, error: '' }))).lines).toEqual(['size', '   1']);
    expect((await shownAt(100, many(...unfilled))).lines[0]).not.toContain('error');
    expect((await shownAt(44, many(...unfilled))).notes.join('')).not.toContain('error');
    expect((await shownAt(100, many(...unfilled), { fields: ['size', 'error'] })).lines[0]).toBe('size  error');
    expect((await shownAt(100, many(...unfilled), { sort: 'error' })).lines[0]).toContain('error');
    const later = Array.from({ length: 201 }, (_, index) => ({ ...rows[0], error: index < 200 ? '' : 'x' }));
    expect((await shownAt(100, many(...later))).notes).toEqual(['left out to fit the width: error']);
  });

  test('one object is a record', async () => {
    expect((await shownAt(0, { one: { name: 'x', url: 'https://example.com/' } })).lines).toEqual([
      'name  x',
      'url   https://example.com/',
    ]);
    expect((await shownAt(10, { one: { name: 'x' } }, { header: false })).lines).toEqual(['x']);
  });

  test('shows moments in local time, but in a name', async () => {
    const row = { created: '2026-03-01T23:30:00Z', remote_user: '2026-03-01T23:30:00Z', kind: 'x' };
    inZone('Europe/Paris');
    expect((await shownAt(80, many(row))).lines[1]).toBe('2026-03-02 00:30  2026-03-01T23:30:00Z  x');
  });
});

test('whatever the columns, what is shown fits, and those that never go are there', () => {
  const size = fc.record({
    wanted: fc.integer({ min: 1, max: 60 }),
    least: fc.integer({ min: 1, max: 20 }),
    goes: fc.constantFrom('constant', 'text', 'constant whole', 'never'),
    priority: fc.integer({ min: 0, max: 2 }),
  });
  fc.assert(
    fc.property(fc.array(size, { minLength: 1, maxLength: 8 }), fc.integer({ min: 20, max: 160 }), (drawn, room) => {
      const fixed = { isWhole: false, isEmpty: false, folds: false, isNumber: false };
      const sizes = drawn.map((one, index) => ({
        ...one,
        ...fixed,
        index,
        least: one.goes === 'text' || one.goes === 'constant' ? Math.min(one.wanted, one.least) : one.wanted,
      }));
      const arrangement = arrange(sizes, room);
      if (!arrangement) return;
      expect(lineWidth(arrangement.widths)).toBeLessThanOrEqual(room);
      for (const [place, { least }] of arrangement.shown.entries())
        expect(arrangement.widths[place]).toBeGreaterThanOrEqual(least);
      expect(arrangement.shown).toEqual(expect.arrayContaining(sizes.filter(({ goes }) => goes === 'never')));
    }),
    { seed: 1 },
  );
});

describe('a table of outcomes on a narrow terminal', () => {
  const outcomes = [
    { remote_user: 'ada@example.com', first_activated: '', app_code: 4711, size: 3, status: 'created', change: '' },
    {
      remote_user: 'bob@example.com',
      first_activated: '',
      app_code: 4711,
      size: 5,
      status: 'created',
      change: '3 -> 5',
    },
  ];

  test('loses the empty columns, then the constant ones, and the answers never', async () => {
    const at = async (width: number): Promise<readonly (string | undefined)[]> => {
      const { lines, notes } = await shownAt(width, many(...outcomes));
      return [lines[0], ...notes];
    };
    expect(await at(80)).toEqual(['remote_user      app_code  size  status   change']);
    expect(await at(42)).toEqual(['remote_user      size  status   change']);
    expect(await at(34)).toEqual(['remote_user      status   change', 'left out to fit the width: size']);
    expect((await at(30))[0]).toBe('remote_user');
  });

  test('never cuts a header', async () => {
    const wide = [
      { remote_user: 'ada', size_allowance: 'x', a_long_name_of_a_column: 'y' },
      { remote_user: 'bob', size_allowance: 'z', a_long_name_of_a_column: 'w' },
    ];
    for (const width of [60, 50, 44, 40, 36, 30, 24]) {
      const { lines } = await shownAt(width, many(...wide));
      expect(lines.join('\n')).not.toContain('…');
    }
  });

  test('has coloured statuses where colour is on', async () => {
    const rows = ['created', 'resized', 'failed', 'unchanged', 'other'].map((status) => ({ status }));
    const { lines } = await shownAt(80, many(...rows), { color: true, header: false });
    expect(lines).toEqual([
      '\x1b[32mcreated\x1b[39m',
      '\x1b[33mresized\x1b[39m',
      '\x1b[31mfailed\x1b[39m',
      '\x1b[2munchanged\x1b[22m',
      'other',
    ]);
    expect((await shownAt(80, many(...rows), { header: false })).lines).toEqual(rows.map(({ status }) => status));
  });
});

test('fields that were asked for are not left out: what does not fit is a record', async () => {
  const fields = ['license_code', 'remote_user', 'remark'];
  const { lines, notes } = await shownAt(50, many(...rows), { fields });
  expect(lines.slice(0, 3)).toEqual([
    `license_code  ${key}1`,
    'remote_user   ada@example.com',
    'remark        a remark of many words',
  ]);
  expect(notes).toEqual([]);
});

test('one row of a list that does not fit is a record', async () => {
  const { lines, notes } = await shownAt(70, many(rows[0]));
  expect(lines).toHaveLength(5);
  expect(notes).toEqual([]);
});

test('a table of which one column would be left is records', async () => {
  const long = { name: 'a-name-of-thirty-characters-ok', help: 'some words of help', kind: 'integer' };
  const text = await written(many(long, { ...long, kind: 'string' }), look('table', { terminal: true, width: 36 }), {
    columns: whole('name'),
    others: 'known',
  });
  expect(text.split('\n').slice(0, 3)).toEqual([
    'name  a-name-of-thirty-characters-ok',
    'help  some words of help',
    'kind  integer',
  ]);
});

test('a table whose one long cell does not fit folds it, and shows the rest of its row once', async () => {
  const row = { remote_user: 'ada@example.com', change: 'renamed from left-2026-03-physio-7800, resized 1 -> 6' };
  const { lines } = await shownAt(50, many(row, { ...row, change: 'created' }));
  expect(lines).toEqual([
    'remote_user      change',
    'ada@example.com  renamed from',
    '                 left-2026-03-physio-7800, resized',
    '                 1 -> 6',
    'ada@example.com  created',
  ]);
});

test('a table shows last what is never cut', async () => {
  const show = { columns: [{ name: 'license_code', isLast: true }, 'remote_user', 'app_code', 'size', 'remark'] };
  const head = async (format: 'table' | 'csv') =>
    (await written(many(rows[0]), look(format, { terminal: true, width: 120 }), show)).split('\n')[0];
  expect(await head('table')).toMatch(/^remote_user +app_code +size +remark +license_code$/);
  expect(await head('csv')).toMatch(/^license_code,remote_user,app_code,size,remark$/);
});

test.each([
  ['a text', 'x', 9, { least: 9, folds: false, isWhole: false, goes: 'text' }],
  ['a text', 'x', 11, { least: 10, folds: false }],
  ['a whole one', 'whole', 40, { least: 40, folds: false, isWhole: true, goes: 'never', priority: 0 }],
  ['a whole one', 'whole', 41, { least: 24, folds: true }],
  ['a change', 'change', 24, { least: 24, folds: false, isWhole: true, goes: 'never', priority: 0 }],
  ['a change', 'change', 25, { least: 24, folds: true }],
  ['a key', 'license_code', 41, { least: 41, folds: false }],
  ['an uncut one', 'uncut', 41, { least: 41, folds: false, isWhole: true, goes: 'text' }],
] as const)('%s, column %s, of %i columns is %j', (_what, name, width, expected) => {
  const looks = look('table', { show: { columns: [...whole('whole', 'license_code'), ...uncut('uncut')] } });
  const cells = [width, width - 1].map((one) => [{ shown: 'x'.repeat(one), width: one }]);
  expect(columnSizes([name], cells, looks)[0]).toMatchObject({ wanted: width, isNumber: false, ...expected });
});
