import { keyOf } from '../api/license-key.ts';
import { formatDuration } from '../core/duration.ts';
import { Failure, type FailureKind } from '../core/failure.ts';
import { gather } from '../core/gather.ts';
import type { LicenseFields } from '../spec/license.ts';
import { severalWarning, type Decision } from './census.ts';
import { planAtFirst, planRows, type Task } from './plan-roster.ts';
import { pool } from './pool.ts';
import { rosterOf, type Roster } from './roster.ts';
import { rowKey } from './roster-journal.ts';
import {
  counted,
  endsRun,
  isHalted,
  newRun,
  summaryOf,
  verdict,
  type AppliedRow,
  type Applying,
  type Run,
  type Status,
} from './roster-run.ts';

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
export async function* applyRoster(roster: Roster, applying: Applying): AsyncGenerator<AppliedRow> {
  const run = newRun(applying);
  await waitForEarlierRun(applying);
  const tasks = await planAtFirst(roster, applying);
  try {
    yield* counted(run, workOff(run, tasks, applying));
    yield* counted(run, settleDoubts(run, applying));
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    run.stopped = cause;
  }
  if (run.stopped?.kind !== 'cancelled' && run.stopped?.kind !== 'terminated')
    yield* counted(run, leftInDoubt(run, applying));
  const left = roster.length - Object.values(run.counts).reduce((sum, count) => sum + count, 0);
  applying.note(summaryOf(run, left));
  const failure = verdict(run, left);
  if (failure) throw failure;
}

/** A request of a run that was cut off may be committed late: nobody looks at the list before. */
async function waitForEarlierRun({ journal, abandoned, settle, now, sleep, note }: Applying): Promise<void> {
  let last = abandoned ? now() : -Infinity;
  for (const { asked = -Infinity } of journal.past.values()) last = Math.max(last, asked);
  if (last === -Infinity) return;
  const wait = Math.min(settle, last + settle - now());
  note(
    `going on with an earlier run${wait > 0 ? `: its last request may be carried out for another ${formatDuration(wait)}` : ''}`,
  );
  if (wait > 0) await sleep(wait);
}

async function* workOff(run: Run, tasks: Iterable<Task>, applying: Applying): AsyncGenerator<AppliedRow> {
  yield* atWork(run, tasks, applying, (task) => carryOut(run, task, applying));
}

/** Twice as many rows are at work as requests are: half of them is being put on record. One worker keeps the order of the rows. */
async function* atWork(
  run: Run,
  tasks: Iterable<Task>,
  applying: Applying,
  work: (task: Task) => Promise<AppliedRow | undefined>,
): AsyncGenerator<AppliedRow> {
  const size = applying.concurrency === 1 ? 1 : applying.concurrency * 2;
  for await (const row of pool(untilHalted(run, tasks, applying), size, work)) if (row) yield row;
}

function* untilHalted(run: Run, tasks: Iterable<Task>, applying: Applying): Generator<Task> {
  for (const task of tasks) {
    if (isHalted(run, applying)) return;
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
  await journal.before(row, 'create', now());
  try {
    const license = await run.turn(async () => {
      await run.presence;
      return isHalted(run, applying) ? 'not sent' : licensing(row.app_code).create(row);
    });
    if (license === 'not sent') return undefined;
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
  const { app_code, size_allowance } = row;
  const resized = await run.turn(() => licensing(app_code).update(keyOf(license), { size_allowance }));
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

async function* settleDoubts(run: Run, applying: Applying): AsyncGenerator<AppliedRow> {
  for (let round = 0; run.doubtful.size > 0 && round < mostRounds && !run.stopped; round += 1) {
    const wait = run.lastDoubt + applying.settle - applying.now();
    applying.note(`${run.doubtful.size} rows in doubt: ${wait > 0 ? `listing in ${formatDuration(wait)}` : 'listing'}`);
    if (wait > 0) await applying.sleep(wait);
    const tasks = await planRows(rosterOf([...run.doubtful.values()]), applying);
    const isLast = round === mostRounds - 1;
    yield* atWork(run, tasks, applying, (task) => settle(run, task, applying, isLast));
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
