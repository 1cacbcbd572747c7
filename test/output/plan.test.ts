import { expect, test } from 'vitest';
import { planLines } from '../../src/output/plan.ts';
import type { PlannedChange } from '../../src/output/presentation.ts';
import { fit } from '../../src/output/plain.ts';

const create = (user: string): PlannedChange => ({ kind: 'create', user, becomes: 'size 6' });

test('a plan is in the order of what needs a look, and a mark stands beside each word', () => {
  expect(
    planLines([
      create('ada'),
      { kind: 'larger', sizes: '1 -> 4', user: 'ben' },
      { kind: 'smaller', sizes: '4 -> 1', user: 'physio-7731' },
      { kind: 'retire', user: 'left', becomes: '4 -> 1' },
      { kind: 'failed', user: 'Eve' },
    ]),
  ).toEqual([
    '! failed  Eve',
    'x retire  left         4 -> 1',
    '~ 4 -> 1  physio-7731',
    '~ 1 -> 4  ben',
    '+ create  ada          size 6',
  ]);
});

test('20 changes are shown whole; of more ten of each kind, and how many more there are', () => {
  const created = Array.from({ length: 119 }, (_, index) => create(`user-${index}`));
  const resized: PlannedChange[] = Array.from({ length: 11 }, () => ({ kind: 'larger', sizes: '3 -> 5', user: 'ben' }));
  expect([20, 21].map((count) => planLines(created.slice(0, count)).length)).toEqual([20, 11]);
  const lines = planLines([...created, ...resized]);
  expect([...lines.slice(9, 11), ...lines.slice(21)]).toEqual(['~ 3 -> 5  ben', '~ and 1 more', '+ and 109 more']);
});

test('a plan of several applications names that of each change', () => {
  const lines = planLines([
    { ...create('ada'), app_code: 7 },
    { ...create('ben'), app_code: 9 },
  ]);
  expect(planLines([{ ...create('ada'), app_code: 7 }])).toEqual(['+ create  ada  size 6']);
  expect(lines).toEqual(['+ create  ada  size 6, application 7', '+ create  ben  size 6, application 9']);
});

test('at 60 columns a long name moves no other line, and folds below its own', () => {
  const long = `clinic-${'north-'.repeat(9)}ward`;
  const rows = planLines([create('ada'), create(long)]).join('\n  ');
  expect(fit(`  ${rows}`, 60)).toBe(
    `  + create  ada                               size 6\n  + create\n    ${long}\n    size 6`,
  );
});
