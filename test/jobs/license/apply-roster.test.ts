import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { realClock } from '../../../src/cli/clock.ts';
import type { Creation } from '../../../src/api/licensing/license-writes.ts';
import type { License } from '../../../src/api/licensing/license.ts';
import type { LicensingApi } from '../../../src/api/licensing/licensing.ts';
import { Failure } from '../../../src/core/failure.ts';
import { userKey } from '../../../src/jobs/license/license-user.ts';
import type { RosterClaims } from '../../../src/jobs/license/share-roster.ts';
import { rosterJob } from '../../../src/jobs/license/roster-job.ts';
import { applyRoster, type Applying } from '../../../src/jobs/license/roster-run.ts';
import { decideAll, planRoster, type Plan } from '../../../src/jobs/license/plan.ts';
import type { RowResult } from '../../../src/jobs/license/report.ts';
import type { Rules } from '../../../src/jobs/license/step.ts';
import { openQueue } from '../../../src/store/queue.ts';
import { joinHistories, type OpenAnswer } from '../../../src/store/request-history.ts';
import type { LicenseFields } from '../../../src/schema/license.ts';
import { sleptClock } from '../../helpers/clock.ts';

interface Past {
  /** Answers after which the disk is full. */
  readonly room?: number;
  readonly earlier?: readonly unknown[];
  /** Users that this machine asked for, by the claims. */
  readonly asked?: Readonly<Record<string, number>>;
  /** Answers that are open, by the claims. */
  readonly open?: Readonly<Record<string, OpenAnswer>>;
  readonly sendAgain?: readonly string[];
  /** What the server answers to a POST; undefined: it creates the license. */
  readonly answer?: (fields: LicenseFields, posts: number) => Creation | undefined;
}

const rows = Array.from({ length: 40 }, (_, index) => ({
  remote_user: `user-${index}`,
  app_code: 7,
  size_allowance: 4,
}));

const rules: Rules = {
  settle: 5000,
  retries: 5,
  wants: 'one license',
  similar: 'refuse',
  uncounted: 'refuse',
  recreate: 'refuse',
  sendAgain: new Set(),
};

/** A journal of version 0.1, claims, and a service that remembers, in a time that only sleeping moves. */
function host({ room = Infinity, earlier = [], asked = {}, open = {}, sendAgain = [], answer }: Past = {}) {
  const records: { remote_user: string; event: string; time: number }[] = [];
  const licenses: License[] = [];
  const clock = sleptClock(1_000_000);
  const posts: string[] = [];
  let ahead = 0;
  let full: Failure | undefined;
  const clocks = { now: () => clock.now() + ahead, elapsed: clock.elapsed };
  const sources = { begun: undefined, recorded: () => undefined, changes: [], nameOf: String };
  const job = rosterJob({ path: '/journal', records: earlier }, sources, clocks);
  const unused = (): never => {
    throw new Error('not asked for');
  };
  const of = (remote_user: string) => licenses.filter(({ fields }) => fields['remote_user'] === remote_user);
  const api: LicensingApi = {
    async create(fields, before) {
      await before?.();
      posts.push(fields.remote_user);
      const answered = answer?.(fields, posts.filter((user) => user === fields.remote_user).length);
      if (answered) return answered;
      const license = { key: `K-${licenses.length}`, fields: { ...fields } };
      licenses.push(license);
      return answeredWith(license);
    },
    async *list() {
      yield* licenses;
    },
    ofUser: async ({ remote_user }) => ({ exact: of(remote_user), near: [] }),
    deciding: () => api,
    view: unused,
    replace: unused,
    update: unused,
    firstActivation: unused,
    rows: unused,
    nobody: unused,
  };
  const posted: Record<string, number> = {};
  const answers: Record<string, OpenAnswer> = {};
  const shown: string[] = [];
  const queueing = {
    ...{ by: '', settle: 5000, note: () => undefined, warn: () => undefined },
    ...{ elapsed: clock.elapsed, sleep: clock.sleep },
  };
  const history: RosterClaims['history'] = ({ remote_user }) => ({
    posted: asked[remote_user],
    answer: open[remote_user],
  });
  const applying: Applying = {
    licensing: () => api,
    creations: { of: async () => undefined, others: async () => [], isReset: new Map() },
    job,
    claims: {
      history,
      async ended({ remote_user }, { event, ...end }) {
        if (records.length >= room) full ??= new Failure('unavailable', 'disk full: cannot write the record');
        if (full) return;
        records.push({ remote_user, event, time: end.time });
        posted[remote_user] = end.time;
        if (event === 'answered') answers[remote_user] = end as OpenAnswer;
      },
      confirmed: ({ remote_user }) => void shown.push(remote_user),
      claim: async () => 'claimed',
      othersDone: async () => [],
      listed: () => undefined,
      async posting() {
        if (full) throw full;
      },
      lost: () => full,
      release: async () => undefined,
    },
    concurrency: 4,
    queues: new Map([[7, openQueue([], queueing)]]),
    isAlone: false,
    rules: { ...rules, sendAgain: new Set(sendAgain) },
    answerOf: (row) => joinHistories(job.history(row), history(row)).answer,
    record: async () => undefined,
    ...clocks,
    sleep: clock.sleep,
    signal: new AbortController().signal,
    note: () => undefined,
    conclude: () => undefined,
    warn: () => undefined,
    where: 'here.test, application 7',
    resume: 'chatelaine license apply roster.csv',
    progress: { step: () => undefined, end: () => undefined },
    doubled: () => undefined,
  };
  const setClock = (span: number): void => void (ahead += span);
  return { applying, records, licenses, slept: clock.slept, posts, posted, answers, shown, setClock };
}

