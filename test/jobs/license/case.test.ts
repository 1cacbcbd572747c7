import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { AnsweredCreation, Creation } from '../../../src/api/licensing/license-writes.ts';
import type { License } from '../../../src/api/licensing/license.ts';
import { Failure } from '../../../src/core/failure.ts';
import {
  caseOf,
  countIn,
  locked as lockedCase,
  posted as postedCase,
  type Case,
  type SeenUser,
  type Step,
} from '../../../src/jobs/license/case.ts';
import { failureOf } from '../../../src/jobs/license/case-words.ts';
import { nextStep, whereRefused, whereStopped } from '../../../src/jobs/license/next-step.ts';
import type { Rules } from '../../../src/jobs/license/case.ts';
import type { KnownWrites, PendingWrite } from '../../../src/store/record/writes.ts';

const asked = { remote_user: 'ada', app_code: 7, size_allowance: 4 };
const of = (key: string, size = 4, remote_user = 'ada'): License => ({
  key,
  fields: { remote_user, app_code: 7, size_allowance: size },
});
const [one, other, small, near] = [of('K-0001'), of('K-0002'), of('K-0001', 2), of('K-0009', 4, 'Ada')];

/** What happens to a case. */
type CaseEvent = (one: Case) => Case;

const seen =
  (result: SeenUser['result'], isSettled = true, by: SeenUser['by'] = 'lookup'): CaseEvent =>
  (one) => ({ ...one, seen: { by, isSettled, result } });
const nothing = seen({ shows: 'nothing' });
/** It was sent before what it does not show counts as not processed. */
const nothingYet = seen({ shows: 'nothing' }, false);
const oneYet = seen({ shows: 'licenses', licenses: [one] }, false);
const shown = (first: License, ...more: readonly License[]) => seen({ shows: 'licenses', licenses: [first, ...more] });
const hinted = (...[first, ...more]: readonly License[]) =>
  seen(first ? { shows: 'licenses', licenses: [first, ...more] } : { shows: 'nothing' }, false, 'hint');
const similar = seen({ shows: 'near', licenses: [near] });
const failure = new Failure('incomplete', 'not whole');
const unsettled = new Failure('unknown', 'nobody knows');
const cut = seen({ shows: 'incomplete', failure });
const noAnswer = seen({ shows: 'no answer', failure });

const locked =
  (recorded: Partial<KnownWrites> = {}): CaseEvent =>
  (one) =>
    lockedCase(one, { pending: [], ...recorded });
const run = { run: '7K2F', command: 'license apply' };
const pending = (unanswered = 0, kind: 'creation' | 'change' = 'creation', isAnswered = false) => {
  const write = { kind, settle: 5000, unanswered } as const;
  const entry: PendingWrite = { ...run, id: 'x-1', asked: write, ended: 900, n: 1, isAnswered };
  return { pending: [entry] } as const;
};
const open = { open: { ...run, id: 'x-1', status: 201, time: 5, answered: 5, key_end: '0001' } };
const answer: AnsweredCreation = { state: 'answered', status: 201, license: one, license_is: 'as asked' };
const lost: Creation = { state: 'unanswered', failure: new Failure('unknown', 'lost') };
const posted =
  (creation: Creation, before: Case['before'] = new Set()): CaseEvent =>
  (one) =>
    postedCase(one, { id: 'x-2', at: 1000, creation }, before);
const stamp = { account: 'ada', computer: 'vm', origin: 'sandbox', command: 'license apply' } as const;
const created = { ...stamp, event: 'created', remote_user: 'ada' } as const;
const recalled: CaseEvent = (one) => ({
  ...one,
  known: { time: '2026-03-01T12:00:00.000Z', run: '7K2F', license_code_end: '0001', ...created },
});
const viewed =
  (key: Case['key']): CaseEvent =>
  (one) => ({ ...one, key });
const storedAs = viewed({ is: 'stored otherwise', license: of('K-0001', 4, 'Ada'), name: 'Ada' });

const rules: Rules = { settle: 5000, retries: 1, wants: 'one license', similar: 'refuse', sendAgain: new Set() };
const another: Partial<Rules> = { wants: 'another license' };
const asks: Partial<Rules> = { wants: 'another license', asks: true };
const again: Partial<Rules> = { sendAgain: new Set(['ada']) };
const agreed: CaseEvent = (one) => ({ ...one, agreedOn: countIn(one.seen?.result) });

const after = (events: readonly CaseEvent[]): Case => events.reduce((known, event) => event(known), caseOf(asked));

function step(events: readonly CaseEvent[], changes: Partial<Rules> = {}): string {
  return inWords(nextStep(after(events), { ...rules, ...changes }));
}

