import { readFileSync } from 'node:fs';
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
  type SeenUser,
} from '../../../src/jobs/license/case.ts';
import { idle, type Rules } from '../../../src/jobs/license/step.ts';
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
const misread = (since?: number) => seen({ shows: 'nothing', misread: '+' }, since);
const trusted = { rules: { uncounted: 'trust' } } as const;
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
const lost: Creation = { state: 'unanswered', failure: new Failure('unknown', 'lost') };
/** A POST of this run that ended at 1000, after a lookup that showed none of these. */
const posted = (creation: Creation | undefined, before: Case['before'] = new Set()): CaseEvent => ({
  event: 'posted',
  at: 1000,
  creation,
  before,
});
const open = { status: 201, time: 5, key_end: '0001' };
const recalled: CaseEvent = {
  event: 'recalled',
  known: { time: '2026-03-01T12:00:00.000Z', run: '7K2F', license_code_end: '0001', isReset: false },
};

const rules: Rules = {
  ...{ settle: 5000, retries: 1, wants: 'one license', similar: 'refuse', uncounted: 'refuse' },
  recreate: 'refuse',
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

const tables: readonly (readonly [heading: string, rows: Rows])[] = [
  [
    'What a POST needs',
    [
      ['nothing', [], 'look up now'],
      ['not listed, not claimed', [nothing()], 'claim'],
      ['not listed, claimed by another run', [nothing(), { event: 'held' }], 'wait for others'],
      ['listed, whoever has the claim', [shown(one)], 'end unchanged K-0001'],
      ['listed with another size', [shown(small)], 'resize K-0001'],
      ['several are listed, one of the asked size', [shown(small, other)], 'end unchanged K-0002'],
      ['claimed, then not listed', [claimed(), nothing()], 'create'],
      ['not listed, then claimed, and the claim knows of no POST', [nothing(), claimed()], 'create'],
      ['claimed, and a POST of a moment ago is known', [claimed({ posted: 900 })], 'look up now since 5900'],
      [
        'the same, and a lookup at once shows nothing',
        [claimed({ posted: 900 }), nothing()],
        'look up at 5900 since 5900',
      ],
      [
        'the same, and a lookup `--settle` after that POST shows nothing',
        [claimed({ posted: 900 }), nothing(5900)],
        'create',
      ],
      [
        'not listed, then claimed, and the claim knows of a POST',
        [nothing(), claimed({ posted: 900 })],
        'look up at 5900 since 5900',
      ],
      ['unanswered, and the list is not whole', [claimed(), cut], 'end failed: incomplete'],
      ['no lookup is answered', [claimed(), noAnswer], 'end failed: unread'],
      [
        'a plan that was read says something else',
        [shown(small)],
        'end failed: differs',
        { rules: { differs: () => 'another size' } },
      ],
    ],
  ],
  [
    'A list is a hint',
    [
      ['a list does not show the user', [unlisted()], 'claim'],
      ['the same, and claimed', [unlisted(), claimed()], 'look up now'],
      ['the same, and a lookup by the filter shows nothing', [unlisted(), claimed(), nothing()], 'create'],
      [
        'a list that settles a POST does not show the user',
        [claimed({ posted: 900 }), unlisted(5900)],
        'look up now since 5900',
      ],
      [
        'a lookup first shows that the filter is ignored',
        [claimed(), seen({ shows: 'nothing', unfiltered }, undefined, 'moving list')],
        'look up with others',
      ],
      [
        'the same again, after a list was read twice',
        [
          claimed(),
          ...Array.from({ length: 2 }, () => seen({ shows: 'nothing', unfiltered }, undefined, 'moving list')),
        ],
        'end failed: filter ignored',
      ],
      [
        'the filter is ignored, and the list may be cut',
        [claimed(), seen({ shows: 'nothing', unfiltered })],
        'end failed: may be cut',
      ],
      [
        'the same, with `--trust-list`',
        [claimed(), seen({ shows: 'nothing', unfiltered })],
        'create',
        { rules: { uncounted: 'trust' } },
      ],
    ],
  ],
  [
    'States of a request',
    [
      ['refused', [claimed(), nothing(), { event: 'refused', failure }], 'end failed: refused'],
      [
        'unanswered, and the repeat is refused',
        [claimed(), posted(lost), nothing(6000), { event: 'refused', failure }],
        'end unknown: refused',
      ],
      ['unanswered', [claimed(), posted(lost)], 'look up at 6000 since 6000'],
      ['cut by an interruption', [claimed(), posted(undefined)], 'look up at 6000 since 6000'],
      [
        'unanswered, and an answer older than `--settle` after it shows nothing',
        [claimed(), posted(lost), nothing(5999)],
        'look up at 6000 since 6000',
      ],
      [
        'unanswered, and one license is there that was not',
        [claimed(), posted(lost), shown(one)],
        'end created K-0001',
      ],
      ['the same, of another size', [claimed(), posted(lost), shown(small)], 'resize K-0001'],
      [
        'the same, once it is resized',
        [claimed(), posted(lost), shown(small), { event: 'resized', license: one, listed: small }],
        'end resized K-0001',
      ],
      [
        'unanswered, and two licenses are there that were not',
        [claimed(), posted(lost), shown(one, other)],
        'end unknown: others',
      ],
      [
        'unanswered, and a similar name is there that was not',
        [claimed(), posted(lost), similar()],
        'end unknown: similar',
      ],
      ['unanswered, and nothing is shown', [claimed(), posted(lost), nothing(6000)], 'create'],
      [
        'the same, and no repeat is left',
        [claimed(), posted(lost), nothing(6000), posted(lost), nothing(6000)],
        'end unknown: used up',
      ],
      [
        'the same, where earlier runs used up the repeats',
        [claimed({ unanswered: 1, posted: 1 }), nothing(5001), posted(lost), nothing(6000)],
        'end unknown: used up',
      ],
      [
        'earlier runs used up the repeats, and this one has sent nothing',
        [claimed({ unanswered: 9, posted: 1 }), nothing(5001)],
        'create',
      ],
      [
        'unanswered, and the list is not whole',
        [claimed(), posted(lost), seen({ shows: 'incomplete', failure }, 6000)],
        'end unknown: incomplete',
      ],
      ['unanswered, and no lookup is answered', [claimed(), posted(lost), noAnswer], 'end unknown: unread'],
      [
        'an interrupted run of the job asked, and one is listed',
        [claimed({ posted: 1, job: 'asked' }), shown(one)],
        'end created K-0001',
      ],
      ['an interrupted run of the job created it', [claimed({ job: 'created' }), shown(one)], 'end created K-0001'],
      [
        'an interrupted run of the job asked, and the list is not whole',
        [claimed({ posted: 1, job: 'asked' }), cut],
        'end unknown: incomplete',
      ],
    ],
  ],
  [
    'Answered is not confirmed',
    [
      ['answered', [claimed(), posted(answer)], 'look up with others since 1000'],
      [
        'answered, and a lookup at once shows nothing',
        [claimed(), posted(answer), nothing(1000)],
        'look up at 6000 since 6000',
      ],
      [
        'answered, and a list of all does not show it',
        [claimed(), posted(answer), unlisted(1000)],
        'look up now since 1000',
      ],
      ['answered, and shown', [claimed(), posted(answer), shown(one)], 'end created K-0001'],
      ['answered, and shown among several', [claimed(), posted(answer), shown(other, one)], 'end created K-0001'],
      [
        'answered, and one new license of the asked size has another key',
        [claimed(), posted(answer), shown(other)],
        'end created K-0002',
      ],
      [
        'answered, and other keys are shown otherwise',
        [claimed(), posted(answer), shown(other, of('K-0003'))],
        'end unknown: others',
      ],
      ['answered, and shown with another size', [claimed(), posted(answer), shown(small)], 'resize K-0001'],
      [
        'the same, and the resize is refused',
        [claimed(), posted(answer), shown(small), { event: 'refused', failure, listed: small }],
        'end failed: refused',
      ],
      [
        'answered, and one of another size has another key',
        [claimed(), posted(answer), shown(of('K-0002', 2))],
        'end unknown: others',
      ],
      [
        'another license was answered, and is shown',
        [claimed(), posted({ ...answer, license: small, license_is: 'another' }), shown(small)],
        'resize K-0001',
      ],
      [
        'answered, and not shown after `--settle` either',
        [claimed(), posted(answer), nothing(6000)],
        'end unknown: not shown',
      ],
      ['answered, and a similar name is shown', [claimed(), posted(answer), similar(6000)], 'end unknown: similar'],
      ['answered, and no lookup is answered', [claimed(), posted(answer), noAnswer], 'end created K-0001'],
      [
        'the same, without a key',
        [claimed(), posted({ ...answer, license: undefined, license_is: 'without a key' }), noAnswer],
        'end unknown: unread',
      ],
      [
        'an earlier run was answered, and nothing is shown',
        [claimed({ answer: open }), nothing()],
        'end unknown: open',
      ],
      ['the same, beside a similar name', [claimed({ answer: open }), similar()], 'end unknown: open'],
      [
        'an earlier run was answered, with `--send-again`',
        [claimed({ answer: open }), nothing()],
        'create',
        { rules: again },
      ],
      [
        'the same, beside a similar name, with `--send-again`',
        [claimed({ answer: open }), similar()],
        'create',
        { rules: again },
      ],
      [
        'the same, once a second POST had no answer',
        [claimed({ answer: open }), nothing(), posted(lost), nothing(6000)],
        'end unknown: used up',
        { rules: again },
      ],
      [
        'an earlier run was answered, and an exact license is shown',
        [claimed({ answer: open }), shown(one)],
        'end unchanged K-0001',
      ],
    ],
  ],
  [
    'Names that servers change',
    [
      ['a similar name is shown, and no exact one', [claimed(), similar()], 'end failed: similar'],
      ['the same, with `--allow-similar`', [claimed(), similar()], 'create', { rules: { similar: 'allow' } }],
      [
        'a list shows a similar name, and no exact one',
        [seen({ shows: 'near', licenses: [near] }, undefined, 'list'), claimed()],
        'look up now',
      ],
      [
        'unanswered, and only a similar name of before is shown, with `--allow-similar`',
        [claimed(), posted(lost, new Set(['K-0009\nAda\n7'])), similar(6000)],
        'create',
        { rules: { similar: 'allow' } },
      ],
      ['the filter may misread the name', [misread()], 'end failed: misread'],
      ['claimed, and the filter may misread the name, with `--trust-list`', [claimed(), misread()], 'create', trusted],
      [
        'unanswered, and the filter may misread the name',
        [claimed(), posted(lost), misread(6000)],
        'end unknown: misread',
      ],
      [
        'answered, and the filter may misread the name',
        [claimed(), posted(answer), misread(6000)],
        'end unknown: not shown',
      ],
    ],
  ],
  [
    'license create',
    [
      ['anything, before a person knows of it', [claimed(), shown(one)], 'ask', { rules: another }],
      ['the same, once the person agreed', [claimed(), shown(one), { event: 'agreed' }], 'create', { rules: another }],
      ['no lookup is answered', [claimed(), noAnswer, { event: 'agreed' }], 'create', { rules: another }],
      [
        'unanswered, and one license is new',
        [claimed(), posted(lost, new Set(['K-0001\nada\n7'])), shown(one, other)],
        'end created K-0002',
        { rules: another },
      ],
      [
        'unanswered, and one of another size is new',
        [claimed(), posted(lost), shown(small)],
        'end unknown: others',
        { rules: another },
      ],
      [
        'unanswered, and no lookup came before',
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
        'one POST is pending',
        [claimed(), posted(lost)],
        'look up at 6000 since 6000',
        { queue: { ...idle, pending: 1, until: 6000 } },
      ],
      [
        'two are pending',
        [claimed(), posted(lost)],
        'look up at 12000 since 12000',
        { queue: { ...idle, pending: 2, until: 12_000 } },
      ],
      [
        'four are pending, and a lookup after twice `--settle` shows nothing',
        [claimed(), posted(lost), nothing(12_000)],
        'look up at 22000 since 22000',
        { queue: { ...idle, pending: 4, until: 22_000 } },
      ],
      [
        'four are pending, and this one is shown',
        [claimed(), posted(lost), shown(one)],
        'end created K-0001',
        { queue: { ...idle, pending: 4, until: 22_000 } },
      ],
      [
        'four are pending, and this one was answered and is not shown',
        [claimed(), posted(answer), nothing(6000)],
        'end unknown: not shown',
        { queue: { ...idle, pending: 4, until: 22_000 } },
      ],
    ],
  ],
  [
    'What this computer created',
    [
      [
        'no lookup shows a license that the history has',
        [claimed(), nothing(), recalled],
        'end failed: created before',
      ],
      ['the same, with `--recreate`', [claimed(), nothing(), recalled], 'create', { rules: { recreate: 'allow' } }],
      ['the same, with `--send-again`', [claimed(), nothing(), recalled], 'create', { rules: again }],
      [
        'the same, for another license, before a person agreed',
        [claimed(), nothing(), recalled],
        'ask',
        { rules: another },
      ],
      ['the same, and a lookup shows it after all', [claimed(), recalled, shown(one)], 'end unchanged K-0001'],
    ],
  ],
];

describe.each(tables)('%s', (_heading, rows) => {
  const table = rows.map(([name, events, expected, given]): TableRow => ({ name, events, expected, given }));
  test.each(table)('$name', ({ events, expected, given }) => {
    expect(step(events, given)).toBe(expected);
  });
});

/** A step without its moments and keys, as docs/exactly-once.md writes it. */
const inDocs = (expected: string): string =>
  expected
    .replace(/ K-\d+| since \d+/g, '')
    .replace(/ at \d+/, ' later')
    .replace(/^end /, '');

test('docs/exactly-once.md has each row, below its heading', () => {
  const page = readFileSync('docs/exactly-once.md', 'utf8');
  const sections = new Map(page.split(/^##+ /m).map((text) => [text.split('\n', 1)[0] ?? '', text]));
  const lines = tables.flatMap(([heading, rows]) =>
    rows.map(([name, , expected]) => [heading, `| ${name} | ${inDocs(expected)} |`] as const),
  );
  expect(lines.filter(([heading, line]) => !sections.get(heading)?.includes(line))).toEqual([]);
});

test.each<readonly [name: string, events: readonly CaseEvent[], outcome: string | undefined]>([
  ['nothing was asked for', [claimed(), nothing()], undefined],
  ['an answer that no list has been read for is believed', [claimed(), posted(answer)], 'created'],
  ['one that a lookup did not show is unknown', [claimed(), posted(answer), nothing(1000)], 'unknown'],
  ['an unanswered request is unknown', [claimed(), posted(lost)], 'unknown'],
  ['so is one of an earlier run of the job', [claimed({ job: 'asked' })], 'unknown'],
  ['so is one that an early lookup does not show', [claimed(), posted(lost), nothing(1000)], 'unknown'],
])('a run that is stopped: %s', (_name, events, outcome) => {
  expect(whereStopped(events.reduce(after, caseOf(asked, {})), undefined)?.outcome).toBe(outcome);
});