async function outcome(applying: Applying, plan?: Plan): Promise<{ rows: RowResult[]; failure: Failure | undefined }> {
  const done: RowResult[] = [];
  try {
    for await (const row of applyRoster(plan ?? (await planRoster(rows, applying)), applying)) done.push(row);
    return { rows: done, failure: undefined };
  } catch (cause) {
    if (cause instanceof Failure) return { rows: done, failure: cause };
    throw cause;
  }
}

/** Between two lookups of a POST without an answer; what else is slept, rows sleep that wait for it. */
const pauses = [200, 400, 800, 1600];

const lost: Creation = { state: 'unanswered', failure: new Failure('unknown', 'reset') };

const small = (remote_user: string): License => ({
  key: 'S-2',
  fields: { remote_user, app_code: 7, size_allowance: 2 },
});

function answeredWith(license: License) {
  return {
    state: 'answered',
    http: { method: 'POST', url: 'https://here.test/v1/license/', status: 201 },
    license,
    license_is: 'as asked',
  } as const;
}

describe('a full disk', () => {
  test.each([0, 1, 2, 7, 20, 30])(
    'after %i answers: what was created is reported, the rest is not asked for',
    async (room) => {
      const { applying, licenses } = host({ room });

      const { rows: printed, failure } = await outcome(applying);

      expect(failure).toMatchObject({ kind: 'incomplete', message: expect.stringContaining('disk full') as string });
      expect(printed.filter(({ status }) => status !== 'created')).toEqual([]);
      expect(printed.map(({ remote_user }) => remote_user).sort()).toEqual(
        licenses.map(({ fields }) => fields['remote_user']).sort(),
      );
      expect(licenses.length).toBeLessThan(room + 6);
    },
  );
});