/** In words: `look up now`, `end unknown: open`. */
function inWords(next: Step): string {
  if (next.do === 'look up') return `look up ${next.when}`;
  if (next.do === 'resize') return `resize ${next.license.key ?? ''}`;
  if (next.do !== 'end') return next.do;
  return `end ${next.outcome}${'why' in next ? `: ${next.why.is}` : ` ${next.license.key ?? ''}`}`;
}

interface TableRow {
  readonly name: string;
  readonly events: readonly CaseEvent[];
  readonly expected: string;
  readonly given: Partial<Rules> | undefined;
}

type Rows = readonly (readonly [name: string, events: readonly CaseEvent[], step: string, given?: Partial<Rules>])[];

const tables: readonly (readonly [heading: string, rows: Rows])[] = [
  [
    'What a write needs',
    [
      ['nothing', [], 'lock'],
      ['locked', [locked()], 'look up now'],
      ['locked, and not listed', [locked(), nothing], 'create'],
      ['listed', [locked(), shown(one)], 'end unchanged K-0001'],
      ['listed with another size', [locked(), shown(small)], 'resize K-0001'],
      ['several are listed, one of the asked size', [locked(), shown(small, other)], 'end unchanged K-0002'],
      ['the list of before the lock shows it', [hinted(one)], 'end unchanged K-0001'],
      ['the list of before the lock shows another size', [hinted(small)], 'lock'],
      ['the same, and locked', [hinted(small), locked()], 'resize K-0001'],
      ['the list of before the lock does not show it', [hinted()], 'lock'],
      ['the same, and locked afterwards', [hinted(), locked()], 'look up now'],
      ['an earlier write is pending', [locked(pending())], 'look up when due'],
      ['the same, and an early lookup shows nothing', [locked(pending()), nothingYet], 'look up when due'],
      ['the same, and a lookup that is due shows nothing', [locked(pending()), nothing], 'create'],
      ['an earlier write is pending, and one is listed', [locked(pending()), shown(one)], 'end unchanged K-0001'],
      ['the same of a change, and too early a lookup', [locked(pending(0, 'change')), oneYet], 'look up when due'],
      ['the same, answered and shown', [locked(pending(0, 'change', true)), oneYet], 'end unchanged K-0001'],
      ['the same, and a lookup that is due', [locked(pending(0, 'change')), shown(one)], 'end unchanged K-0001'],
      [
        'an earlier write is pending, and another size is listed too early',
        [locked(pending()), seen({ shows: 'licenses', licenses: [small] }, false)],
        'look up when due',
      ],
      ['the lookup is incomplete', [locked(), cut], 'end failed: incomplete'],
      ['no lookup has a response', [locked(), noAnswer], 'end failed: unread'],
      ['the plan says something else', [shown(small), locked()], 'end failed: differs', { differs: () => 'other' }],
    ],
  ],
  [
    'A request without a response',
    [
      ['no response', [locked(), nothing, posted(lost)], 'look up when due'],
      ['no response, and too early a lookup', [locked(), nothing, posted(lost), nothingYet], 'look up when due'],
      ['no response, and one license more', [locked(), nothing, posted(lost), shown(one)], 'end created K-0001'],
      ['the same, of another size', [locked(), nothing, posted(lost), shown(small)], 'resize K-0001'],
      ['no response, and two more', [locked(), nothing, posted(lost), shown(one, other)], 'end unknown: others'],
      ['no response, and a similar name more', [locked(), nothing, posted(lost), similar], 'end unknown: similar'],
      ['not processed', [locked(), nothing, posted(lost), nothing], 'create'],
      [
        'not processed, and no repeat is left',
        [locked(), nothing, posted(lost), nothing, posted(lost), nothing],
        'end unknown: used up',
      ],
      [
        'not processed, where earlier runs used up the repeats',
        [locked(pending()), nothing, posted(lost), nothing],
        'end unknown: used up',
      ],
      ['earlier runs used up the repeats, and this one has sent nothing', [locked(pending(9)), nothing], 'create'],
      ['no response, and an incomplete lookup', [locked(), nothing, posted(lost), cut], 'end unknown: incomplete'],
      ['no response, also to lookups', [locked(), nothing, posted(lost), noAnswer], 'end unknown: unread'],
    ],
  ],
  [
    'Answered is not confirmed',
    [
      ['answered', [locked(), nothing, posted(answer)], 'look up with others'],
      ['answered, and not shown at once', [locked(), nothing, posted(answer), nothingYet], 'look up when due'],
      ['answered, and shown', [locked(), nothing, posted(answer), shown(one)], 'end created K-0001'],
      [
        'answered, and shown among several',
        [locked(), nothing, posted(answer), shown(other, one)],
        'end created K-0001',
      ],
      [
        'answered, and one new license has another key',
        [locked(), nothing, posted(answer), shown(other)],
        'end created K-0002',
      ],
      [
        'answered, and other keys are shown',
        [locked(), nothing, posted(answer), shown(other, of('K-0003'))],
        'end unknown: others',
      ],
      ['answered, and shown with another size', [locked(), nothing, posted(answer), shown(small)], 'resize K-0001'],
      [
        'answered, and one of another size has another key',
        [locked(), nothing, posted(answer), shown(of('K-0002', 2))],
        'end unknown: others',
      ],
      [
        'another license was answered, and is shown',
        [locked(), nothing, posted({ ...answer, license: small, license_is: 'another' }), shown(small)],
        'resize K-0001',
      ],
      ['answered, and not shown after `--settle`', [locked(), nothing, posted(answer), nothing], 'view key'],
      [
        'the same, and its key is not there',
        [locked(), nothing, posted(answer), nothing, viewed({ is: 'not there', failure })],
        'end unknown: not shown',
      ],
      ['answered, and stored otherwise', [locked(), nothing, posted(answer), nothing, storedAs], 'end created K-0001'],
      [
        'answered, and a similar name has its key',
        [locked(), nothing, posted(answer), seen({ shows: 'near', licenses: [of('K-0001', 4, 'Ada')] }, false)],
        'end created K-0001',
      ],
      ['answered, and a similar name is shown', [locked(), nothing, posted(answer), similar], 'view key'],
      [
        'the same, and its key is that of another user',
        [locked(), nothing, posted(answer), similar, viewed({ is: 'another', license: near })],
        'end unknown: similar',
      ],
      ['answered, and no lookup has a response', [locked(), nothing, posted(answer), noAnswer], 'end created K-0001'],
      [
        'the same, without a key',
        [locked(), nothing, posted({ ...answer, license: undefined, license_is: 'without a key' }), noAnswer],
        'end unknown: unread',
      ],
      ['an earlier run was answered, and nothing is shown', [locked(open), nothing], 'end unknown: open'],
      ['the same a moment ago', [locked(open), nothingYet], 'look up when due'],
      ['the same, beside a similar name', [locked(open), similar], 'end unknown: open'],
      [
        'an earlier run was answered, and a similar name has its key',
        [locked(open), seen({ shows: 'near', licenses: [of('K-0001', 4, 'Ada')] })],
        'end unchanged K-0001',
      ],
      ['an earlier run was answered, with `--send-again`', [locked(open), nothing], 'create', again],
      ['the same, beside a similar name, with `--send-again`', [locked(open), similar], 'create', again],
      [
        'the same, once a second POST had no response',
        [locked(open), nothing, posted(lost), nothing],
        'end unknown: used up',
        again,
      ],
      ['an earlier run was answered, and one is listed', [locked(open), shown(one)], 'end unchanged K-0001'],
    ],
  ],
  [
    'Names that servers change',
    [
      ['a similar name is shown, and no exact one', [locked(), similar], 'end failed: similar'],
      ['the same, with `--allow-similar`', [locked(), similar], 'create', { similar: 'allow' }],
      ['the history has the key of the similar name', [locked(), similar, recalled], 'end failed: similar'],
      [
        'the same, and the key is that of the user',
        [locked(), seen({ shows: 'near', licenses: [of('K-0001', 4, 'Ada')] }), recalled],
        'end unchanged K-0001',
      ],
      [
        'not processed, and only a similar name of before is shown, with `--allow-similar`',
        [locked(), similar, posted(lost, new Set(['K-0009\nAda\n7'])), similar],
        'create',
        { similar: 'allow' },
      ],
    ],
  ],
  [
    'license create',
    [
      ['anything, before it is said', [locked(), shown(one)], 'ask', another],
      ['the same, once it is said', [locked(), shown(one), agreed], 'create', another],
      ['nothing, where a person is there', [], 'look up now', asks],
      ['a person agreed', [shown(one), agreed], 'lock', asks],
      ['a person agreed, and locked', [shown(one), agreed, locked()], 'look up now', asks],
      [
        'a person agreed, and the user has got another license since',
        [shown(one), agreed, locked(), shown(one, other)],
        'end failed: differs',
        asks,
      ],
      ['no lookup has a response, and it is said', [locked(), noAnswer, agreed], 'create', another],
      [
        'no response, and one license is new',
        [locked(), shown(one), agreed, posted(lost, new Set(['K-0001\nada\n7'])), shown(one, other)],
        'end created K-0002',
        another,
      ],
      [
        'no response, and one is new that an earlier run was answered',
        [locked(open), nothing, agreed, posted(lost), shown(one)],
        'create',
        another,
      ],
      [
        'no response, and one of another size is new',
        [locked(), nothing, agreed, posted(lost), shown(small)],
        'end unknown: others',
        another,
      ],
      [
        'no response, and no lookup before',
        [locked(), noAnswer, agreed, (one) => postedCase(one, { id: 'x', at: 1, creation: lost }, undefined)],
        'end unknown: nothing before',
        another,
      ],
    ],
  ],
  [
    'What this computer created',
    [
      ['no lookup shows a license that the history has', [locked(), nothing, recalled], 'end failed: created before'],
      ['the same a moment after it was created', [locked(), recalled, nothingYet], 'look up when due'],
      ['the same, with `--send-again`', [locked(), nothing, recalled], 'create', again],
      ['the same, and a lookup shows it after all', [locked(), recalled, shown(one)], 'end unchanged K-0001'],
    ],
  ],
];

