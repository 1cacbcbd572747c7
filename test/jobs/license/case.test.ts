import { describe, expect, test } from 'vitest';
import type { AnsweredCreation, Creation } from '../../../src/api/licensing/license-writes.ts';
import type { License } from '../../../src/api/licensing/license.ts';
import { Failure } from '../../../src/core/failure.ts';
import {
  after,
  caseOf,
  nextStep,
  whereStopped,
  type Case,
  type CaseEvent,
  type Rules,
  type SeenUser,
} from '../../../src/jobs/license/case.ts';
import { idle } from '../../../src/jobs/license/step.ts';
import type { Queue } from '../../../src/store/queue.ts';

const asked = { remote_user: 'ada', app_code: 7, size_allowance: 4 };
const of = (key: string, size = 4, remote_user = 'ada'): License => ({
  key,
  fields: { remote_user, app_code: 7, size_allowance: size },
});
const [one, other, small, near] = [of('K-0001'), of('K-0002'), of('K-0001', 2), of('K-0009', 4, 'Ada')];

const seen = (result: SeenUser['result'], since?: number, by: SeenUser['by'] = 'filter'): CaseEvent => ({
  event: 'looked up',
  seen: { by, since, result },
});
const nothing = (since?: number) => seen({ shows: 'nothing' }, since);
const shown = (first: License, ...more: readonly License[]) => seen({ shows: 'licenses', licenses: [first, ...more] });
const similar = (since?: number) => seen({ shows: 'near', licenses: [near] }, since);
const failure = new Failure('incomplete', 'not whole');
const cut = seen({ shows: 'incomplete', failure });
const noAnswer = seen({ shows: 'no answer', failure });
/** A list does not show the user. */
const unlisted = (since?: number) => seen({ shows: 'nothing' }, since, 'list');
const unfiltered = { licenses: new Set(['K-1']), mayBeCut: true };

const claimed = (requests: Case['requests'] = {}): CaseEvent => ({ event: 'claimed', requests });
const answer: AnsweredCreation = {
  state: 'answered',
  http: { method: 'POST', url: '/', status: 201 },
  license: one,
  license_is: 'as asked',
};
const lost: Creation = { state: 'unanswered', heard: 'nothing', failure: new Failure('unknown', 'lost') };
/** A POST of this run that ended at 1000, after a lookup that showed none of these. */
const posted = (creation: Creation | undefined, before: Case['before'] = new Set()): CaseEvent => ({
  event: 'posted',
  at: 1000,
  creation,
  before,
});
const open = { status: 201, time: 5, key_end: '0001' };

const rules: Rules = {
  ...{ settle: 5000, retries: 1, wants: 'one license', similar: 'refuse', uncounted: 'refuse' },
  sendAgain: new Set(),
};
const another: Partial<Rules> = { wants: 'another license' };
const again: Partial<Rules> = { sendAgain: new Set(['ada']) };

interface Row {
  readonly rules?: Partial<Rules>;
  readonly queue?: Queue;
}

/** In words: `look up now`, `look up at 6000 since 6000`, `end unknown: open`. */
function step(events: readonly CaseEvent[], { rules: changes, queue = idle }: Row = {}): string {
  const next = nextStep(events.reduce(after, caseOf(asked, {})), queue, { ...rules, ...changes });
  if (next.do === 'look up') {
    const due = typeof next.due === 'number' ? `at ${next.due}` : next.due;
    return `look up ${due}${next.deciding ? ` since ${next.deciding.since}` : ''}`;
  }
  if (next.do === 'resize') return `resize ${next.license.key ?? ''}`;
  if (next.do !== 'end') return next.do;
  return `end ${next.outcome}${'why' in next ? `: ${next.why.is}` : ` ${next.license.key ?? ''}`}`;
}

interface TableRow {
  readonly name: string;
  readonly events: readonly CaseEvent[];
  readonly expected: string;
  readonly given: Row | undefined;
}

