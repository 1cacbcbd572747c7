import { expect, test } from 'vitest';
import { openCreations, openHistory } from '../../../src/store/record/history.ts';
import { sleptClock } from '../../helpers/clock.ts';
import { place } from '../place.ts';

const retired = { remote_user: 'left-cyd', remote_user_before: 'cyd', app_code: 7, license_code_end: 'F69B' } as const;
const at = { origin: 'licenses.test', app_code: 7 };
const created = { event: 'created', remote_user: 'cyd', app_code: 7, license_code_end: 'F69B' } as const;

test.each([
  ['after it was created', [created, { event: 'changing', ...retired }, { event: 'changed', ...retired }], undefined],
  [
    'before its run told of it',
    [{ event: 'changing', ...retired }, { event: 'changed', ...retired }, created],
    undefined,
  ],
  [
    'of another key',
    [
      { event: 'changing', ...retired },
      { event: 'changed', ...retired },
      { ...created, license_code_end: '0000' },
    ],
    '0000',
  ],
  [
    'by nobody: the server refused',
    [created, { event: 'changing', ...retired }, { event: 'refused', ...retired }],
    'F69B',
  ],
] as const)('a license that got another name %s', async (_when, events, end) => {
  const { system } = place();
  const append = openHistory({ run: 'ABCD', command: 'license ensure' }, { system, clock: sleptClock() });
  for (const event of events) await append({ origin: 'licenses.test' }, event, () => Promise.resolve());

  expect((await openCreations(system)('cyd', at, []))?.license_code_end).toBe(end);
});

test('what another run has created since the last question is known', async () => {
  const { system } = place();
  const creationOf = openCreations(system);
  const before = await creationOf('cyd', at, []);

  const append = openHistory({ run: 'ABCD', command: 'license ensure' }, { system, clock: sleptClock() });
  for (const user of ['ada', 'cyd', 'dan']) {
    await append({ origin: 'licenses.test' }, { ...created, remote_user: user }, () => Promise.resolve());
    expect((await creationOf(user, at, []))?.remote_user).toBe(user);
  }

  expect(before).toBeUndefined();
});
