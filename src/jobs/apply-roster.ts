import { keyOf, type License } from '../api/license-key.ts';
import type { LicensingApi } from '../api/licensing.ts';
import { formatDuration, type Milliseconds } from '../core/duration.ts';
import { Failure, type FailureKind } from '../core/failure.ts';
import { gather } from '../core/gather.ts';
import type { LicenseFields } from '../spec/license.ts';
import { decide, severalWarning, takeCensus, type Decision } from './census.ts';
import { pool } from './pool.ts';
import { rowKey, type RosterJournal } from './roster-journal.ts';

export type Status = 'created' | 'resized' | 'unchanged' | 'failed' | 'unknown';

/** What came of a row. */
export interface AppliedRow extends LicenseFields {
  readonly status: Status;
  /** As the server returned it; null where it is not known. */
  readonly license: License | null;
  /** Why a row failed or is unknown. */
  readonly error?: string;
}

export interface Applying {
  readonly licensing: (app_code: number) => LicensingApi;
  readonly journal: RosterJournal;
  /** Whether another job died while it was at work on one of the rows. */
  readonly abandoned: boolean;
  readonly concurrency: number;
  /** How long after an unanswered request the server may still carry it out. */
  readonly settle: Milliseconds;
  readonly now: () => Milliseconds;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  /** Aborted by Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** A row with what the server has for it. */
interface Task {
  readonly row: LicenseFields;
  readonly decision: Decision;
}

/** What the run has come to so far. */
interface Run {
  readonly counts: Record<Status, number>;
  readonly troubled: string[];
  /** Rows whose license was asked for without an answer, by `rowKey`. */
  readonly doubtful: Map<string, LicenseFields>;
  /** Rows that the server said it created without showing them: they are never asked for again. */
  readonly acknowledged: Set<string>;
  /** When the last doubtful request ended. */
  lastDoubt: Milliseconds;
  /** Calls in a row that found the server unavailable. */
  outages: number;
  /** Licenses in a row that were asked for without an answer. */
  silences: number;
  /** Resolves when the server has shown that it is there, or the run is stopped. */
  presence: Promise<void>;
  stopped: Failure | undefined;
}

/** So many calls in a row that find the server unavailable end the run: the rest would wait in vain. */
const mostOutages = 3;
/** After so many requests in a row without an answer the server has to show that it is there at all. */
const mostSilences = 20;
/** Lists by which doubts are settled before rows that still do not show count as failed. */
const mostRounds = 10;

/**
 * Brings about one license of the asked size for each row, never two (contract, section 1.3). Rows are yielded as they are done;
 * those in doubt come last, settled by one list after `settle`. A reader who leaves does not stop the work.
 * @throws Failure auth at once; unknown where a row may or may not have its license; incomplete where rows failed or were not reached
 */
export async function* applyRoster(rows: readonly LicenseFields[], applying: Applying): AsyncGenerator<AppliedRow> {
  const run = newRun();
  await waitForEarlierRun(rows, applying);
  const tasks = await planAtFirst(rows, applying);
  try {
    yield* counted(run, workOff(run, tasks, applying));
    yield* counted(run, settleDoubts(run, applying));
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    run.stopped = cause;
  }
  if (run.stopped?.kind !== 'cancelled' && run.stopped?.kind !== 'terminated')
    yield* counted(run, leftInDoubt(run, applying));
  const left = rows.length - Object.values(run.counts).reduce((sum, count) => sum + count, 0);
  applying.note(summaryOf(run, left));
  const failure = verdict(run, left);
  if (failure) throw failure;
}

function newRun(): Run {
  return {
    counts: { created: 0, resized: 0, unchanged: 0, failed: 0, unknown: 0 },
    troubled: [],
    doubtful: new Map(),
    acknowledged: new Set(),
    lastDoubt: 0,
    outages: 0,
    silences: 0,
    presence: Promise.resolve(),
    stopped: undefined,
  };
}

async function* counted(run: Run, rows: AsyncGenerator<AppliedRow>): AsyncGenerator<AppliedRow> {
  for await (const row of rows) {
    run.counts[row.status] += 1;
    if (row.status === 'failed' || row.status === 'unknown') run.troubled.push(row.remote_user);
    yield row;
  }
}

/** A request of a run that was cut off may be committed late: nobody looks at the list before. */
async function waitForEarlierRun(
  rows: readonly LicenseFields[],
  { journal, abandoned, settle, now, sleep, note }: Applying,
): Promise<void> {
  const asked = rows.map((row) => journal.past.get(rowKey(row))?.asked ?? -Infinity);
  const last = asked.reduce((latest, time) => Math.max(latest, time), abandoned ? now() : -Infinity);
  if (last === -Infinity) return;
  const wait = Math.min(settle, last + settle - now());
  note(
    `going on with an earlier run${wait > 0 ? `: its last request may be carried out for another ${formatDuration(wait)}` : ''}`,
  );
  if (wait > 0) await sleep(wait);
}

/** Before anything was done, a list that breaks off is as good as none. */
async function planAtFirst(rows: readonly LicenseFields[], applying: Applying): Promise<Task[]> {
  try {
    return await planRows(rows, applying);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
    throw new Failure('unavailable', `${cause.message}; nothing was changed`, { ...cause.details, cause });
  }
}

/** What has to be done for each row, by the server's own list. */
export async function planRows(
  rows: readonly LicenseFields[],
  { licensing, concurrency }: Pick<Applying, 'licensing' | 'concurrency'>,
): Promise<Task[]> {
  const tasks: Task[] = [];
  for (const [app_code, own] of byApp(rows)) {
    const census = await takeCensus(
      licensing(app_code),
      app_code,
      own.map(({ remote_user }) => remote_user),
      concurrency,
    );
    for (const row of own) tasks.push({ row, decision: decide(census.get(row.remote_user) ?? [], row) });
  }
  return tasks;
}

function byApp(rows: readonly LicenseFields[]): Map<number, LicenseFields[]> {
  const apps = new Map<number, LicenseFields[]>();
  for (const row of rows) {
    const own = apps.get(row.app_code);
    if (own) own.push(row);
    else apps.set(row.app_code, [row]);
  }
  return apps;
}

async function* workOff(run: Run, tasks: readonly Task[], applying: Applying): AsyncGenerator<AppliedRow> {
  for await (const row of pool(untilStopped(run, tasks, applying), applying.concurrency, (task) =>
    carryOut(run, task, applying),
  )) {
    if (row) yield row;
  }
}

function* untilStopped(run: Run, tasks: readonly Task[], { signal }: Applying): Generator<Task> {
  for (const task of tasks) {
    if (signal.aborted && signal.reason instanceof Failure) run.stopped ??= signal.reason;
    if (run.stopped) return;
    yield task;
  }
}

/** Undefined: in doubt, or not done because the run was stopped. */
async function carryOut(run: Run, { row, decision }: Task, applying: Applying): Promise<AppliedRow | undefined> {
  if (decision.step !== 'create' && decision.several) applying.warn(severalWarning(row));
  try {
    const done =
      decision.step === 'create' ? await create(run, row, applying) : await keep(run, row, decision, applying);
    if (done) Object.assign(run, { outages: 0, silences: 0 });
    return done;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    return failed(run, row, cause, applying);
  }
}

async function create(run: Run, row: LicenseFields, applying: Applying): Promise<AppliedRow | undefined> {
  const { licensing, journal, now } = applying;
  if (journal.past.get(rowKey(row))?.status === 'created') {
    doubt(run, row, applying, 'acknowledged');
    return undefined;
  }
  await run.presence;
  if (run.stopped) return undefined;
  await journal.before(row, 'create', now());
  try {
    const license = await licensing(row.app_code).create(row);
    if (!license) {
      doubt(run, row, applying, 'acknowledged');
      return undefined;
    }
    await record(run, row, 'created', applying);
    return { ...row, status: 'created', license };
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'unknown') throw cause;
    doubt(run, row, applying, 'unanswered');
    run.silences += 1;
    if (run.silences % mostSilences === 0) run.presence = provePresence(run, row, applying);
    return undefined;
  }
}