describe('a list that does not show a row is waited for, and read again, after', () => {
  const step = { remote_user: 'user-3', app_code: 7, event: 'sent', time: 990_000 };
  const ended = (event: string, time: number) => ({ ...step, event, status: 201, time });

  test.each<[string, Past, number[]]>([
    ['nothing', {}, []],
    ['a request whose end is not recorded', { earlier: [step] }, [5000]],
    ['a request that ended without an answer 3 s ago', { earlier: [step, ended('ended', 997_000)] }, [2000]],
    ['one that ended long ago', { earlier: [step, ended('ended', 1000)] }, []],
    ['one that was refused', { earlier: [step, ended('refused', 999_999)] }, []],
    ['one that was not sent', { earlier: [step, ended('unsent', 999_999)] }, []],
    ['one whose time is in the future', { earlier: [step, ended('ended', 9_000_000)] }, [5000]],
    ['a POST of another command 1 s ago', { asked: { 'user-3': 999_000 } }, [4000]],
    ['a POST of another command long ago', { asked: { 'user-3': 1 } }, []],
    ['a POST of another machine that may run for 20 s more', { asked: { 'user-3': 1_020_000 } }, [25_000]],
    [
      'two records that contradict each other: the later counts',
      { earlier: [step, ended('ended', 1)], asked: { 'user-3': 999_000 } },
      [4000],
    ],
    ['a license that this job was shown 1 s ago', { earlier: [step, ended('confirmed', 999_000)] }, [4000]],
    ['one that this job resized 1 s ago', { earlier: [ended('resized', 999_000)] }, [4000]],
    ['one that this job was shown long ago', { earlier: [step, ended('confirmed', 1000)] }, []],
    ['a journal that was cut', { earlier: [{ lost: 1_000_000 }] }, [5000]],
    ['one that was cut 3 s ago', { earlier: [{ lost: 997_000 }] }, [2000]],
  ])('%s', async (_what, past, waits) => {
    const { applying, slept, licenses } = host(past);

    const { rows: printed, failure } = await outcome(applying);

    expect({ failure, slept, made: licenses.length }).toEqual({ failure: undefined, slept: waits, made: 40 });
    expect(printed.map(userKey)).toEqual(rows.map(userKey));
  });

  test('a row that a killed run held is not looked up before the look can decide', async () => {
    const { applying, slept } = host({ asked: { 'user-3': 1_000_000 } });
    const looked: (readonly [user: string, slept: number])[] = [];
    const watched = (): LicensingApi => ({
      ...applying.licensing(7),
      ofUser(asked) {
        looked.push([asked.remote_user, slept.length]);
        return applying.licensing(7).ofUser(asked);
      },
      deciding: watched,
    });

    const { failure } = await outcome({ ...applying, licensing: watched });

    expect(failure).toBeUndefined();
    // The second look confirms its POST.
    expect(looked.filter(([user]) => user === 'user-3')).toEqual([
      ['user-3', 1],
      ['user-3', 1],
    ]);
  });

  test('a license whose POST was answered is never asked for again, until a list has shown it', async () => {
    const first = host({ earlier: [step, ended('answered', 999_000)] });
    const { rows: printed, failure } = await outcome(first.applying);
    expect(first.posts).not.toContain('user-3');
    expect(printed.find(({ remote_user }) => remote_user === 'user-3')?.status).toBe('unknown');
    expect(failure?.kind).toBe('unknown');

    const shown = host({ earlier: [step, ended('answered', 900_000), ended('confirmed', 901_000)] });
    expect((await outcome(shown.applying)).failure).toBeUndefined();
    expect(shown.posts).toContain('user-3');
  });
});

test('a row that another run held is not passed over where the look after that run fails', async () => {
  const { applying, posts } = host();
  const failure = new Failure('unavailable', 'the server is gone');
  let isDone = false;
  const claims: Applying['claims'] = {
    ...applying.claims,
    claim: async ({ remote_user }) => (remote_user === 'user-3' ? 'held' : 'claimed'),
    async othersDone() {
      const held = isDone ? [] : rows.slice(3, 4);
      isDone = true;
      return held;
    },
  };
  const api = applying.licensing(7);
  const failing = (): LicensingApi => ({
    ...api,
    async *list(...asked) {
      if (isDone) throw failure;
      yield* api.list(...asked);
    },
    ofUser: (asked) => (isDone ? Promise.reject(failure) : api.ofUser(asked)),
    deciding: failing,
  });

  const { rows: printed, failure: end } = await outcome({ ...applying, claims, licensing: failing });

  expect(posts).toHaveLength(39);
  expect(printed.map(userKey)).toEqual(rows.filter(({ remote_user }) => remote_user !== 'user-3').map(userKey));
  expect(end).toMatchObject({ kind: 'incomplete', message: expect.stringContaining('the server is gone') as string });
});

