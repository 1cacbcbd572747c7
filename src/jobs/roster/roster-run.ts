import { keyOf } from '../../api/licensing/license-key.ts';
import type { License } from '../../api/licensing/license.ts';
import { formatDuration } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { watchAvailability } from '../license/availability.ts';
import { userKey } from '../license/claim-users.ts';
import { severalWarning, type Decision } from '../license/decide.ts';
import { limiter, pool, until } from '../work/pool.ts';
import type { RecordedStatus } from '../license/license-journal.ts';
import { planRoster, type Plan, type Task } from './plan-roster.ts';
import { endsRun, lastPost, obstacle, type AppliedRow, type Applying, type PendingRow } from './roster-outcome.ts';

interface RosterRun {
  /** Yields rows as they are done; unconfirmed ones come last. */
  outcomes(): AsyncGenerator<AppliedRow>;
  stopped(): Failure | undefined;
}

type Outcome = Promise<AppliedRow | undefined>;

/** So many calls in a row that find the server unavailable end the run. */
const maxOutages = 3;

/** Begins a run and owns its state. A row without an outcome is pending, or was not begun because the run stopped. */
export function beginRun(plan: Plan, applying: Applying): RosterRun {
  const { licensing, journal, claims, concurrency, settle, now, signal, note } = applying;
  const pending = new Map<string, PendingRow>();
  const limit = limiter(concurrency);
  const server = watchAvailability();
  let stop: Failure | undefined;

  const stopped = (): Failure | undefined =>
    stop ?? (signal.aborted && signal.reason instanceof Failure ? signal.reason : undefined);

  /** An outcome that cannot be recorded is reported all the same; then the run ends. */
  const record = async (row: LicenseFields, status: RecordedStatus, time = now()): Promise<void> => {
    try {
      await journal.after(row, status, time);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      stop ??= cause;
    }
  };

  const trouble = async (row: LicenseFields, status: 'failed' | 'unknown', error: string): Promise<AppliedRow> => {
    await record(row, status);
    return { ...row, status, license: null, error };
  };

  const carryOut = async ({ row, decision }: Task, earlier?: PendingRow): Outcome => {
    if ('hasSeveral' in decision && decision.hasSeveral) applying.warn(severalWarning(row));
    try {
      const done = await outcomeOf(row, decision, earlier);
      if (done) server.answered();
      return done;
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      return failed(row, cause);
    }
  };

  const outcomeOf = async (row: LicenseFields, decision: Decision, earlier?: PendingRow): Outcome => {
    if (decision.step === 'create') return create(row, earlier);
    if (decision.step === 'resize') return resize(row, keyOf(decision.license));
    if (decision.step === 'unchanged') return keep(row, decision.license, earlier);
    return trouble(row, wasPosted(row, earlier) ? 'unknown' : 'failed', decision.failure.message);
  };

  /** Whether a POST of this job, in this run or an earlier one, may have created the license. */
  const wasPosted = (row: LicenseFields, earlier?: PendingRow): boolean =>
    (earlier?.posts ?? 0) > 0 || journal.past(row).posted !== undefined;

  const keep = async (row: LicenseFields, license: License, earlier?: PendingRow): Outcome => {
    const { status } = journal.past(row);
    const isCreated = wasPosted(row, earlier);
    if (isCreated && status !== 'created') await record(row, 'created');
    const before = status === 'resized' ? status : 'unchanged';
    return { ...row, status: isCreated ? 'created' : before, license, error: null };
  };

  const resize = async (row: LicenseFields, key: string): Outcome => {
    const { app_code, size_allowance } = row;
    await journal.before(row, 'resize', now());
    const send = async () => (stopped() ? undefined : licensing(app_code).update(key, { size_allowance }));
    const license = await limit(send);
    if (!license) return undefined;
    await record(row, 'resized');
    return { ...row, status: 'resized', license, error: null };
  };

  const create = async (row: LicenseFields, earlier?: PendingRow): Outcome => {
    const posted = earlier ? -Infinity : lastPost(row, plan, applying);
    if (posted + settle > plan.listedAt) {
      pending.set(userKey(row), { row, posts: 0, posted });
      return undefined;
    }
    const reason = obstacle(earlier, journal.past(row), applying.retries);
    return reason ? trouble(row, reason.status, reason.error) : post(row, (earlier?.posts ?? 0) + 1);
  };

  const post = async (row: LicenseFields, posts: number): Outcome => {
    await journal.before(row, 'create', now());
    const creation = await limit(async () => {
      await server.ready();
      return stopped() ? undefined : send(row, posts);
    });
    if (!creation) {
      await record(row, 'not sent');
      return undefined;
    }
    if (creation.state === 'confirmed') {
      await record(row, 'created');
      return { ...row, status: 'created', license: creation.license, error: null };
    }
    if (creation.reason === 'empty answer') await record(row, 'acknowledged');
    pending.set(userKey(row), { row, posts, posted: now(), creation });
    if (creation.reason === 'no answer') server.unanswered(() => provePresence(row));
    return undefined;
  };

  /** A request that an interruption cut may have been sent. */
  const send = async (row: LicenseFields, posts: number) => {
    try {
      const creation = await licensing(row.app_code).create(row);
      claims.posted(row, now());
      return creation;
    } catch (cause) {
      if (signal.aborted) {
        claims.posted(row, now());
        pending.set(userKey(row), { row, posts, posted: now() });
      }
      throw cause;
    }
  };

  /** A server that is gone must not leave every row unconfirmed. */
  const provePresence = async ({ remote_user, app_code }: LicenseFields): Promise<void> => {
    try {
      await licensing(app_code).ofUser({ remote_user, app_code });
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      stop ??= cause;
    }
  };

  /** A refused row fails alone; a refused key, a full disk, a server that is away and an interruption end the run. */
  const failed = async (row: LicenseFields, cause: Failure): Outcome => {
    const isRefused = cause.kind === 'auth' || cause.kind === 'config';
    const isEnd = endsRun.has(cause.kind) || cause === journal.broken() || signal.aborted;
    if (cause.kind !== 'unavailable') server.answered();
    if (isEnd || (cause.kind === 'unavailable' && server.failed() >= maxOutages)) stop ??= cause;
    return isEnd && !isRefused ? undefined : trouble(row, 'failed', cause.message);
  };

  /** Twice as many rows as requests are in progress: half of them are being recorded. One worker keeps the order of the rows. */
  async function* each(tasks: readonly Task[], work: (task: Task) => Outcome): AsyncGenerator<AppliedRow> {
    const size = concurrency === 1 ? 1 : concurrency * 2;
    const open = until(tasks, () => stopped() !== undefined);
    for await (const row of pool(open, size, work)) if (row) yield row;
  }

  async function* settlePending(): AsyncGenerator<AppliedRow> {
    const open = [...pending.values()];
    const rows = open.map(({ row }) => row);
    const wait = open.reduce((latest, { posted }) => Math.max(latest, posted), -Infinity) + settle - now();
    note(`${rows.length} unconfirmed: listing again${wait > 0 ? ` in ${formatDuration(wait)}` : ''}`);
    if (wait > 0) await applying.sleep(wait);
    const { tasks } = await planRoster(rows, applying);
    yield* each(tasks, (task) => {
      const earlier = pending.get(userKey(task.row));
      pending.delete(userKey(task.row));
      return carryOut(task, earlier);
    });
  }

  /** The next run settles these first; its wait counts from their last request. */
  async function* leaveOpen(): AsyncGenerator<AppliedRow> {
    for (const earlier of pending.values()) {
      if (!wasPosted(earlier.row, earlier)) continue;
      if (!journal.broken()) await record(earlier.row, 'unknown', earlier.posted);
      const error = earlier.creation?.failure.message ?? stopped()?.message ?? 'the request was not answered';
      yield { ...earlier.row, status: 'unknown', license: null, error };
    }
  }

  async function* outcomes(): AsyncGenerator<AppliedRow> {
    if (journal.isResumed) note('Resuming an interrupted run');
    try {
      yield* each(plan.tasks, (task) => carryOut(task));
      while (pending.size > 0 && !stopped()) yield* settlePending();
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      stop ??= cause;
    }
    yield* leaveOpen();
  }

  return { outcomes, stopped };
}
