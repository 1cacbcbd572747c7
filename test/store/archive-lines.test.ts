import { expect, test } from 'vitest';
import { fileRecordIn } from '../../src/store/archive/kept-file.ts';
import { changeIn } from '../../src/store/archive/line-file.ts';
import { partIn } from '../../src/store/archive/part.ts';

const file = { file: 'source-000001.ndjson', bytes: 9, sha256: 'ab' };
const part = { part: 1, first: 1, last: 2, count: 2, ids: [1, 2], source: file, attached: ['2/ab/notes.txt'] };
const change = { id: 1, change: 'edited', seen: '2026-03-01T00:00:00Z', message: { id: 1 } };
const kept = { path: '2/ab/notes.txt', file: 'files/0123456789abcdef-notes.txt', bytes: 5, sha256: 'ab' };
const refused = { path: kept.path, refused: 'not found', why: 'missing' };
const { message: _, ...gone } = { ...change, change: 'gone', why: 'limit' };

test.each<[(line: unknown) => unknown, lines: readonly object[], others: readonly unknown[]]>([
  [
    partIn,
    [part, { ...part, source: undefined, attached: [] }],
    [
      ...[7, null, { ...part, part: '1' }],
      ...[undefined, [], [1.5], { length: 1 }].map((ids) => ({ ...part, ids })),
      ...[undefined, [7], ''].map((attached) => ({ ...part, attached })),
      ...[7, { ...file, file: 7 }, { ...file, file: 'notes.txt' }, { ...file, sha256: 7 }].map((source) => ({
        ...part,
        source,
      })),
    ],
  ],
  [
    changeIn,
    [change, { ...change, change: 'moved' }, { ...change, change: 'back' }, gone],
    [
      ...[7, { ...change, id: '1' }, { ...change, id: 1.5 }, { ...change, seen: 7 }, { ...change, change: 'other' }],
      ...[7, {}, { id: '1' }].map((message) => ({ ...change, message })),
    ],
  ],
  [
    fileRecordIn,
    [kept, refused],
    [
      7,
      ...[{ path: 7 }, { file: 7 }, { file: 'notes.txt' }, { bytes: '5' }, { sha256: 7 }].map((one) => ({
        ...kept,
        ...one,
      })),
    ],
  ],
])('%o takes its lines, and none of another shape', (read, lines, others) => {
  expect(lines.map(read)).toEqual(lines);
  expect(others.map(read)).toEqual(others.map(() => undefined));
});