test('a server that fails some looks is not gone: each row that it answers for gets its license', async () => {
  const { applying, posts } = host();
  const api = applying.licensing(7);
  const isFailing = ({ remote_user }: { readonly remote_user: string }) => /[37]$/.test(remote_user);
  const failing = (): LicensingApi => ({
    ...api,
    // Rows are looked up ahead: those whose answers take a turn are on their way before the first POST.
    async ofUser(asked) {
      await setImmediate();
      if (isFailing(asked)) throw new Failure('unavailable', 'in trouble');
      return api.ofUser(asked);
    },
    deciding: failing,
  });

  const { rows: printed } = await outcome({ ...applying, licensing: failing });

  const [failed, served] = [rows.filter(isFailing), rows.filter((row) => !isFailing(row))];
  expect(posts).toEqual(served.map(({ remote_user }) => remote_user));
  expect(printed.flatMap((row) => (row.status === 'failed' ? [userKey(row)] : []))).toEqual(failed.map(userKey));
});

describe('a row whose POST is unconfirmed', () => {
  test('counts its repeats against --retries; then it is unknown', async () => {
    const { applying, posts, slept } = host({
      answer: ({ remote_user }) => (remote_user === 'user-5' ? lost : undefined),
    });

    const { rows: printed, failure } = await outcome({ ...applying, rules: { ...rules, retries: 2 } });

    expect(posts.filter((user) => user === 'user-5')).toHaveLength(3);
    // Each is looked for until --settle is over.
    expect(slept.filter((span) => span === 800)).toEqual([800, 800, 800]);
    expect(printed[5]).toMatchObject({
      status: 'unknown',
      error: 'reset; sent 3 times, and the list does not show the license',
    });
    expect(failure).toMatchObject({
      kind: 'unknown',
      message: '39 created, 1 unknown on here.test, application 7; sent, but not confirmed: user-5',
      details: { hint: 'The same command resumes where this run stopped: chatelaine license apply roster.csv' },
    });
  });

  test.each([
    ['one of two repeats is left', 1, 2, '3 times'],
    ['the repeats are used up', 3, 1, '4 times'],
    ['they are used up for long', 8, 1, '9 times'],
  ])('counts those of earlier runs: %s', async (_left, before, sent, times) => {
    const asked = { ...rows[5], event: 'sent', time: 1 };
    const { applying, posts } = host({
      earlier: Array<unknown>(before).fill(asked),
      answer: ({ remote_user }) => (remote_user === 'user-5' ? lost : undefined),
    });

    const { rows: printed } = await outcome({ ...applying, rules: { ...rules, retries: 2 } });

    expect(posts.filter((user) => user === 'user-5')).toHaveLength(sent);
    expect(printed[5]).toMatchObject({
      status: 'unknown',
      error: `reset; sent ${times}, and the list does not show the license`,
    });
  });

  test.each([60_000, -60_000])(
    'is listed --settle later, though the clock of the machine is set by %i ms meanwhile',
    async (span) => {
      const { applying, slept, setClock } = host({
        answer({ remote_user }, posts) {
          if (remote_user === 'user-30') setClock(span);
          return remote_user === 'user-5' && posts === 1 ? lost : undefined;
        },
      });

      const { failure } = await outcome({ ...applying, concurrency: 1 });

      expect({ failure, slept }).toEqual({ failure: undefined, slept: expect.arrayContaining(pauses) as number[] });
    },
  );

  test.each([60_000, -60_000])(
    'in the journal of an earlier run keeps its age, though the clock of the machine is set by %i ms before its turn',
    async (span) => {
      const { applying, slept, setClock } = host({
        earlier: [
          { ...rows[30], event: 'sent', time: 997_000 },
          { remote_user: 'user-30', app_code: 7, event: 'ended', time: 998_000 },
        ],
        answer({ remote_user }) {
          if (remote_user === 'user-5') setClock(span);
          return undefined;
        },
      });

      const { failure } = await outcome({ ...applying, concurrency: 1 });

      expect({ failure, slept }).toEqual({ failure: undefined, slept: [3000] });
    },
  );

  test.each([
    ['as it was asked for', 'as asked', 'X-9'],
    ['without a key', 'without a key', undefined],
    ['of another license', 'another', undefined],
  ] as const)(
    'that is answered %s, and whose license no list shows, is never sent again',
    async (_what, license_is, key) => {
      const license = { key: 'X-9', fields: {} };
      const creation: Creation = { ...answeredWith(license), license_is };
      const { applying, posts, slept, shown, answers, records } = host({
        answer: ({ remote_user }) => (remote_user === 'user-5' ? creation : undefined),
      });

      const { rows: printed, failure } = await outcome(applying);

      expect(posts.filter((user) => user === 'user-5')).toHaveLength(1);
      expect(printed[5]).toMatchObject({ status: 'unknown', license: key === undefined ? null : { key } });
      expect([failure?.kind, slept, shown.length]).toEqual(['unknown', [5000], 39]);
      expect(answers['user-5']).toEqual({ status: 201, time: 1_000_000, key_end: 'X-9' });
      expect(records.filter(({ event }) => event === 'answered')).toHaveLength(40);
    },
  );

  test('at an interruption is recorded with the time of its request, and named', async () => {
    const stop = new AbortController();
    const { applying, records, posted } = host({
      answer({ remote_user }) {
        if (remote_user !== 'user-5') return undefined;
        stop.abort(new Failure('cancelled', 'interrupted'));
        throw new Failure('cancelled', 'interrupted');
      },
    });

    const { rows: printed, failure } = await outcome({ ...applying, signal: stop.signal, concurrency: 1 });

    expect(printed.map(({ status }) => status)).toEqual([...Array<string>(5).fill('created'), 'unknown']);
    expect(records.at(-1)).toMatchObject({ remote_user: 'user-5', event: 'ended', time: 1_000_000 });
    expect(posted['user-5']).toBe(1_000_000);
    expect(failure).toMatchObject({
      kind: 'cancelled',
      message:
        'interrupted; 5 created, 1 unknown, 34 not done on here.test, application 7; ' +
        'sent, but not confirmed: user-5',
    });
  });

  test('at an interruption is counted apart from what was answered', async () => {
    const stop = new AbortController();
    const { applying } = host({
      answer({ remote_user }) {
        if (remote_user === 'user-3') return { ...answeredWith(small('user-3')), license_is: 'another' };
        if (remote_user === 'user-4') return lost;
        if (remote_user === 'user-5') stop.abort(new Failure('cancelled', 'interrupted'));
        return undefined;
      },
    });

    const { rows: printed, failure } = await outcome({ ...applying, signal: stop.signal, concurrency: 1 });

    expect(printed[3]).toMatchObject({ status: 'unknown', license: null });
    expect(failure?.message).toBe(
      'interrupted; 4 created, 2 unknown, 34 not done on here.test, application 7; ' +
        'answered, but not yet confirmed by a list: user-3; sent, but not confirmed: user-4',
    );
    expect(failure?.details.retryable).toBe(true);
  });

  test('is not sent where the interruption comes before its request: the row is not done', async () => {
    const stop = new AbortController();
    const late = new Failure('unavailable', 'stopped at the deadline');
    const { applying, records, posted } = host({
      answer({ remote_user }) {
        if (remote_user !== 'user-5') return undefined;
        stop.abort(late);
        throw late;
      },
    });

    const { rows: printed, failure } = await outcome({ ...applying, signal: stop.signal, concurrency: 1 });

    expect(printed.map(({ status }) => status)).toEqual(Array<string>(5).fill('created'));
    expect(records.map(({ event }) => event)).toEqual(Array<string>(5).fill('answered'));
    expect(posted).not.toHaveProperty('user-5');
    expect(failure).toMatchObject({
      kind: 'incomplete',
      message: 'stopped at the deadline; 5 created, 35 not done on here.test, application 7',
    });
  });
});

