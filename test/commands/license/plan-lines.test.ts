import { expect, test } from 'vitest';
import { planLines, type PlannedChange } from '../../../src/commands/license/plan-lines.ts';

const changes = (count: number): PlannedChange[] =>
  Array.from({ length: count }, (_, index) => [index % 2 === 0 ? 'resize' : 'create', `user-${index}`, '3 -> 5']);

test('up to 20 changes are shown whole, in the order of the file', () => {
  expect(
    planLines(
      [
        ['create', 'ada', 'size 6'],
        ['resize', 'physio-7731', '4 -> 5'],
      ],
      '--dry-run',
    ),
  ).toBe('This would change:\ncreate  ada          size 6\nresize  physio-7731  4 -> 5');
  expect(planLines(changes(20), '--dry-run').split('\n')).toHaveLength(21);
});

test('from 21 on the first ten are shown, creations first, and how many more there are', () => {
  const lines = planLines([...changes(119)], '--dry-run --changed')
    .split('\n')
    .slice(1);
  expect(lines).toHaveLength(11);
  expect(lines.slice(0, 10).every((line) => line.startsWith('create  '))).toBe(true);
  expect(lines[10]).toBe('and 109 more: --dry-run --changed');
});