type Rows = readonly (readonly [name: string, events: readonly CaseEvent[], step: string, given?: Row])[];

describe.each<readonly [heading: string, rows: Rows]>([
  [
    'What a POST needs',
    [
      ['nothing is known: it is looked up', [], 'look up now'],
      ['not listed, not claimed: it is claimed', [nothing()], 'claim'],
      ['somebody else has it: it is left to them', [nothing(), { event: 'held' }], 'wait for others'],
      ['listed, whoever has the claim: unchanged', [shown(one)], 'end unchanged K-0001'],
      ['listed of another size: resized', [shown(small)], 'resize K-0001'],
      ['of several the one of the asked size is kept', [shown(small, other)], 'end unchanged K-0002'],
      ['claimed and not listed: created', [claimed(), nothing()], 'create'],
      ['claimed after the lookup, and no POST is known: created', [nothing(), claimed()], 'create'],
      [
        'a POST of a moment ago is known: looked up at once, since it may be listed',
        [claimed({ posted: 900 })],
        'look up now since 5900',
      ],
      ['and once more --settle after that POST', [claimed({ posted: 900 }), nothing()], 'look up at 5900 since 5900'],
      ['that lookup shows nothing: created', [claimed({ posted: 900 }), nothing(5900)], 'create'],
      [
        'a lookup before the claim settles no POST that the claim tells of',
        [nothing(), claimed({ posted: 900 })],
        'look up at 5900 since 5900',
      ],
      ['a list that is not whole: failed', [claimed(), cut], 'end failed: incomplete'],
      ['no lookup is answered: failed', [claimed(), noAnswer], 'end failed: unread'],
      [
        'a plan that says otherwise: failed',
        [shown(small)],
        'end failed: differs',
        { rules: { differs: () => 'another size' } },
      ],
    ],
  ],
  [
    'A list is a hint',
    [
      ['what a list does not show is claimed', [unlisted()], 'claim'],
      ['then looked up by the filter', [unlisted(), claimed()], 'look up now'],
      ['which decides', [unlisted(), claimed(), nothing()], 'create'],
      [
        'a list that decides is followed by a lookup that does',
        [claimed({ posted: 900 }), unlisted(5900)],
        'look up now since 5900',
      ],
      [
        'a list that the POSTs of the run move decides nothing',
        [claimed(), seen({ shows: 'nothing', unfiltered }, undefined, 'moving list')],
        'look up with others',
      ],
      [
        'nor does one after a list',
        [
          claimed(),
          ...Array.from({ length: 2 }, () => seen({ shows: 'nothing', unfiltered }, undefined, 'moving list')),
        ],
        'end failed: filter ignored',
      ],
      [
        'a length at which servers cut lists',
        [claimed(), seen({ shows: 'nothing', unfiltered })],
        'end failed: may be cut',
      ],
      [
        'the same with --trust-list',
        [claimed(), seen({ shows: 'nothing', unfiltered })],
        'create',
        { rules: { uncounted: 'trust' } },
      ],
    ],
  ],
  [
    'States of a request',
    [
      ['refused: nothing was created', [claimed(), nothing(), { event: 'refused', failure }], 'end failed: refused'],
      [
        'a repeat that is refused says nothing of the request before it',
        [claimed(), posted(lost), nothing(6000), { event: 'refused', failure }],
        'end unknown: refused',
      ],
      ['unanswered: looked up --settle after it', [claimed(), posted(lost)], 'look up at 6000 since 6000'],
      ['cut by an interruption: the same', [claimed(), posted(undefined)], 'look up at 6000 since 6000'],
      ['an older answer settles nothing', [claimed(), posted(lost), nothing(5999)], 'look up at 6000 since 6000'],
      ['one license that was not there: the one created', [claimed(), posted(lost), shown(one)], 'end created K-0001'],
      ['one of another size: resized', [claimed(), posted(lost), shown(small)], 'resize K-0001'],
      [
        'then it has the size',
        [claimed(), posted(lost), shown(small), { event: 'resized', license: one, listed: small }],
        'end resized K-0001',
      ],
      ['two that were not there: unknown', [claimed(), posted(lost), shown(one, other)], 'end unknown: others'],
      ['a similar name that was not there: unknown', [claimed(), posted(lost), similar()], 'end unknown: similar'],
      ['nothing: sent again', [claimed(), posted(lost), nothing(6000)], 'create'],
      [
        'no repeat is left',
        [claimed(), posted(lost), nothing(6000), posted(lost), nothing(6000)],
        'end unknown: used up',
      ],
      [
        'POSTs of earlier runs count',
        [claimed({ unanswered: 1, posted: 1 }), nothing(5001), posted(lost), nothing(6000)],
        'end unknown: used up',
      ],
      ['once they are used up, each run sends one', [claimed({ unanswered: 9, posted: 1 }), nothing(5001)], 'create'],
      [
        'the list is not whole',
        [claimed(), posted(lost), seen({ shows: 'incomplete', failure }, 6000)],
        'end unknown: incomplete',
      ],
      ['no lookup is answered', [claimed(), posted(lost), noAnswer], 'end unknown: unread'],
      [
        'what an interrupted run of the job asked for is created',
        [claimed({ posted: 1, job: 'asked' }), shown(one)],
        'end created K-0001',
      ],
      ['what it created is created', [claimed({ job: 'created' }), shown(one)], 'end created K-0001'],
      ['what it asked for is never failed', [claimed({ posted: 1, job: 'asked' }), cut], 'end unknown: incomplete'],
    ],
  ],
  [
    'Answered is not confirmed',
    [
      ['answered: looked up with all others, at once', [claimed(), posted(answer)], 'look up with others since 1000'],
      ['not shown: once more after --settle', [claimed(), posted(answer), nothing(1000)], 'look up at 6000 since 6000'],
      [
        'a list misses it: looked up by the filter',
        [claimed(), posted(answer), unlisted(1000)],
        'look up now since 1000',
      ],
      ['shown: created', [claimed(), posted(answer), shown(one)], 'end created K-0001'],
      ['the answered key among several: created', [claimed(), posted(answer), shown(other, one)], 'end created K-0001'],
      [
        'one alone, new, of the asked size, with another key: the listed one',
        [claimed(), posted(answer), shown(other)],
        'end created K-0002',
      ],
      [
        'anything else with other keys: unknown',
        [claimed(), posted(answer), shown(other, of('K-0003'))],
        'end unknown: others',
      ],
      ['the answered key of another size: resized', [claimed(), posted(answer), shown(small)], 'resize K-0001'],
      [
        'another license was answered: the listed one is resized',
        [claimed(), posted({ ...answer, license: small, license_is: 'another' }), shown(small)],
        'resize K-0001',
      ],
      [
        'not shown after --settle either: nothing is sent',
        [claimed(), posted(answer), nothing(6000)],
        'end unknown: not shown',
      ],
      ['under a similar name: nothing is sent', [claimed(), posted(answer), similar(6000)], 'end unknown: similar'],
      [
        'no lookup is answered: what the server said counts',
        [claimed(), posted(answer), noAnswer],
        'end created K-0001',
      ],
      [
        'without a key it is unknown',
        [claimed(), posted({ ...answer, license: undefined, license_is: 'without a key' }), noAnswer],
        'end unknown: unread',
      ],
      [
        'an open answer of an earlier run: nothing is sent',
        [claimed({ answer: open }), nothing()],
        'end unknown: open',
      ],
      ['nor beside a similar name', [claimed({ answer: open }), similar()], 'end unknown: open'],
      ['--send-again goes on', [claimed({ answer: open }), nothing()], 'create', { rules: again }],
      ['also beside a similar name', [claimed({ answer: open }), similar()], 'create', { rules: again }],
      [
        'and sends once',
        [claimed({ answer: open }), nothing(), posted(lost), nothing(6000)],
        'end unknown: used up',
        { rules: again },
      ],
      ['an exact license closes it', [claimed({ answer: open }), shown(one)], 'end unchanged K-0001'],
    ],
  ],
  [
    'Names that servers change',
    [
      ['a similar name: nothing is created', [claimed(), similar()], 'end failed: similar'],
      ['--allow-similar: they are two users', [claimed(), similar()], 'create', { rules: { similar: 'allow' } }],
      [
        'a similar name of a list is looked up',
        [seen({ shows: 'near', licenses: [near] }, undefined, 'list'), claimed()],
        'look up now',
      ],
      [
        'one that was there before does not keep a POST from being repeated',
        [claimed(), posted(lost, new Set(['K-0009\nAda\n7'])), similar(6000)],
        'create',
        { rules: { similar: 'allow' } },
      ],
    ],
  ],
  [
    'license create',
    [
      ['what is there is told first', [claimed(), shown(one)], 'ask', { rules: another }],
      ['then another one is created', [claimed(), shown(one), { event: 'agreed' }], 'create', { rules: another }],
      ['also where no lookup is answered', [claimed(), noAnswer, { event: 'agreed' }], 'create', { rules: another }],
      [
        'one that is new is the one created',
        [claimed(), posted(lost, new Set(['K-0001\nada\n7'])), shown(one, other)],
        'end created K-0002',
        { rules: another },
      ],
      [
        'one of another size is not resized',
        [claimed(), posted(lost), shown(small)],
        'end unknown: others',
        { rules: another },
      ],
      [
        'without a lookup before nothing tells',
        [claimed(), { event: 'posted', at: 1000, creation: lost, before: undefined }],
        'end unknown: nothing before',
        { rules: another },
      ],
    ],
  ],
  [
    'A server has a queue',
    [
      [
        'of one pending POST: --settle after its end',
        [claimed(), posted(lost)],
        'look up at 6000 since 6000',
        { queue: { ...idle, pending: 1, until: 6000 } },
      ],
      [
        'of two: twice --settle after the last end',
        [claimed(), posted(lost)],
        'look up at 12000 since 12000',
        { queue: { ...idle, pending: 2, until: 12_000 } },
      ],
      [
        'of four, a lookup that settles two settles none',
        [claimed(), posted(lost), nothing(12_000)],
        'look up at 22000 since 22000',
        { queue: { ...idle, pending: 4, until: 22_000 } },
      ],
      [
        'what is shown is decided at once',
        [claimed(), posted(lost), shown(one)],
        'end created K-0001',
        { queue: { ...idle, pending: 4, until: 22_000 } },
      ],
      [
        'what was answered does not wait for the others',
        [claimed(), posted(answer), nothing(6000)],
        'end unknown: not shown',
        { queue: { ...idle, pending: 4, until: 22_000 } },
      ],
    ],
  ],
])('%s', (_heading, rows) => {
  const table = rows.map(([name, events, expected, given]): TableRow => ({ name, events, expected, given }));
  test.each(table)('$name', ({ events, expected, given }) => {
    expect(step(events, given)).toBe(expected);
  });
});

test.each<readonly [name: string, events: readonly CaseEvent[], outcome: string | undefined]>([
  ['nothing was asked for', [claimed(), nothing()], undefined],
  ['an answer that no list has been read for is believed', [claimed(), posted(answer)], 'created'],
  ['one that a lookup did not show is unknown', [claimed(), posted(answer), nothing(1000)], 'unknown'],
  ['an unanswered request is unknown', [claimed(), posted(lost)], 'unknown'],
  ['so is one of an earlier run of the job', [claimed({ job: 'asked' })], 'unknown'],
])('a run that is stopped: %s', (_name, events, outcome) => {
  expect(whereStopped(events.reduce(after, caseOf(asked, {})), undefined)?.outcome).toBe(outcome);
});