/** The row goes to the end of the queue. */
function doubt(run: Run, row: LicenseFields, { now }: Applying, why: 'acknowledged' | 'unanswered'): void {
  run.doubtful.set(rowKey(row), row);
  run.lastDoubt = now();
  if (why === 'acknowledged') run.acknowledged.add(rowKey(row));
}

/** A server that is gone must not bring every row into doubt. */
async function provePresence(run: Run, { remote_user, app_code }: LicenseFields, applying: Applying): Promise<void> {
  try {
    await gather(applying.licensing(app_code).list({ remote_user, app_code }));
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    run.stopped ??= cause;
  }
}

async function keep(
  run: Run,
  row: LicenseFields,
  { step, license }: Exclude<Decision, { step: 'create' }>,
  applying: Applying,
): Promise<AppliedRow> {
  const { licensing, journal, now } = applying;
  const earlier = journal.past.get(rowKey(row));
  if (step === 'unchanged') {
    const status = earlier?.status ?? (earlier?.asked === undefined ? 'unchanged' : 'created');
    if (earlier?.asked !== undefined) await record(run, row, 'created', applying);
    return { ...row, status, license };
  }
  await journal.before(row, 'resize', now());
  const resized = await licensing(row.app_code).update(keyOf(license), { size_allowance: row.size_allowance });
  await record(run, row, 'resized', applying);
  return { ...row, status: 'resized', license: resized };
}

