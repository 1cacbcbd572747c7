import { formatDuration } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { carryOut, missing, record } from './apply-row.ts';
import { severalWarning } from '../license/census.ts';
import { planAtFirst, planRows, type Task } from './plan-roster.ts';
import { pool } from '../work/pool.ts';
import { rosterOf, type Roster } from './roster.ts';
import { rowKey } from './roster-journal.ts';
import {
  counted,
  isHalted,
  newRun,
  summaryOf,
  verdict,
  type AppliedRow,
  type Applying,
  type Run,
} from './roster-run.ts';

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

/** What the end of the run left open: the next run settles it first. */
async function* leftInDoubt(run: Run, applying: Applying): AsyncGenerator<AppliedRow> {
  for (const row of run.doubtful.values()) {
    if (!applying.journal.broken()) await record(run, row, 'unknown', applying);
    yield { ...row, status: 'unknown', license: null, error: run.stopped?.message ?? 'in doubt' };
  }
}