test.each([
  null,
  7,
  'text',
  [],
  {},
  { remote_user: 'a', app_code: 7, time: 1 },
  { ...rows[0], event: 'done', time: 1 },
  { ...rows[0], event: 'sent' },
  { ...rows[0], event: 'answered', time: 1 },
])('a record %j is a damaged journal: exit 3', (record) => {
  const sources = { begun: undefined, recorded: () => undefined, changes: [], nameOf: String };
  const open = () => rosterJob({ path: '/j', records: [record] }, sources, realClock);
  expect(open).toThrow('the journal /j is damaged: line 2 is not a step of a roster');
});

describe('a process that ends between two steps of a POST', () => {
  const [row] = rows;
  const asked = { ...row, event: 'sent', time: 999_000 };
  const answered = {
    remote_user: 'user-0',
    app_code: 7,
    event: 'answered',
    status: 201,
    key_end: 'AAA9',
    time: 999_000,
  };
  const license = { key: 'K-AAA9', fields: { ...row } };
  const renamed = { key: 'K-AAA9', fields: { ...row, remote_user: 'USER 0' } };

  test.each<[string, readonly unknown[], License | undefined, { posts: number; status: string; slept: number[] }]>([
    ['before its line is on disk', [], undefined, { posts: 1, status: 'created', slept: [] }],
    ['after its line, and nothing was sent', [asked], undefined, { posts: 1, status: 'created', slept: [5000] }],
    ['after its line, and it was carried out', [asked], license, { posts: 0, status: 'created', slept: [] }],
    ['after its answer is on disk', [asked, answered], license, { posts: 0, status: 'created', slept: [] }],
    [
      'after its answer is on disk, and the license has another name',
      [asked, answered],
      renamed,
      { posts: 0, status: 'unknown', slept: [4000] },
    ],
    [
      'after its answer is on disk, and the license is gone',
      [asked, answered],
      undefined,
      { posts: 0, status: 'unknown', slept: [4000] },
    ],
    [
      // The window that docs/exactly-once.md names: nobody knows that it was answered.
      'before its answer is on disk, and the license has another name',
      [asked],
      renamed,
      { posts: 1, status: 'created', slept: [5000] },
    ],
  ])('%s', async (_what, earlier, kept, expected) => {
    const { applying, licenses, posts, slept } = host({ earlier });
    if (kept) licenses.push(kept);

    const { rows: printed } = await outcome(applying);

    const sent = posts.filter((user) => user === 'user-0').length;
    expect({ posts: sent, status: printed[0]?.status, slept }).toEqual(expected);
  });
});