describe.each(tables)('%s', (_heading, rows) => {
  const table = rows.map(([name, events, expected, given]): TableRow => ({ name, events, expected, given }));
  test.each(table)('$name', ({ events, expected, given }) => {
    expect(step(events, given)).toBe(expected);
  });
});

test.each<[name: string, CaseEvent[], retryable: false | undefined]>([
  ['used up', [locked(), nothing, posted(lost), nothing, posted(lost), nothing], undefined],
  ['others', [locked(), nothing, posted(answer), shown(other, of('K-0003'))], false],
  ['unread', [locked(), nothing, posted({ ...answer, license_is: 'without a key' }), noAnswer], undefined],
])('the failure of an end that is %s is final where the server answered, and lists it', (why, events, retryable) => {
  const end = nextStep(after(events), rules);
  expect(inWords(end)).toBe(`end unknown: ${why}`);
  if ('why' in end) expect(failureOf(after(events), end).details.retryable).toBe(retryable);
});

const refusedResize = [locked(), nothing, posted(answer), shown(small)];

/** Rows of a request that failed, of which `listed` was to be resized. */
const refusals: readonly [
  heading: string,
  name: string,
  CaseEvent[],
  Failure,
  License | undefined,
  expected: string,
][] = [
  ['A request without a response', 'refused', [locked(), nothing], failure, undefined, 'end failed: refused'],
  [
    'A request without a response',
    'no response, and the repeat is refused',
    [locked(), nothing, posted(lost), nothing],
    failure,
    undefined,
    'end unknown: refused',
  ],
  [
    'A request without a response',
    'a change without a response that nobody can settle',
    [locked(), shown(small)],
    unsettled,
    small,
    'end unknown: unread',
  ],
  [
    'Answered is not confirmed',
    'the same, and the resize is refused',
    refusedResize,
    failure,
    small,
    'end failed: refused',
  ],
];

