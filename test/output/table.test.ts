import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drawGrid, drawLine, fitWidths, lineWidth } from '../../src/output/grid.ts';
import { displayWidth, shorten } from '../../src/output/width.ts';
import { look, many, written } from './looks.ts';

describe('a table', () => {
  const rows = [
    { id: 1, topic: 'a long topic of many words', note: 'short' },
    { id: 22, topic: '漢字かな交じり文の長い話題', note: 'x' },
    { id: 333, topic: '👩‍👩‍👧 family 🫠', note: 'ที่นี่' },
  ];

  test('is whole in a pipe', async () => {
    expect(await written(many(...rows), look('table', { width: 20 }))).toBe(
      ' id  topic                       note\n' +
        '  1  a long topic of many words  short\n' +
        ' 22  漢字かな交じり文の長い話題  x\n' +
        '333  👩‍👩‍👧 family 🫠                ที่นี่\n',
    );
  });

  test('fits a terminal: the widest columns give way, and no character is cut in two', async () => {
    expect(await written(many(...rows), look('table', { terminal: true, width: 24 }))).toBe(
      ' id  topic         note\n' + '  1  a long topi…  short\n' + ' 22  漢字かな交…   x\n' + '333  👩‍👩‍👧 family 🫠  ที่นี่\n',
    );
  });

  test('is whole on a terminal of unknown width, and its text is harmless', async () => {
    expect(await written(many({ a: '\x1b[2J', '\u202e': 1 }), look('table', { terminal: true }))).toBe(
      'a        \\u202e\n\\x1b[2J       1\n',
    );
  });

  test('has bold names where colour is on', async () => {
    expect(await written(many({ a: 1, bb: 2 }), look('table', { color: true }))).toBe(
      '\x1b[1ma\x1b[22m  \x1b[1mbb\x1b[22m\n1   2\n',
    );
  });

  test('has no space at the end of a line', async () => {
    expect(
      await written(many({ a: 'x', b: 10 }, { a: '', b: null }, { a: '', b: 5 }), look('table', { header: false })),
    ).toBe('x  10\n\n    5\n');
  });
});

describe('a table of more than two hundred rows', () => {
  const numbered = (count: number): object[] =>
    Array.from({ length: count }, (_, index) => ({ id: index, name: `n${index}` }));

  test('looks the same on both sides of the limit', async () => {
    const small = await written(many(...numbered(200)), look('table'));
    const large = await written(many(...numbered(201)), look('table'));
    expect(small.split('\n').slice(0, 3)).toEqual([' id  name', '  0  n0', '  1  n1']);
    expect(large).toBe(`${small}200  n200\n`);
  });

  test('lets a later cell be wider where the line fits the terminal, and shortens it where not', async () => {
    const wide = { id: 123456, name: 'a name' };
    const terminal = { terminal: true, width: 12 };
    const lines = (
      await written(many(...numbered(200), { id: 123456, name: 'n' }, wide), look('table', terminal))
    ).split('\n');
    expect(lines.slice(200)).toEqual(['199  n199', '123456  n', '12…  a n…', '']);
  });

  test('is a record with values below their names, one character a line, in a terminal of one column', async () => {
    const text = await written({ one: { id: 12 } }, look('table', { terminal: true, width: 1 }));
    expect(text).toBe('id\n  1\n  2\n');
  });

  test('shortens nothing in a pipe', async () => {
    const text = await written(many(...numbered(200), { id: 123456, name: 'a name' }), look('table', { width: 12 }));
    expect(text.split('\n').slice(200)).toEqual(['199  n199', '123456  a name', '']);
  });

  test('holds its first two hundred rows only', async () => {
    const pieces: number[] = [];
    const { writeResult } = await import('../../src/output/write.ts');
    await writeResult(many(...numbered(20_000)), look('table'), {
      write: (text) => Promise.resolve(void pieces.push(text.length)),
    });
    expect(pieces.length).toBeGreaterThan(3);
    expect(Math.max(...pieces)).toBeLessThan(70_000);
  });
});

const cells = fc.array(
  fc.array(fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('漢字', '🫠', 'é', 'ที่', '', ' ', 'a b', 'xx')), {
    minLength: 3,
    maxLength: 3,
  }),
  { minLength: 1, maxLength: 6 },
);

test('both writers draw the same lines', () => {
  fc.assert(
    fc.property(cells, (texts) => {
      const lines = texts.map((row) => row.map((shown) => ({ shown, width: displayWidth(shown) })));
      const looks = [0, 1, 2].map((index) => ({
        width: Math.max(1, ...lines.map((row) => row[index]?.width ?? 0)),
        align: index === 1 ? ('right' as const) : ('left' as const),
      }));
      expect(drawGrid(lines, looks)).toBe(lines.map((row) => drawLine(row, looks)).join(''));
    }),
    { seed: 1 },
  );
});

test.each([
  [[3, 4], 20, [3, 4]],
  [[3, 40], 20, [3, 15]],
  [[3, 40, 40], 20, [3, 7, 6]],
  [[10, 10, 10], 7, [1, 1, 1]],
  [[10, 10], 2, [1, 1]],
  [[10], 10, [10]],
])('widths %j in %i columns are %j', (wanted, room, widths) => {
  expect(fitWidths(wanted, room)).toEqual(widths);
});

test('fitted widths use the room and no more', () => {
  const wanted = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(wanted, fc.integer({ min: 24, max: 200 }), (natural, room) => {
      const widths = fitWidths(natural, room);
      expect(lineWidth(widths)).toBe(Math.min(room, lineWidth(natural)));
      expect(widths.every((width, index) => width >= 1 && width <= (natural[index] ?? 0))).toBe(true);
    }),
    { seed: 1 },
  );
});

test.each([
  ['漢字', 4],
  ['😀🫠', 4],
  ['👩‍👩‍👧', 2],
  ['🇩🇪', 2],
  ['e\u0301', 1],
  ['ที่', 1],
  ['می‌خواهم', 7],
  ['', 0],
])('%j takes %i columns', (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

test('a shortened text keeps within its limit and ends in an ellipsis', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 12 }), (text, limit) => {
      const short = shorten(text, limit);
      expect(displayWidth(short)).toBeLessThanOrEqual(limit);
      expect(short === text || (short.endsWith('…') && text.startsWith(short.slice(0, -1)))).toBe(true);
    }),
    { seed: 1 },
  );
});