test('an answer that the claims keep is open for another job, until --send-again', async () => {
  const open = { 'user-3': { status: 202, time: 990_000 } };
  const first = host({ open });
  const { rows: printed } = await outcome(first.applying);
  expect(first.posts).not.toContain('user-3');
  expect(printed[3]).toMatchObject({
    status: 'unknown',
    error:
      "the server answered a request of 1970-01-01T00:16:30Z with 202, without a key; no list shows a license of 'user-3'",
  });
  const again = host({ open, sendAgain: ['user-3'] });
  expect((await outcome(again.applying)).failure).toBeUndefined();
  expect(again.posts.filter((user) => user === 'user-3')).toHaveLength(1);
  expect(again.shown).toContain('user-3');
});

test('where another machine was answered between the list and the claim, nothing is sent', async () => {
  const [asked, open]: [Record<string, number>, Record<string, OpenAnswer>] = [{}, {}];
  const { applying, posts } = host({ asked, open });
  const claim: RosterClaims['claim'] = async ({ remote_user }) => {
    if (remote_user === 'user-3') {
      asked[remote_user] = applying.elapsed();
      open[remote_user] = { status: 202, time: applying.now() };
    }
    return 'claimed';
  };

  const claiming = { ...applying, claims: { ...applying.claims, claim } };
  // The list decides alone: no look at the user follows the claim.
  const plan = await decideAll(await planRoster(rows, claiming), claiming, new Set([7]));
  const { rows: printed } = await outcome(claiming, plan);

  expect(posts).toHaveLength(39);
  expect(posts).not.toContain('user-3');
  expect(printed[3]).toMatchObject({ status: 'unknown', error: expect.stringContaining('with 202') as string });
});

