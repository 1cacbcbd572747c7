import type { AnsweredCreation } from '../../api/licensing/license-writes.ts';
import type { License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { failuresByReason } from '../work/failures-by-reason.ts';
import { resultsInOrder } from '../work/pool.ts';
import type { Case } from './case.ts';
import { answerOf } from './case.ts';
import { inWords, sendAgainHint } from './case-words.ts';
import { fatalKinds } from './circuit-breaker.ts';
import type { GiveReport } from './give.ts';
import { outcomeOf, recordEnd } from './outcome.ts';
import type { GivePorts } from './give-ports.ts';
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

export interface Reporting extends Pick<GivePorts, 'history' | 'lookups' | 'warn'> {
  /** Counts the rows that need no more work. */
  readonly progress: { step(): void; end(): void };
}

export type RosterReport = ReturnType<typeof rosterReport>;

/** The results of the rows, on their way to history and reader. @param listed keys of the plan's list */
export function rosterReport({ history, lookups, warn, progress }: Reporting, listed: Iterable<string>) {
  const ready = resultsInOrder<LicenseFields, RowResult>();
  const answeredOnly = new Map<LicenseFields, AnsweredOnly>();
  /** The users of each key that the list showed or that was answered; most runs have no answer, and need none. */
  let keys: Map<string, 'one' | 'several'> | undefined;
  const accepted: (Failure | undefined)[] = [];

  const noteUnknown = (one: Case, end: End): void => {
    const isAnswered = answerOf(one) !== undefined;
    const isUnread = !('why' in end) || end.why.is === 'stopped' || end.why.is === 'unread';
    if (isAnswered && isUnread) answeredOnly.set(one.asked, 'unconfirmed');
    else if (isAnswered || ('why' in end && end.why.is === 'open')) answeredOnly.set(one.asked, 'open');
  };
  /** The case, of which an answered key that several users have is nobody's. */
  const withOwnKey = (one: Case): Case => {
    const creation = answerOf(one);
    if (!one.sent || !creation || keys?.get(creation.license?.key ?? '') !== 'several') return one;
    return { ...one, sent: { ...one.sent, creation: { ...creation, license_is: 'of several users' } } };
  };
  const report: GiveReport = {
    answered(_row: LicenseFields, creation: AnsweredCreation): void {
      keys ??= new Map(Array.from(listed, (key) => [key, 'one']));
      const key = creation.license?.key;
      if (key !== undefined) keys.set(key, keys.has(key) ? 'several' : 'one');
      // The progress counts the row as done: one list at the end confirms all rows.
      progress.step();
    },
    async end(ended: Case, end: End): Promise<void> {
      const one = withOwnKey(ended);
      const { asked } = one;
      const outcome = await outcomeOf(one, end, (license) => lookups.whyNoKey(asked, license));
      const { status, license = null, failure, warning, size_before = null } = outcome;
      if (warning !== undefined) warn(warning);
      await recordEnd(one, outcome, history);
      if (!('why' in end) && !end.licenses && status === 'created') accepted.push(end.unread);
      if (!answerOf(one)) progress.step();
      if (status === 'unknown') noteUnknown(one, end);
      ready.put(asked, resultOf(asked, status, license, failure?.message, size_before));
    },
  };
  return {
    ...report,
    answeredOnly,
    /** The result of a row whose license is as it should be. */
    async unchanged(asked: LicenseFields, license: License): Promise<RowResult> {
      const failure = await lookups.whyNoKey(asked, license);
      return resultOf(asked, 'unchanged', failure ? null : license, failure?.message);
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
    close: () => ready.close(),
    /** Resolves when the row has a result; undefined where the run ended without one. */
    of: (row: LicenseFields) => ready.take(row),
  };
}

/** Counts outcomes, and says how the run ended. `total`: how many rows were wanted. */
export function countOutcomes({ where, again }: { readonly where: string; readonly again: string }, total: number) {
  const counts = { created: 0, resized: 0, unchanged: 0, failed: 0, unknown: 0 };
  const [failed, masked]: [RowResult[], RowResult[]] = [[], []];
  const unknown = new Map<RowResult, AnsweredOnly | 'unanswered'>();
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
      const reasons = [
        ...byReason(open, 'answered, but in no list'),
        ...byReason(unknownAs('unconfirmed'), 'answered, but not yet confirmed by a list'),
        ...byReason(unknownAs('unanswered'), 'sent, but not confirmed'),
        ...byReason(failed, 'failed'),
        ...byReason(masked, 'listed without a key that can be printed'),
      ];
      const message = [[stopped?.message, summary()].filter(Boolean).join('; '), ...reasons].join('\n');
      const kind = counts.unknown > 0 || stopped?.kind === 'unknown' ? 'unknown' : 'incomplete';
      const similar = failed.filter(({ error }) => error?.includes('of the similar name')).length;
      const retryable = stopped !== undefined || open.length + similar + masked.length < undone;
      const repeat = retryable ? `Run the same command again, which plans again: ${again}` : undefined;
      const [first, ...others] = open;
      const more = `The same holds for ${others.length} more users: each needs its own --send-again USER.`;
      const wayOut = first && [sendAgainHint(first), ...(others.length > 0 ? [more] : [])].join(' ');
      const alike = similar > 0 && 'For a user of a similar name who is another one, repeat with --allow-similar';
      const keyless = masked.length > 0 && 'Ask who runs the server for the key of such a license';
      const details = {
        hint: [alike, keyless, repeat, wayOut].filter(Boolean).join('. '),
        retryable,
      };
      if (!stopped) return new Failure(kind, message, details);
      return stopped.as(stopped.isInterruption ? stopped.kind : kind, message, details);
    },
  };
}

function byReason(rows: readonly RowResult[], what: string): string[] {
  return failuresByReason(
    rows.map(({ remote_user, error }) => [remote_user, error ?? 'no reason is known']),
    what,
  );
}
