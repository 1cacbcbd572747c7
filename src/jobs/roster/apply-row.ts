import { keyOf } from '../../api/licensing/license-key.ts';
import { Failure, type FailureKind } from '../../core/failure.ts';
import { gather } from '../../core/gather.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { severalWarning, type Decision } from '../license/census.ts';
import type { Task } from './plan-roster.ts';
import { rowKey } from './roster-journal.ts';
import { endsRun, isHalted, type AppliedRow, type Applying, type Run, type Status } from './roster-run.ts';

/** So many calls in a row that find the server unavailable end the run: the rest would wait in vain. */
const mostOutages = 3;
/** After so many requests in a row without an answer the server has to show that it is there at all. */
const mostSilences = 20;

/**
 * Does what the list says of one row, each step on record before and after its request. Undefined: in doubt, or not done because the
 * run was stopped.
 */
export async function carryOut(run: Run, { row, decision }: Task, applying: Applying): Promise<AppliedRow | undefined> {
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
  const creation = await run.turn(async () => {
    await run.presence;
    return isHalted(run, applying) ? 'not sent' : licensing(row.app_code).create(row);
  });
  if (creation === 'not sent') return undefined;
  if (creation.state === 'confirmed') {
    await record(run, row, 'created', applying);
    return { ...row, status: 'created', license: creation.license };
  }
  if (creation.reason === 'redirect') throw creation.failure;
  doubt(run, row, applying, creation.reason === 'empty answer' ? 'acknowledged' : 'unanswered');
  if (creation.reason === 'no answer') run.silences += 1;
  if (creation.reason === 'no answer' && run.silences % mostSilences === 0)
    run.presence = provePresence(run, row, applying);
  return undefined;
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
export async function record(
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

export async function missing(
  run: Run,
  row: LicenseFields,
  status: 'unknown' | 'failed',
  error: string,
  applying: Applying,
): Promise<AppliedRow> {
  await record(run, row, status, applying);
  return { ...row, status, license: null, error };
}
