import type { AnsweredCreation } from '../../api/licensing/license-writes.ts';
import { partOfKey, type License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { resultsInOrder } from '../work/pool.ts';
import type { Case } from './case.ts';
import { inWords, mayBeCut, sendAgainHint } from './case-words.ts';
import { endOf } from './license-user.ts';
import { fatalKinds } from './circuit-breaker.ts';
import { outcomeOf, recordEnd } from './outcome.ts';
import type { Ports } from './perform.ts';
import type { End } from './step.ts';

/** What came of a row; of a dry run, what would. */
export interface RowResult<Status = 'created' | 'resized' | 'unchanged' | 'failed' | 'unknown'> extends LicenseFields {
  readonly status: Status;
  /** As the server returned it; null where it is not known. */
  readonly license: License | null;
  /** Of a license that is resized; null also where no list tells it. */
  readonly size_allowance_before: number | null;
  readonly error: string | null;
}

/** Written out, since a copy by spread of an object that is a key of a Map takes 600 bytes: 60 MB for 100,000 rows. */
export function resultOf<S>(
  { remote_user, app_code, size_allowance }: LicenseFields,
  status: S,
  license: License | null,
  error: string | null = null,
  size_allowance_before: number | null = null,
): RowResult<S> {
  return { remote_user, app_code, size_allowance, status, license, size_allowance_before, error };
}

/** An unknown row whose POST was answered. `open`: no list shows it, and only `--send-again` goes on with it. */
type AnsweredOnly = 'open' | 'unconfirmed';

type Reporting = Pick<Ports, 'claims' | 'now' | 'warn' | 'record'> & {
  /** Counts the rows that need no more work. */
  readonly progress: { step(): void; end(): void };
};

/** The results of the rows, on their way to the record and then to the reader. @param listed keys of the plan's list */
export function rosterReport({ claims, now, warn, record, progress }: Reporting, listed: Iterable<string>) {
  const ready = resultsInOrder<LicenseFields, RowResult>();
  const writing = new Set<Promise<void>>();
  const answeredOnly = new Map<LicenseFields, AnsweredOnly>();
  /** The users of each key that the list showed or that was answered; most runs have no answer, and need none. */
  let keys: Map<string, 'one' | 'several'> | undefined;
  const accepted: (Failure | undefined)[] = [];

  const noteUnknown = (one: Case, end: End): void => {
    const isAnswered = one.creation?.state === 'answered';
    const isOpen = 'why' in end && end.why.is === 'open';
    const isUnread = !('why' in end) || end.why.is === 'stopped' || end.why.is === 'unread';
    if (isAnswered && (isUnread || mayBeCut(one))) answeredOnly.set(one.asked, 'unconfirmed');
    else if (isAnswered || (isOpen && !mayBeCut(one))) answeredOnly.set(one.asked, 'open');
  };

  return {
    answeredOnly,
    /** Records that the server answered a POST: its row is reported once a list has confirmed it. */
    async answered(row: LicenseFields, creation: AnsweredCreation): Promise<void> {
      keys ??= new Map(Array.from(listed, (key) => [key, 'one']));
      const key = creation.license?.key;
      if (key !== undefined) keys.set(key, keys.has(key) ? 'several' : 'one');
      // The progress counts the row as done: one list at the end confirms all rows.
      progress.step();
      const recording = claims.ended(row, endOf(creation, now(), 0));
      writing.add(recording);
      // A failed write is kept, so that `flush` throws it.
      recording.then(
        () => writing.delete(recording),
        () => undefined,
      );
    },
    /** Tells the history of an outcome, then reports it. */
    async end(ended: Case, end: End): Promise<void> {
      const { asked, creation } = ended;
      const isShared = creation?.state === 'answered' && keys?.get(creation.license?.key ?? '') === 'several';
      const one = isShared ? { ...ended, creation: { ...creation, license_is: 'of several users' as const } } : ended;
      const outcome = outcomeOf(one, end);
      const { status, license = null, failure, warning, size_before = null } = outcome;
      if (warning !== undefined) warn(warning);
      await recordEnd(one, outcome, record);
      if (!('why' in end) && !end.licenses && status === 'created') accepted.push(end.unread);
      if (creation?.state !== 'answered') progress.step();
      if (status === 'unknown') noteUnknown(one, end);
      ready.put(asked, resultOf(asked, status, license, failure?.message, size_before));
      // A row whose request is unconfirmed is given back at the end, with the time of that request.
      if (status !== 'unknown') await claims.release(asked);
    },
    warnOfAccepted(): void {
      const [why] = accepted;
      const count = accepted.length;
      if (count === 0) return;
      const said = `${count} ${count === 1 ? 'license was' : 'licenses were'} created, as the server answered`;
      const isTried = why && !why.isInterruption;
      const unread = isTried
        ? `no list confirmed it: ${why.message}`
        : 'no list was read yet: the next run confirms it';
      warn(`${said}; ${unread}`);
    },
    flush: async () => void (await Promise.all(writing)),
    close: () => ready.close(),
    /** Resolves when the row has a result; undefined where the run ended without one. */
    of: (row: LicenseFields) => ready.take(row),
  };
}

const maxNamedUsers = 20;

/** Counts outcomes, and says how the run ended. `total`: how many rows were wanted. */
export function countOutcomes({ where, resume }: { readonly where: string; readonly resume: string }, total: number) {
  const counts = { created: 0, resized: 0, unchanged: 0, failed: 0, unknown: 0 };
  const [failed, masked]: [RowResult[], RowResult[]] = [[], []];
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
      else if (row.status !== 'unknown' && row.error !== null) masked.push(row);
      if (row.status === 'unknown') unknown.set(row, answered ?? 'unanswered');
    },
    summary,
    /** Undefined where each row has its license. */
    failureOf(stopped: Failure | undefined): Failure | undefined {
      const undone = counts.failed + counts.unknown + masked.length + left();
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
        named('listed with a part of their key', masked),
      ];
      const message = [stopped?.message, summary(), ...parts].filter(Boolean).join('; ');
      const kind = counts.unknown > 0 ? 'unknown' : 'incomplete';
      const similar = failed.filter(({ error }) => error?.includes('of the similar name')).length;
      const retryable = stopped !== undefined || open.length + similar + masked.length < undone;
      const resumes = retryable ? `The same command resumes where this run stopped: ${resume}` : undefined;
      const [first, ...others] = open;
      const more = `The same holds for ${others.length} more users: each needs its own --send-again USER.`;
      const wayOut = first && [sendAgainHint(first), ...(others.length > 0 ? [more] : [])].join(' ');
      const alike = similar > 0 && 'For a user of a similar name who is another one, repeat with --allow-similar';
      const details = {
        hint: [alike, masked.length > 0 && partOfKey().details.hint, resumes, wayOut].filter(Boolean).join('. '),
        retryable,
      };
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
