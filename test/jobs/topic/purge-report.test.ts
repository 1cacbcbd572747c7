import { expect, test } from 'vitest';
import { Failure } from '../../../src/core/failure.ts';
import { inPart, leftOver, refuseMore, refuseNewer, stuck, warningsOf } from '../../../src/jobs/topic/purge-report.ts';
import { after, countsOf, nothingKnown, statusOf, type FoldedEvent } from '../../../src/jobs/topic/purge-state.ts';

const nothing = { first_timestamp: null, last_timestamp: null, spellings: [], files: 0, isLimited: false, folder: '' };
const topic = { channel: { stream_id: 5 }, topic_name: 'lunch', label: 'lunch', ids: [1, 2, 3], ...nothing };
const survey = { ...topic, isBegun: false, isEnded: false };
const look = (...missing: readonly number[]) => ({ look: '', from: null, there: [], missing });
const [asked, answered, failed] = [{ call: 'asked' }, { call: 'whole' }, { call: 'failed' }] as const;
const moved = { elsewhere: [1], asked: 'all' } as const;
const [gone, lost] = [[asked, answered, look(1, 2, 3)] as const, [asked, failed, look(1, 2, 3)] as const];
const half = [asked, answered, look(3), asked, failed, look(1, 2)] as const;
const some = '1 of 3 messages were not deleted and are in';
const ten = "'0', '1', '2', '3', '4', '5', '6', '7', '8', '9'";
const newer = 'newer message is left, which arrived during the deletion';
const unseen = 'are no longer visible to this account';
const unproven = `${unseen}, and nothing proves that they were deleted: the last delete call failed`;

test.each<[message: string, places: number, steps: readonly FoldedEvent[], retryable?: boolean]>([
  [`${some} '0'; 2 were deleted`, 1, [...gone, moved]],
  [`${some} '0'; 0 were deleted, 2 ${unseen}`, 1, [...lost, moved]],
  [`${some} ${ten}; 2 were deleted`, 10, [...gone, moved]],
  [`${some} ${ten} and 1 other topics; 2 were deleted`, 11, [...gone, moved]],
  [`${some} '0'; 1 were deleted, 1 ${unseen}`, 1, [...half, moved]],
  [`2 of 3 messages ${unproven}; 2 messages were left before it; at least 1 were deleted`, 0, half],
  [`3 of 3 messages ${unproven}; 3 messages were left before it`, 0, lost],
  ['2 of the 3 original messages are left', 0, [asked, answered, look(3)], true],
  ['1 of the 3 original messages are left', 0, [asked, answered, look(2, 3)], true],
  [`the 3 original messages are gone; 1 ${newer}`, 0, [asked, answered, { ...look(1, 2, 3), there: [4] }], true],
])('%s', (message, count, steps, retryable = false) => {
  const state = steps.reduce(after, after(nothingKnown, { survey: survey.ids }));
  const [counts, total] = [countsOf(state), state.messages.size];
  const outcome = { counts, status: statusOf(counts), total, arrived: 0, deeper: 0, isLeast: false };
  const places = new Set(Array.from({ length: count }, (_, at) => String(at)));
  const failure = leftOver(survey, state, outcome, { places, isSample: false });
  expect(failure).toMatchObject({ message: `topic 'lunch': ${message}`, details: { retryable } });
});

test.each([
  [0, undefined, '', ': nothing of it was deleted'],
  [1, undefined, ', 1 of them before', ': nothing more of it was deleted'],
  [1, 2, ', 1 of them before', '; 2 of the original messages are left'],
])('more than may be deleted, after %s: %s left', (deleted, left, before, end) => {
  const counts = { present: 3 - deleted, deleted, unseen: 0, elsewhere: 0 };
  const expected = `3 messages of 'lunch' would be deleted${before}, more than the 2 that --max-messages allows${end}`;
  expect(() => refuseMore(survey, counts, 2, left)).toThrow(
    expect.objectContaining({ kind: left ? 'incomplete' : 'usage', message: expected, retryable: false }),
  );
});

const http = (status: number) => ({ http: { method: 'POST', url: '/', status } });
const seen = (left: number) => `no; ${left} of ${Math.max(3, left)} messages of 'lunch' were left when last seen`;

test.each([
  ['cancelled', {}, 3, seen(3), 'cancelled', undefined],
  ['config', {}, 2, seen(2), 'incomplete', true],
  ['unavailable', {}, 4, seen(4), 'incomplete', true],
  ['auth', {}, 3, seen(3), 'auth', undefined],
  ['rejected', http(299), 3, seen(3), 'rejected', undefined],
  ['rejected', http(300), 3, 'no', 'rejected', undefined],
  ['rejected', {}, 3, 'no', 'rejected', undefined],
  ['not_found', {}, 3, 'no', 'not_found', undefined],
  ['rejected', {}, 2, seen(2), 'incomplete', false],
  ['not_found', {}, 2, seen(2), 'incomplete', false],
  ['usage', {}, 2, 'no', 'usage', undefined],
] as const)('%s in the middle, %j, %i left: %s', (kind, details, left, message, shown, retryable) => {
  const failure = inPart(new Failure(kind, 'no', details), survey, { left, isServerAtWork: false }, 'again');
  expect(failure).toMatchObject({ kind: shown, message });
  expect(failure.details.retryable).toBe(retryable);
});

test.each([
  [3, 'the server makes no progress; 3 of 3 messages'],
  [4, 'the server makes no progress; 4 of 4 messages'],
])('no progress with %i left', (left, message) => {
  expect(stuck(survey, left, undefined).message).toBe(`${message} are left in 'lunch'`);
  expect(stuck(survey, left, new Failure('rejected', 'no')).message).toBe(`${message} are left in 'lunch': no`);
});

test('a message of exactly the age is younger', () => {
  const newest = { ...survey, last_timestamp: 1000 };
  const younger = { message: expect.stringContaining('is younger than') as string, retryable: false };
  expect(() => refuseNewer(newest, 1_000_000)).toThrow(expect.objectContaining(younger) as Error);
  for (const one of [{ ...newest }, survey]) expect(() => refuseNewer(one, 1_000_001)).not.toThrow();
  expect(() => refuseNewer(newest)).not.toThrow();
});

test.each([
  [0, 0, false, /^$/],
  [1, 0, false, /^topic 'lunch': a delete call went further than the last read, by 1 message: [^\n]+$/],
  [0, 0, true, /^topic 'lunch': at least 1 message was deleted; those that the plan hid [^\n]+$/],
  [0, 1, false, /^topic 'lunch': 1 message arrived during the deletion; [^\n]+$/],
])('warnings of %i deeper, %i arrived, hidden %s', (deeper, arrived, isLimited, expected) => {
  const counts = { present: 0, deleted: 1, unseen: 0, elsewhere: 0 };
  const outcome = { counts, status: 'deleted', total: 1, arrived, deeper, isLeast: false } as const;
  expect(warningsOf({ ...survey, isLimited }, outcome).join('\n')).toMatch(expected);
});
