import { Failure, type FailureKind } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { sendAgainHint } from './decide.ts';
import { inWords, type RowResult } from './plan-roster.ts';
import type { AnsweredOnly, Applying } from './roster-results.ts';

/** Whether a failure of one row ends the run: a refused key, a full disk, lost claims and an interruption do. */
export function endsRun(cause: Failure, { journal, claims, signal }: Applying): boolean {
  return (
    fatalKinds.has(cause.kind) ||
    cause.isInterruption ||
    cause === journal.broken() ||
    cause === claims.lost() ||
    signal.aborted
  );
}

/** These end a run with their own exit code, whatever was done before. */
const fatalKinds: ReadonlySet<FailureKind> = new Set(['auth', 'config', 'internal', 'usage']);

const maxNamedUsers = 20;

/** Counts outcomes, and says how the run ended. `total`: how many rows were wanted. */
export function countOutcomes({ where, resume }: Pick<Applying, 'where' | 'resume'>, total: number) {
  const counts = { created: 0, resized: 0, unchanged: 0, failed: 0, unknown: 0 };
  const failed: RowResult[] = [];
  const unknown = new Map<LicenseFields, AnsweredOnly | 'unanswered'>();
  const left = (): number => Object.values(counts).reduce((rest, count) => rest - count, total);
  const summary = (): string => {
    const rows = Object.entries(counts).map(([status, count]) => [count, status] as const);
    return `${inWords([...rows, [left(), 'not done']])} on ${where}`;
  };
  return {
    /** @param answered open ones stay unknown when the command is repeated */
    add(row: RowResult, answered?: AnsweredOnly): void {
      counts[row.status] += 1;
      if (row.status === 'failed') failed.push(row);
      if (row.status === 'unknown') unknown.set(row, answered ?? 'unanswered');
    },
    summary,
    /** Undefined where each row has its license. */
    failureOf(stopped: Failure | undefined): Failure | undefined {
      const undone = counts.failed + counts.unknown + left();
      if (!stopped && undone === 0) return undefined;
      const isDone = counts.created + counts.resized + counts.unknown > 0;
      if (stopped && fatalKinds.has(stopped.kind) && !(isDone && stopped.kind === 'config')) return stopped;
      const unknownAs = (state: AnsweredOnly | 'unanswered') =>
        [...unknown].flatMap(([row, is]) => (is === state ? [row] : []));
      const open = unknownAs('open');
      const parts = [
        named('answered, but in no list', open),
        named('answered, but not yet confirmed by a list', unknownAs('unconfirmed')),
        named('sent, but not confirmed', unknownAs('unanswered')),
        named('failed', failed),
      ];
      const message = [stopped?.message, summary(), ...parts].filter(Boolean).join('; ');
      const kind = counts.unknown > 0 ? 'unknown' : 'incomplete';
      const similar = failed.filter(({ error }) => error?.includes('of the similar name')).length;
      const retryable = stopped !== undefined || open.length + similar < undone;
      const resumes = retryable ? `The same command resumes where this run stopped: ${resume}` : undefined;
      const [first, ...others] = open;
      const more = `The same holds for ${others.length} more users: each needs its own --send-again USER.`;
      const wayOut = first && [sendAgainHint(first), ...(others.length > 0 ? [more] : [])].join(' ');
      const alike = similar > 0 && 'For a user of a similar name who is another one, repeat with --allow-similar';
      const details = { hint: [alike, resumes, wayOut].filter(Boolean).join('. '), retryable };
      if (!stopped) return new Failure(kind, message, details);
      return stopped.as(stopped.isInterruption ? stopped.kind : kind, message, details);
    },
  };
}

function named(what: string, rows: readonly LicenseFields[]): string | undefined {
  if (rows.length === 0) return undefined;
  const rest = rows.length - maxNamedUsers;
  const users = rows.slice(0, maxNamedUsers).map(({ remote_user }) => remote_user);
  return `${what}: ${users.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

const maxOutages = 3;
const maxSilences = 20;

export type CircuitBreaker = ReturnType<typeof circuitBreaker>;

/** Watches whether a run can go on. Its server is taken to be available until requests fail. */
export function circuitBreaker({ journal, signal }: Pick<Applying, 'journal' | 'signal'>) {
  let stop: Failure | undefined;
  let isAbandoned = false;
  let [outages, silences] = [0, 0];
  let probing: Promise<unknown> = Promise.resolve();
  let unreachable: Failure | undefined;
  const gone = (cause: unknown): void => {
    if (!(cause instanceof Failure)) throw cause;
    unreachable ??= cause;
  };
  /** Undefined while it goes on. A server is gone after `maxOutages` in a row, or when a probe fails. */
  const stopped = (): Failure | undefined => {
    const interruption = signal.aborted && signal.reason instanceof Failure ? signal.reason : undefined;
    return stop ?? journal.broken() ?? unreachable ?? interruption;
  };
  return {
    answered: () => void ([outages, silences] = [0, 0]),
    /** A lookup was answered: the server is available, whatever becomes of its POSTs. */
    listed: () => void (outages = 0),
    failed(cause: Failure): void {
      outages += 1;
      if (outages >= maxOutages) gone(cause);
    },
    /** A POST got no answer. After `maxSilences` of them in a row, `ask` has to succeed before the next one is sent. */
    unanswered(ask: () => Promise<unknown>): void {
      silences += 1;
      if (silences % maxSilences === 0) probing = ask().catch(gone);
    },
    /** Resolves when the next POST may be sent. */
    ready: () => probing,
    stop: (failure: Failure) => void (stop ??= failure),
    stopped,
    /** Nobody reads the results any more: rows in progress end, and no other is begun. */
    abandon: () => void (isAbandoned = true),
    isOver: () => isAbandoned || stopped() !== undefined,
  };
}
