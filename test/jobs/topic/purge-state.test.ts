import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  after,
  countsOf,
  isEnough,
  leftIn,
  lookStep,
  nextStep,
  nothingKnown,
  presentIn,
  statusOf,
  type PurgedState,
  type FoldedEvent,
  type PurgeState,
} from '../../../src/jobs/topic/purge-state.ts';
import type { CallEnd, PurgeStep } from '../../../src/store/archive/line-file.ts';
import { idsBetween } from '../../helpers/chat-server.ts';

const page = readFileSync('docs/apis.md', 'utf8').replace(/\s+/g, ' ');
const time = '2026-03-01T12:00:00.000Z';

type Ids = readonly number[];
type Happening = FoldedEvent | CallEnd | { readonly look: Ids; readonly from?: number };

const survey = (ids: Ids): FoldedEvent => ({ survey: ids });
const look = (ids: Ids, from?: number): Happening => ({ look: ids, ...(from !== undefined && { from }) });
const ten = idsBetween(1, 10);
/** A run that surveys and looks at ten messages. */
const begun: readonly Happening[] = [survey(ten), look(ten)];
const lastRun: readonly Happening[] = [...begun, 'asked'];

function stepOf(state: PurgeState, happening: Happening): FoldedEvent {
  if (typeof happening === 'string') return { call: happening };
  return 'look' in happening && Array.isArray(happening.look)
    ? lookStep(state, time, 'from' in happening ? (happening.from ?? null) : null, happening.look as Ids)
    : (happening as FoldedEvent);
}

function folded(happenings: readonly Happening[]): PurgeState {
  return happenings.reduce<PurgeState>((state, happening) => after(state, stepOf(state, happening)), nothingKnown);
}

/** The ids of each state that has some. */
function groups({ messages }: PurgeState): Partial<Record<PurgedState, number[]>> {
  const found: Partial<Record<PurgedState, number[]>> = {};
  for (const [id, state] of [...messages].sort(([one], [other]) => one - other)) (found[state] ??= []).push(id);
  return found;
}