describe('what was answered is not lost where something else fails', () => {
  const license = { key: 'K-ANSWERED', fields: { remote_user: 'user-0', app_code: 7, size_allowance: 4 } };
  const answered = answeredWith(license);
  const refused = new Failure('auth', 'refused (401)');

  /** One row, whose first POST is answered with `creation`; then `look` says what the list of its user holds. */
  async function run(
    {
      look,
      answer = () => answered,
      ...changes
    }: Partial<Applying> & {
      readonly look: (posts: number) => Promise<{ exact: License[]; near: License[] }>;
      readonly answer?: (posts: number) => Creation;
    },
    update?: LicensingApi['update'],
  ) {
    const { applying, posts, records, slept } = host({ answer: (_fields, count) => answer(count) });
    const api: LicensingApi = {
      ...applying.licensing(7),
      ofUser: async () => look(posts.length),
      deciding: () => api,
      ...(update && { update }),
    };
    const warnings: string[] = [];
    const warn = (text: string): void => void warnings.push(text);
    const all = { ...applying, warn, licensing: () => api, ...changes };
    const done: RowResult[] = [];
    let failure: Failure | undefined;
    try {
      const row = { remote_user: 'user-0', app_code: 7, size_allowance: 4 };
      for await (const result of applyRoster(await planRoster([row], all), all)) done.push(result);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      failure = cause;
    }
    return { result: done[0], failure, posts: posts.length, records, warnings, slept };
  }

  const nothing = { exact: [], near: [] };

  test('the list masks keys: the answered one is printed', async () => {
    const masked = { key: '****ERED', fields: { ...license.fields, license_code: '****ERED' } };
    const { result } = await run({ look: async (posts) => (posts > 0 ? { exact: [masked], near: [] } : nothing) });
    expect(result).toMatchObject({ status: 'created', license: { key: 'K-ANSWERED' }, error: null });
  });

  test('the server keeps a smaller size: the license is printed, and the row says why it failed', async () => {
    const small = { key: 'K-ANSWERED', fields: { ...license.fields, size_allowance: 2 } };
    const another: Creation = { ...answered, license: small, license_is: 'another' };
    const { result, failure } = await run(
      { answer: () => another, look: async (posts) => (posts > 0 ? { exact: [small], near: [] } : nothing) },
      () => Promise.reject(new Failure('rejected', 'size_allowance 2 instead of 4')),
    );
    expect(result).toMatchObject({ status: 'failed', license: { key: 'K-ANSWERED' } });
    expect(result?.error).toContain('another license (K-ANSWERED): size_allowance 2 instead of 4');
    expect(failure?.kind).toBe('incomplete');
  });

  test.each([
    ['with 401', refused],
    ['until an interruption', new Failure('cancelled', 'interrupted')],
  ])('the look-up of a waiting row fails %s', async (_how, cause) => {
    const user = { remote_user: 'user-0', app_code: 7, size_allowance: 4 };
    const list = Array.from({ length: 25 }, (_, index) => ({ ...user, remote_user: `user-${index}` }));
    for (const creation of [answered, lost]) {
      const stop = new AbortController();
      const { applying, licenses, posts } = host({
        answer: ({ remote_user }) => (remote_user === 'user-1' ? creation : undefined),
      });
      const api: LicensingApi = {
        ...applying.licensing(7),
        async *list(_filter, _whole, heard) {
          heard?.({ next: '?page=2', total: 0, pages: 0, count: 0 }, 1);
          heard?.({ next: undefined, total: 0, pages: 0, count: 0 }, 2);
          // The first user that a list misses is looked up with it, the others in their turn.
          for (const one of licenses) if (one.fields['remote_user'] !== 'user-0') yield one;
        },
        async ofUser({ remote_user }) {
          if (remote_user !== 'user-1' || posts.length < 25)
            return applying.licensing(7).ofUser({ remote_user, app_code: 7 });
          if (cause !== refused) stop.abort(cause);
          throw cause;
        },
        deciding: () => api,
      };
      const all = { ...applying, licensing: () => api, signal: stop.signal };
      const done: RowResult[] = [];
      let failure: unknown;
      try {
        for await (const result of applyRoster(await planRoster(list, all), all)) done.push(result);
      } catch (thrown) {
        failure = thrown;
      }
      const own = done.find(({ remote_user }) => remote_user === 'user-1');
      if (creation === lost)
        expect(own).toMatchObject({
          status: 'unknown',
          error: `reset; ${cause.message} before it was known whether the license was created`,
        });
      else expect(own).toMatchObject({ status: 'created', license: { key: 'K-ANSWERED' } });
      expect(failure).toMatchObject({ kind: cause === refused ? 'auth' : 'cancelled' });
    }
  });

  test('a repeat that is refused leaves the first request unknown', async () => {
    const answer = (posts: number): Creation => {
      if (posts === 1) return lost;
      throw new Failure('rejected', 'refused (400)');
    };
    const { result, failure } = await run({ answer, look: async () => nothing });
    expect(result).toMatchObject({ status: 'unknown', error: 'reset; sent again: refused (400)' });
    expect(failure?.kind).toBe('unknown');
  });

  test('a look that is not whole is a look: the answer stays open', async () => {
    const look = (posts: number) =>
      posts > 0 ? Promise.reject(new Failure('incomplete', 'not whole')) : Promise.resolve(nothing);
    const { result, failure, slept } = await run({ look });
    expect(result).toMatchObject({ status: 'unknown', license: { key: 'K-ANSWERED' } });
    expect([failure?.kind, slept]).toEqual(['unknown', [5000]]);
  });

  test('only --send-again goes on with an open answer: the failure names it, and is not retryable', async () => {
    const near = { key: 'K-NEAR', fields: { ...license.fields, remote_user: 'USER-0' } };
    const { result, failure } = await run({
      look: async (posts) => (posts > 0 ? { exact: [], near: [near] } : nothing),
    });
    expect(result?.error).not.toContain('nothing was created');
    expect(failure).toMatchObject({ kind: 'unknown', retryable: false });
    expect(failure?.message).toContain('answered, but in no list: user-0');
    expect(failure?.details.hint).toContain('--send-again user-0');
    expect(failure?.details.hint).not.toContain('The same command');
  });

  test('--allow-similar: a near license that was not there before the POST is not taken for another user', async () => {
    const near = (key: string) => ({ key, fields: { ...license.fields, remote_user: 'USER-0' } });
    const look = async (posts: number) => ({
      exact: [],
      near: Array.from({ length: posts + 1 }, (_, index) => near(`K-${index}`)),
    });
    const { result, posts } = await run({ rules: { ...rules, similar: 'allow' }, answer: () => lost, look });
    expect(posts).toBe(1);
    expect(result).toMatchObject({ status: 'unknown', error: expect.stringContaining("'USER-0'") as string });
  });

  test('--allow-similar: a near license of before does not keep the request from being repeated', async () => {
    const near = { key: 'K-NEAR', fields: { ...license.fields, remote_user: 'USER-0' } };
    const { result, posts } = await run({
      rules: { ...rules, similar: 'allow' },
      answer: (count) => (count === 1 ? lost : answered),
      look: async (count) => (count > 1 ? { exact: [license], near: [] } : { exact: [], near: [near] }),
    });
    expect([posts, result?.status]).toEqual([2, 'created']);
  });
});

test('a reader of results that leaves after the first row: rows in progress end, and no other is begun', async () => {
  const { applying, posts } = host();
  const [first] = rows;
  if (first) await applying.licensing(7).create(first);
  const plan = await planRoster(rows, applying);
  for await (const row of applyRoster(plan, { ...applying, concurrency: 1 })) {
    expect(row.status).toBe('unchanged');
    break;
  }
  expect(posts.length).toBeLessThan(rows.length / 2);
});