/** What was done is told even where it cannot be recorded any more; then the run ends. */
async function record(
  run: Run,
  row: LicenseFields,
  status: Exclude<Status, 'unchanged'>,
  { journal, now }: Pick<Applying, 'journal' | 'now'>,
): Promise<void> {
  try {
    await journal.after(row, status, now());
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    run.stopped ??= cause;
  }
}

/** A refused row fails alone; a refused key, a full disk, a server that is away, Ctrl-C and the deadline end the run. */
async function failed(
  run: Run,
  row: LicenseFields,
  cause: Failure,
  applying: Applying,
): Promise<AppliedRow | undefined> {
  const { journal, signal } = applying;
  const ends = endsRun.has(cause.kind) || cause === journal.broken() || signal.aborted;
  if (ends) run.stopped ??= cause;
  if (ends && !refusals.has(cause.kind)) return undefined;
  run.outages = cause.kind === 'unavailable' ? run.outages + 1 : 0;
  if (run.outages >= mostOutages) run.stopped ??= cause;
  await record(run, row, 'failed', applying);
  return { ...row, status: 'failed', license: null, error: cause.message };
}

/** Of these the server certainly did nothing. */
const refusals: ReadonlySet<FailureKind> = new Set(['auth', 'config']);

const endsRun: ReadonlySet<FailureKind> = new Set(['auth', 'config', 'internal', 'usage', 'cancelled', 'terminated']);

async function* settleDoubts(run: Run, applying: Applying): AsyncGenerator<AppliedRow> {
  for (let round = 0; run.doubtful.size > 0 && round < mostRounds && !run.stopped; round += 1) {
    const wait = run.lastDoubt + applying.settle - applying.now();
    applying.note(`${run.doubtful.size} rows in doubt: ${wait > 0 ? `listing in ${formatDuration(wait)}` : 'listing'}`);
    if (wait > 0) await applying.sleep(wait);
    const tasks = await planRows([...run.doubtful.values()], applying);
    const isLast = round === mostRounds - 1;
    for await (const row of pool(untilStopped(run, tasks, applying), applying.concurrency, (task) =>
      settle(run, task, applying, isLast),
    )) {
      if (row) yield row;
    }
  }
}

/** The list tells what came of a doubt: from here on the row is in doubt only if it is asked for again. */
async function settle(run: Run, task: Task, applying: Applying, isLast: boolean): Promise<AppliedRow | undefined> {
  const { row, decision } = task;
  run.doubtful.delete(rowKey(row));
  if (decision.step === 'unchanged') {
    if (decision.several) applying.warn(severalWarning(row));
    await record(run, row, 'created', applying);
    return { ...row, status: 'created', license: decision.license };
  }
  if (decision.step === 'create' && run.acknowledged.has(rowKey(row)))
    return missing(
      run,
      row,
      'unknown',
      'the server said that it created the license, and its list does not show it',
      applying,
    );
  if (decision.step === 'create' && isLast)
    return missing(run, row, 'failed', `asked for ${mostRounds} times, and the list does not show it`, applying);
  return carryOut(run, task, applying);
}

async function missing(
  run: Run,
  row: LicenseFields,
  status: 'unknown' | 'failed',
  error: string,
  applying: Applying,
): Promise<AppliedRow> {
  await record(run, row, status, applying);
  return { ...row, status, license: null, error };
}

/** What the end of the run left open: the next run settles it first. */
async function* leftInDoubt(run: Run, applying: Applying): AsyncGenerator<AppliedRow> {
  for (const row of run.doubtful.values()) {
    if (!applying.journal.broken()) await record(run, row, 'unknown', applying);
    yield { ...row, status: 'unknown', license: null, error: run.stopped?.message ?? 'in doubt' };
  }
}

function summaryOf({ counts }: Run, left: number): string {
  const parts = Object.entries(counts).flatMap(([status, count]) => (count > 0 ? [`${count} ${status}`] : []));
  return [...parts, ...(left > 0 ? [`${left} not done`] : [])].join(', ');
}

const mostNamed = 20;

function verdict(run: Run, left: number): Failure | undefined {
  const { counts, stopped, troubled } = run;
  if (stopped && endsRun.has(stopped.kind)) return stopped;
  if (counts.failed + counts.unknown + left === 0) return undefined;
  const named =
    troubled.slice(0, mostNamed).join(', ') +
    (troubled.length > mostNamed ? ` and ${troubled.length - mostNamed} more` : '');
  const why = stopped ? `${stopped.message}; ` : '';
  const message = `${why}${summaryOf(run, left)}${named === '' ? '' : `; not certain or failed: ${named}`}`;
  return new Failure(counts.unknown > 0 ? 'unknown' : 'incomplete', message, {
    ...stopped?.details,
    hint: 'Run the same command again: it goes on where this run stopped.',
    retryable: true,
    cause: stopped,
  });
}