test.each<[sentence: string, happenings: readonly Happening[], Partial<Record<PurgedState, Ids>>]>([
  [
    'What a survey or a look shows is present, whatever was known of it before.',
    [survey(ten), look([1, 2]), look([1, 2, 3]), survey([4])],
    { present: [1, 2, 3, 4], unseen: idsBetween(5, 10) },
  ],
  [
    'What a survey or a look shows is present, whatever was known of it before.',
    // A later answer proves nothing of a message that is back.
    [...begun, 'asked', 'failed', look([1, 2]), look([1, 2, 3]), 'asked', 'part'],
    { present: [1, 2, 3], deleted: idsBetween(4, 10) },
  ],
  [
    'What a look right before a call showed, and the look after its answer does not, is deleted.',
    [...begun, 'asked', 'whole', look([])],
    { deleted: ten },
  ],
  [
    'An answer with messages left is an answer too.',
    [...begun, 'asked', 'part', look([1, 2, 3])],
    { present: [1, 2, 3], deleted: idsBetween(4, 10) },
  ],
  [
    'Where the look after such an answer shows nothing, what went is unseen until a later call is answered.',
    [...begun, 'asked', 'part', look([1]), 'asked', 'part', look([])],
    { unseen: [1], deleted: idsBetween(2, 10) },
  ],
  [
    'Where the look after such an answer shows nothing, what went is unseen until a later call is answered.',
    [...begun, 'asked', 'part', look([]), look([11]), 'asked', 'whole', look([])],
    { deleted: [...ten, 11] },
  ],
  [
    'What is missing in a second look after an answer is unseen, since no call took it.',
    [...begun, 'asked', 'part', look([1, 2, 3]), 'asked', 'unsent', look([1, 2]), 'asked', 'whole', look([])],
    { unseen: [3], deleted: [1, 2, ...idsBetween(4, 10)] },
  ],
  [
    'What went in a call that failed is unseen until a later call is answered; then it is deleted.',
    // A server goes on with a call between two looks.
    [...begun, 'asked', 'failed', look([1, 2, 3]), 'asked', 'unsent', look([1, 2]), 'asked', 'part', look([1])],
    { present: [1], deleted: idsBetween(2, 10) },
  ],
  [
    'What went in a call that failed is unseen until a later call is answered; then it is deleted.',
    [...begun, 'asked', 'failed', look([1, 2, 3]), 'asked', 'failed', look([1, 2])],
    { present: [1, 2], unseen: idsBetween(3, 10) },
  ],
  [
    'What went in a call that failed is unseen until a later call is answered; then it is deleted.',
    [...begun, 'asked', 'failed', look([1, 2, 3]), 'asked', 'failed', look([1, 2]), 'asked', 'part', look([1])],
    { present: [1], deleted: idsBetween(2, 10) },
  ],
  [
    'What is missing before the first call is unseen.',
    [survey(ten), look(idsBetween(1, 8)), 'asked', 'whole', look([])],
    { deleted: idsBetween(1, 8), unseen: [9, 10] },
  ],
  [
    'What is missing in a second look after an answer is unseen, since no call took it.',
    [...begun, 'asked', 'part', look([1, 2, 3]), look([1, 2]), 'asked', 'whole', look([])],
    { unseen: [3], deleted: [1, 2, ...idsBetween(4, 10)] },
  ],
  [
    'What is missing in a second look after an answer is unseen, since no call took it.',
    // Not even one that an answer had proved deleted before it was back.
    [
      ...begun,
      ...(['asked', 'failed', look([1, 2])] as const),
      ...(['asked', 'part', look([1, 2, 3]), look([1, 2])] as const),
      ...(['asked', 'whole', look([])] as const),
    ],
    { deleted: [1, 2, ...idsBetween(4, 10)], unseen: [3] },
  ],
  [
    'What went in a call of a killed run, which has no end, is unseen, whatever later calls are answered.',
    [...lastRun, survey([1, 2, 3, 4]), look([1, 2, 3, 4]), 'asked', 'whole', look([])],
    { deleted: [1, 2, 3, 4], unseen: idsBetween(5, 10) },
  ],
  [
    'What went in a call of a killed run, which has no end, is unseen, whatever later calls are answered.',
    [...lastRun, survey([]), look([10]), look([]), 'asked', 'whole', look([])],
    { unseen: ten },
  ],
  [
    'What goes in the first answered call after a 500 that is not `REQUEST_TIMEOUT` is unseen:',
    [
      ...begun,
      'asked',
      'broken',
      look(ten),
      'asked',
      'failed',
      look(ten),
      'asked',
      'whole',
      look([1]),
      'asked',
      'whole',
      look([]),
    ],
    { deleted: [1], unseen: idsBetween(2, 10) },
  ],
  [
    'What went in the 500 itself is deleted once a later call is answered.',
    [...begun, 'asked', 'broken', look([1, 2, 3]), 'asked', 'whole', look([1]), 'asked', 'whole', look([])],
    { deleted: [1, ...idsBetween(4, 10)], unseen: [2, 3] },
  ],
  [
    'A 502, 503, 504 or timeout is no sign of somebody else.',
    [...begun, 'asked', 'failed', look(ten), 'asked', 'whole', look([])],
    { deleted: ten },
  ],
  [
    'What is missing while a newer message stayed is unseen: the server deletes the newest first, so no call took it.',
    // One that is shown again shows that the call which failed had not come so far.
    [...begun, 'asked', 'failed', look([]), survey([5]), look([5]), 'asked', 'whole', look([])],
    { unseen: [1, 2, 3, 4], deleted: idsBetween(5, 10) },
  ],
  [
    'What is missing while a newer message stayed is unseen: the server deletes the newest first, so no call took it.',
    [...begun, 'asked', 'part', look([4, 5, 6]), 'asked', 'whole', look([])],
    { unseen: [1, 2, 3], deleted: idsBetween(4, 10) },
  ],
  [
    'What is missing while a newer message stayed is unseen: the server deletes the newest first, so no call took it.',
    // A message that came during the call stays, and is no sign of anything.
    [...begun, 'asked', 'part', look([1, 2, 20]), 'asked', 'whole', look([])],
    { deleted: [...ten, 20] },
  ],
  [
    'A look that reads only the newest leaves what is below it as it was.',
    [...begun, 'asked', 'part', look([5, 6], 5)],
    { present: idsBetween(1, 6), deleted: idsBetween(7, 10) },
  ],
  [
    'What came between two runs and left before the first look is unseen.',
    [...begun, 'asked', 'failed', look(ten), survey([...ten, 11]), look(ten), 'asked', 'whole', look([])],
    { deleted: ten, unseen: [11] },
  ],
  [
    'What came between two runs and left before the first look is unseen.',
    [...begun, 'asked', 'whole', survey([...ten, 11]), look(ten), 'asked', 'whole', look([])],
    { deleted: ten, unseen: [11] },
  ],
  [
    'What is found in another place at the end is elsewhere.',
    [...begun, 'asked', 'whole', look([1]), { elsewhere: [1, 2, 99], asked: 'all' }],
    { present: [1], elsewhere: [2], deleted: idsBetween(3, 10) },
  ],
  [
    'Below level 300 a sample is asked for; where one of it is elsewhere, the others are unseen.',
    [...begun, 'asked', 'whole', look([]), { elsewhere: [1], asked: 'sample' }],
    { elsewhere: [1], unseen: idsBetween(2, 10) },
  ],
  [
    'Below level 300 a sample is asked for; where one of it is elsewhere, the others are unseen.',
    [...begun, 'asked', 'whole', look([]), { elsewhere: [], asked: 'sample' }],
    { deleted: ten },
  ],
])('%s', (sentence, happenings, expected) => {
  expect(page).toContain(sentence);
  expect(groups(folded(happenings))).toEqual(expected);
});

