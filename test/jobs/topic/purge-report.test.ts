import { expect, test } from 'vitest';
import { leftOver } from '../../../src/jobs/topic/purge-report.ts';
import { after, countsOf, nothingKnown, statusOf, type FoldedEvent } from '../../../src/jobs/topic/purge-state.ts';

const nothing = { first_timestamp: null, last_timestamp: null, spellings: [], files: 0, isLimited: false, folder: '' };
const topic = { channel: { stream_id: 5 }, topic_name: 'lunch', label: 'lunch', ids: [1, 2, 3], ...nothing };
const survey = { ...topic, isBegun: false, isEnded: false };
const look = (...missing: readonly number[]) => ({ look: '', from: null, there: [], missing });
const [asked, answered, failed] = [{ call: 'asked' }, { call: 'whole' }, { call: 'failed' }] as const;
const moved = { elsewhere: [1], asked: 'all' } as const;
const [gone, lost] = [[asked, answered, look(1, 2, 3)] as const, [asked, failed, look(1, 2, 3)] as const];
const some = '1 of 3 messages were not deleted and are in';
const ten = "'0', '1', '2', '3', '4', '5', '6', '7', '8', '9'";
const unseen = 'are no longer visible to this account';
const unproven = `${unseen}, and nothing proves that they were deleted: the last delete call failed`;

test.each<[message: string, places: number, steps: readonly FoldedEvent[], retryable?: boolean]>([
  [`${some} '0'; 2 were deleted`, 1, [...gone, moved]],
  [`${some} '0'; 0 were deleted, 2 ${unseen}`, 1, [...lost, moved]],
  [`${some} ${ten}; 2 were deleted`, 10, [...gone, moved]],
  [`${some} ${ten} and 1 other topics; 2 were deleted`, 11, [...gone, moved]],
  [`3 of 3 messages ${unproven}; 3 messages were left before it`, 0, lost],
  ['2 of the 3 original messages are left', 0, [asked, answered, look(3)], true],
])('%s', (message, count, steps, retryable = false) => {
  const state = steps.reduce(after, after(nothingKnown, { survey: survey.ids }));
  const [counts, total] = [countsOf(state), state.messages.size];
  const outcome = { counts, status: statusOf(counts), total, arrived: 0, deeper: 0, isLeast: false };
  const places = new Set(Array.from({ length: count }, (_, at) => String(at)));
  const failure = leftOver(survey, state, outcome, { places, isSample: false });
  expect(failure).toMatchObject({ message: `topic 'lunch': ${message}`, details: { retryable } });
});
