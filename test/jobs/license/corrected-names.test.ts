import { expect, test } from 'vitest';
import { correctedNames, type PlannedRow } from '../../../src/jobs/license/plan.ts';
import { licensingWorld, seedOf } from '../../helpers/licensing-world.ts';

const row = (remote_user: string, status: PlannedRow['status'] = 'create', app_code = 7): PlannedRow => ({
  row: { remote_user, app_code, size_allowance: 4 },
  seen: { by: 'hint', isSettled: false, result: { shows: 'nothing' } },
  step: { do: 'look up', when: 'now' },
  status,
});

const found = (rows: readonly PlannedRow[], ...listed: readonly string[]) =>
  correctedNames({ rows, unsure: 0, missing: [] }, (app_code) => new Set(app_code === 7 ? listed : []));

test.each([
  ['another letter', 'ada.ward@example.com', 'ada.wart@example.com'],
  ['two letters that change places', 'grace@example.com', 'garce@example.com'],
  ['two letters more', 'adaward@example.com', 'adawardxy@example.com'],
  ['six characters', 'abcdef', 'abcdeg'],
])('a listed user with %s is named', (_what, created, listed) => {
  expect(found([row(created)], 'somebody', listed)).toEqual([[created, listed]]);
});

test.each([
  ['three other letters', 'adaward@example.com', 'xyzward@example.com'],
  ['three letters more', 'adaward@example.com', 'adawardxyz@example.com'],
  ['another digit', 'physio-7731', 'physio-7732'],
  ['a digit more', 'physio-773', 'physio-7731'],
  ['five characters', 'abcde', 'abcdf'],
])('%s are another user', (_what, created, listed) => {
  expect(found([row(created)], listed)).toEqual([]);
});

test('only users who would be created are compared, with users of their application', () => {
  const listed = ['ada.wart@example.com'];
  expect(found([row('ada.ward@example.com', 'unchanged')], ...listed)).toEqual([]);
  expect(found([row('ada.ward@example.com', 'create', 8)], ...listed)).toEqual([]);
});

test('a plan names a corrected address, and not one that is another row', async () => {
  const { run } = await licensingWorld({}, '', { seed: seedOf(['ada.wart@x.org', 'bob.ward@x.org']) });
  const roster = (...users: string[]) => users.map((remote_user) => ({ remote_user, size_allowance: 4 }));
  const plan = async (...users: string[]) =>
    (await run(['license', 'apply', '-', '-n'], { stdin: JSON.stringify(roster(...users)) })).stderr.replace(
      /\s+/g,
      ' ',
    );

  expect(await plan('ada.ward@x.org')).toContain(
    "1 user to create may be listed under another name, such as 'ada.ward@x.org' as 'ada.wart@x.org'. To rename " +
      'instead: chatelaine license rename --from FILE',
  );
  expect(await plan('ada.ward@x.org', 'ada.wart@x.org')).not.toContain('another name');
});