test.each<[sentence: string, counts: Partial<Record<PurgedState, number>>, status: string]>([
  ['any `present` or `elsewhere` is `incomplete`', { present: 1, unseen: 1, deleted: 8 }, 'incomplete'],
  ['any `present` or `elsewhere` is `incomplete`', { elsewhere: 1, deleted: 8 }, 'incomplete'],
  ['any `unseen` is `unseen`', { unseen: 1, deleted: 8 }, 'unseen'],
  ['else `deleted`', { deleted: 8 }, 'deleted'],
])('the status: %s', (sentence, counts, status) => {
  expect(page).toContain(sentence);
  expect(statusOf({ present: 0, deleted: 0, unseen: 0, elsewhere: 0, ...counts })).toBe(status);
});

const round = (end: CallEnd, shown: Ids): readonly Happening[] => ['asked', end, look(shown)];
const rounds = (count: number, end: CallEnd, shown: Ids): readonly Happening[] =>
  Array.from({ length: count }, () => round(end, shown)).flat();

test.each<[sentence: string, happenings: readonly Happening[], isLimited: boolean, next: string]>([
  ['No call is sent where the look before it shows nothing', [survey(ten), look([])], false, 'end'],
  ['unless the plan hides part of the topic', [survey([]), look([])], true, 'call'],
  ['unless the plan hides part of the topic', [survey(ten), ...round('whole', []), survey([]), look([])], true, 'call'],
  [
    'A purge ends after a call that says it is complete, once no message of the start is left.',
    [...begun, ...round('whole', [11])],
    false,
    'end',
  ],
  [
    'A purge ends after a call that says it is complete, once no message of the start is left.',
    [...begun, ...round('part', [11])],
    false,
    'call',
  ],
  ['A purge ends after a call that says it is complete', [...begun, ...round('whole', [1])], false, 'call'],
  [
    'Two rounds in which no message of the start went end the purge',
    [...begun, ...rounds(1, 'failed', ten)],
    false,
    'call',
  ],
  [
    'Two rounds in which no message of the start went end the purge',
    [...begun, ...rounds(2, 'whole', ten)],
    false,
    'give up',
  ],
  [
    'Two rounds in which no message of the start went end the purge',
    [...begun, ...round('part', ten), ...round('part', [1, 2]), ...round('part', [1, 2])],
    false,
    'call',
  ],
  [
    'Two rounds in which no message of the start went end the purge',
    // Nor does the call of a run that was killed in it.
    [...begun, 'asked', survey(ten), look(ten), ...round('failed', ten)],
    false,
    'call',
  ],
  [
    'Two rounds in which no message of the start went end the purge',
    // Those of an earlier run do not count.
    [...begun, ...rounds(2, 'part', ten), survey(ten), look(ten), ...round('part', ten)],
    false,
    'call',
  ],
  ['once no message of the start is left', [...begun, ...rounds(3, 'part', [11])], false, 'end'],
  ['While hidden messages are deleted, fifty such rounds do.', [survey([]), ...rounds(49, 'part', [])], true, 'call'],
  [
    'While hidden messages are deleted, fifty such rounds do.',
    [survey([]), look([]), ...rounds(50, 'part', [])],
    true,
    'give up',
  ],
  ['While hidden messages are deleted, fifty such rounds do.', [...begun, ...rounds(2, 'part', ten)], true, 'give up'],
])('after a look: %s (%#)', (sentence, happenings, isLimited, next) => {
  expect(page).toContain(sentence);
  expect(nextStep(folded(happenings), { isLimited })).toBe(next);
});

const many = idsBetween(1, 12_000);
const looked = (first: Ids, shown: Ids, from?: number): readonly Happening[] => [
  survey(first),
  look(first),
  ...(['asked', 'part'] as const),
  look(shown, from),
  ...(['asked', 'part'] as const),
];

/** So many calls of a thousand messages each, a look at the newest after each but the last. */
const thousandsGone = (calls: number): readonly Happening[] => [
  survey(idsBetween(1, 12_000)),
  look(idsBetween(1, 12_000)),
  ...Array.from({ length: calls }, (_, index): readonly Happening[] => {
    const left = 12_000 - index * 1000;
    return [...(index > 0 ? [look(idsBetween(left - 4999, left), left - 4999)] : []), 'asked', 'part'];
  }).flat(),
];

