import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planLines, type PlannedChange } from '../../../src/commands/license/plan-lines.ts';
import { fit } from '../../../src/output/plain.ts';
import { emptyHome, openSandbox } from '../../helpers/run.ts';

const changes = (count: number): PlannedChange[] =>
  Array.from({ length: count }, (_, index) => [index % 2 === 0 ? 'resize' : 'create', `user-${index}`, '3 -> 5']);

test('up to 20 changes are shown whole, in the order of the file', () => {
  expect(
    planLines([
      ['create', 'ada', 'size 6'],
      ['resize', 'physio-7731', '4 -> 5'],
    ]),
  ).toBe('This would change:\ncreate  ada          size 6\nresize  physio-7731  4 -> 5');
  expect(planLines(changes(20)).split('\n')).toHaveLength(21);
});

test('from 21 on the first ten are shown, creations first, how many more there are, and how to see them', () => {
  const lines = planLines([...changes(119)])
    .split('\n')
    .slice(1);
  expect(lines).toHaveLength(11);
  expect(lines.slice(0, 10).every((line) => line.startsWith('create  '))).toBe(true);
  expect(lines[10]).toBe('and 109 more: v shows all of them');
  expect(planLines(changes(119), 'all').split('\n')).toHaveLength(120);
});

test('at 60 columns a long name moves no other line, and folds below its own', () => {
  const long = `clinic-${'north-'.repeat(9)}ward`;
  const rows = planLines([
    ['create', 'ada', 'size 6'],
    ['resize', long, '4 -> 5'],
  ]);
  expect(fit(rows.replaceAll('\n', '\n  '), 60)).toBe(
    `This would change:\n  create  ada                               size 6\n  resize\n    ${long}\n    4 -> 5`,
  );
});

test('v shows the whole plan, and the question comes again', async () => {
  const { run, sandbox } = await openSandbox();
  const home = emptyHome();
  const roster = join(home, 'roster.csv');
  const users = Array.from({ length: 30 }, (_, index) => `user-${index}`);
  writeFileSync(roster, `remote_user,size_allowance\n${users.map((user) => `${user},3\n`).join('')}`);
  const answered = (answers: readonly string[], more = '') =>
    run(`license apply ${roster} ${more}`, { home, answers, tty: true, columns: 60 });

  const seen = await answered(['v', 'n']);
  const [before = '', shown = '', ...again] = seen.stderr.split('\nContinue? [y/N/v]');
  expect([seen.exitCode, again.length]).toEqual([130, 1]);
  expect(users.filter((user) => new RegExp(`create +${user} `).test(before))).toHaveLength(10);
  expect(users.filter((user) => new RegExp(`create +${user} `).test(shown))).toEqual(users);
  expect((await answered(['V', 'y'], '-q')).exitCode).toBe(130);
  expect((await answered(['v', 'yes'])).exitCode).toBe(0);
  expect(sandbox.state.licenses().filter(({ remote_user }) => users.includes(remote_user))).toHaveLength(30);
});

test.each([
  ['license retire --remote-user physio-7731', '[y/N]'],
  ["license edit --match 'physio-77*' --size-allowance 9", '[y/N]'],
])('a plan that is shown whole offers no v: %s', async (line, choice) => {
  const { run } = await openSandbox();
  expect((await run(line, { tty: true, stdin: 'n\n' })).stderr).toContain(choice);
});