test.each(refusals)('%s: %s', (_heading, _name, events, cause, listed, expected) => {
  expect(inWords(whereRefused(after(events), cause, listed))).toBe(expected);
});

/** A step without its keys, as docs/exactly-once.md writes it. */
const inDocs = (expected: string): string => expected.replace(/ K-\d+/g, '').replace(/^end /, '');

test('docs/exactly-once.md has each row, below its heading', () => {
  const page = readFileSync('docs/exactly-once.md', 'utf8');
  const sections = new Map(page.split(/^##+ /m).map((text) => [text.split('\n', 1)[0] ?? '', text]));
  const rowsOf = tables.flatMap(([heading, rows]) =>
    rows.map(([name, , expected]) => [heading, name, expected] as const),
  );
  const all = [...rowsOf, ...refusals.map(([heading, name, , , , expected]) => [heading, name, expected] as const)];
  const lines = all.map(([heading, name, expected]) => [heading, `| ${name} | ${inDocs(expected)} |`] as const);
  expect(lines.filter(([heading, line]) => !sections.get(heading)?.includes(line))).toEqual([]);
});

test.each<readonly [name: string, events: readonly CaseEvent[], outcome: string]>([
  ['an answer that no list has been read for is believed', [locked(), nothing, posted(answer)], 'created'],
  ['one that a lookup did not show is unknown', [locked(), nothing, posted(answer), nothingYet], 'unknown'],
  ['an unanswered request is unknown', [locked(), nothing, posted(lost)], 'unknown'],
  ['so is one that an early lookup does not show', [locked(), nothing, posted(lost), nothingYet], 'unknown'],
])('a run that is stopped: %s', (_name, events, outcome) => {
  expect(whereStopped(after(events), undefined).outcome).toBe(outcome);
});

test.each([
  [0, 'resize K-0001'],
  [1, 'end unknown: used up'],
])('with --retries 1 a resize of which %i requests had no answer before the last one', (before, next) => {
  expect(step([locked(pending(before)), shown(small)])).toBe(next);
});
