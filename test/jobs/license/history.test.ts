import { expect, test } from 'vitest';
import { changeOf, changesOf, changeText } from '../../../src/jobs/license/history.ts';
import type { HistoryEntry } from '../../../src/store/record/history.ts';

test.each([
  [{ size_allowance: 5 }, { app_code: 7, remote_user: 'ada', size_allowance: 5, size_allowance_before: 4 }],
  [
    { app_code: 8, remote_user: 'ben' },
    { app_code: 8, app_code_before: 7, remote_user: 'ben', remote_user_before: 'ada', size_allowance: 4 },
  ],
  [
    { app_code: 7, remote_user: 'ada' },
    { app_code: 7, remote_user: 'ada', size_allowance: 4 },
  ],
])('a request for %j is recorded as %j', (asked, event) => {
  const found = { key: 'K-0001', fields: { remote_user: 'ada', app_code: 7, size_allowance: 4 } };
  expect(changeOf(found, asked)).toEqual({ size_allowance_before: 4, license_code_end: '0001', ...event });
});

/** Each entry in words: its run, what happened, and the new size, or the end of a key. */
test.each([
  ['A created, B created', 'A created'],
  ['A created 0001, A created 0002', 'A created, A created'],
  ['A unknown, B created', 'A unknown: a license was requested, B created'],
  ['A changing 5, A changed 5', 'A resized 3 -> 5'],
  ['A changed 5, B changed 5', 'A resized 3 -> 5, B resized 3 -> 5'],
  ['A changing 5, A changed 6', 'A unknown: resized 3 -> 5, A resized 3 -> 6'],
  ['A changing 5, A refused 5', ''],
])('of %s a history says "%s"', (texts, said) => {
  const entries = texts.split(', ').map((text): HistoryEntry => {
    const [run = '', event, end] = text.split(' ');
    const who = { account: 'ada', computer: 'vm', origin: 'https://here.test', command: 'license apply' };
    const of = { ...who, time: '2026-03-01T12:00:00.000Z', run, app_code: 7, remote_user: 'ada' };
    if (event === 'created' || event === 'unknown') return { ...of, event, license_code_end: end };
    return { ...of, event: event as 'changed', size_allowance: Number(end), size_allowance_before: 3 };
  });
  expect(
    changesOf(entries)
      .map((one) => `${one.run} ${changeText(one)}`)
      .join(', '),
  ).toBe(said);
});