test.each<[sentence: string, happenings: readonly Happening[], read: Ids, isEnough: boolean]>([
  ['The whole topic is read before the first call', [survey(many)], idsBetween(2001, 12_000), false],
  [
    'The whole topic is read before the first call',
    // Of each run.
    [...looked(many, idsBetween(1, 11_000)), survey(idsBetween(1, 11_000))],
    idsBetween(5801, 10_800),
    false,
  ],
  [
    'three times as many as went from one look to the next so far, at least 5,000',
    looked(many, idsBetween(1, 11_000)),
    idsBetween(5801, 10_800),
    true,
  ],
  [
    'three times as many as went from one look to the next so far, at least 5,000',
    looked(many, idsBetween(1, 11_000)),
    idsBetween(5802, 10_800),
    false,
  ],
  [
    'three times as many as went from one look to the next so far, at least 5,000',
    looked(many, idsBetween(1, 9000)),
    idsBetween(1, 8900),
    false,
  ],
  [
    'three times as many as went from one look to the next so far, at least 5,000',
    // The most that went counts, not the last.
    [...looked(many, idsBetween(1, 9000)), look(idsBetween(1, 8900)), 'asked', 'part'],
    idsBetween(3801, 8800),
    false,
  ],
  ['whenever half of what the last whole look showed is gone', thousandsGone(6), idsBetween(1001, 6000), false],
  ['whenever half of what the last whole look showed is gone', thousandsGone(5), idsBetween(2001, 7000), true],
  [
    'whenever half of what the last whole look showed is gone',
    looked(many, idsBetween(1, 11_000), 7000),
    idsBetween(1001, 6000),
    false,
  ],
  ['after a call that went deeper than its look', looked(many, [10_999, 11_000], 10_999), idsBetween(1, 10_998), false],
  ['after a call that went deeper than its look', looked(many, [10_999, 11_000], 10_999), idsBetween(1, 10_999), true],
  ['after a round in which nothing went', looked(many, idsBetween(1, 11_000)), idsBetween(2001, 11_000), false],
])('looks: %s (%#)', (sentence, happenings, read, expected) => {
  expect(page).toContain(sentence);
  expect(isEnough(folded(happenings), read)).toBe(expected);
});

test('a call that went below the look before it: its messages are counted', () => {
  const whole = folded([
    survey(ten),
    look(ten),
    ...(['asked', 'part', look([7, 8], 7)] as const),
    ...(['asked', 'part', look([1, 2, 3])] as const),
  ]);
  const empty = folded([survey(ten), look(ten), 'asked', 'part', look([7, 8], 7), 'asked', 'whole', look([])]);

  expect(folded(begun).deeper).toBe(0);
  expect(whole.deeper).toBe(3);
  expect(empty.deeper).toBe(6);
});

test('what arrived is counted apart from what was surveyed', () => {
  const state = folded([...begun, 'asked', 'part', look([1, 2, 11])]);

  expect({ arrived: state.messages.size - state.start.size, left: leftIn(state) }).toEqual({ arrived: 1, left: 2 });
});

test.each(['asked', 'failed', 'broken'] as const)('a call that is %s proves nothing, and says what was left', (end) => {
  const state = folded([...begun, ...(end === 'asked' ? [] : ['asked' as const]), end, look([])]);

  expect([statusOf(countsOf(state)), state.call?.before.size]).toEqual(['unseen', 10]);
});

describe('the steps of an earlier run', () => {
  test('give the states that it had, whatever it was doing', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = numbers(seed);
      const steps: PurgeStep[] = [];
      let state = after(nothingKnown, { survey: ten });
      const step = (next: PurgeStep): void => {
        state = after(state, next);
        steps.push(next);
      };
      step(lookStep(state, time, null, ten));
      const topic = new Set(ten);
      let next = 10;
      for (let turn = 0; turn < 6; turn += 1) {
        if (random() < 0.5) topic.add((next += 1));
        const newest = [...topic].sort((one, other) => other - one);
        for (const id of newest.slice(0, Math.floor(random() * 5))) topic.delete(id);
        if (random() < 0.3) topic.delete(Math.ceil(random() * 10));
        step({ call: 'asked' });
        step({ call: (['whole', 'part', 'failed', 'broken'] as const)[Math.floor(random() * 4)] ?? 'part' });
        const from = random() < 0.5 ? null : Math.ceil(random() * next);
        const shown = [...topic].filter((id) => id >= (from ?? 0)).sort((one, other) => one - other);
        step(lookStep(state, time, from, shown));
      }
      const again = steps.reduce<PurgeState>(after, nothingKnown);
      expect({ seed, of: groups(again), present: presentIn(again) }).toEqual({
        ...{ seed, of: groups(state), present: presentIn(state) },
      });
    }
  });
});

/** Numbers in [0, 1) that every platform repeats alike. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
