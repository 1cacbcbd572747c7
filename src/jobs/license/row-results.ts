/** What came of users who were to get a license, in the words of a result, and how the run of a roster ends. */
import { notShown } from '../../api/licensing/license-writes.ts';
import { sizeOf, type License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { failuresByReason } from '../work/each.ts';
import { answeredLicense, answerOf, type Case, type End, type Unmet } from './case.ts';
import { failureOf, inWords, sendAgainHint, storedInWords } from './case-words.ts';
import { fatalKinds } from './give-ports.ts';
import type { LicenseHistory } from './history.ts';

export interface CaseOutcome {
  readonly status: End['outcome'];
  /** What was answered is always printed. */
  readonly license?: License | undefined;
  readonly failure?: Failure | undefined;
  readonly warning?: string | undefined;
  /** Of a license that was resized; undefined also where the list did not tell it. */
  readonly size_before?: number | undefined;
  /** Why no list confirms what was answered. */
  readonly unread?: Failure | undefined;
}

/** @param whyNoKey why a listed license has no key that can be printed: it is met, and the run fails all the same */
export async function outcomeOf(
  one: Case,
  end: End,
  whyNoKey: (license: License) => Promise<Failure | undefined>,
): Promise<CaseOutcome> {
  const outcome = wholeOutcomeOf(one, end);
  const { license } = outcome;
  const answered = answerOf(one)?.license;
  const failure = license && license.key !== answered?.key ? await whyNoKey(license) : undefined;
  if (!failure) return outcome;
  // The answered key is printed where the list shows no key.
  const own = answeredLicense(one);
  if (own && !('why' in end)) return { ...outcome, license: own, warning: undefined };
  return { ...outcome, license: undefined, failure: outcome.failure ?? failure };
}

function wholeOutcomeOf(one: Case, end: End): CaseOutcome {
  const { asked, last } = one;
  const answer = answerOf(one);
  const { license: answered, license_is } = answer ?? {};
  const unmet = (unknown: Unmet): CaseOutcome => ({
    status: unknown.outcome,
    license: license_is === 'as asked' ? answered : unknown.license,
    failure: failureOf(one, unknown),
  });
  if ('why' in end) return unmet(end);
  const { outcome: status, license, licenses, unread, storedAs } = end;
  // One key that was answered for several users is nobody's until a list says whose.
  if (!licenses && license_is !== 'as asked') return unmet({ do: 'end', outcome: 'unknown', why: { is: 'stopped' } });
  const size_before = status === 'resized' ? last?.listed && sizeOf(last.listed) : undefined;
  const warning = storedAs === undefined ? undefined : storedInWords(asked, storedAs);
  if (license_is === 'as asked' && answered?.key === license.key)
    return { status, license: answered, size_before, unread, warning };
  if (!answer || answered?.key === undefined || answered.key === license.key)
    return { status, license, size_before, warning };
  const listed = `but lists one whose key ends with ${license.key?.slice(-4) ?? ''}: the listed one counts`;
  return { status, license, size_before, warning: `${notShown(answer, asked).message}, ${listed}` };
}

/** Tells the history that a license was created, or may have been. A change is recorded where it is sent. */
export async function recordEnd(one: Case, end: End, { record }: Pick<LicenseHistory, 'record'>): Promise<void> {
  const { asked, sent } = one;
  if (end.outcome === 'failed' || !sent) return;
  const { remote_user, app_code, size_allowance } = asked;
  const license_code_end = (end.license ?? answerOf(one)?.license)?.key?.slice(-4);
  const event = end.outcome === 'unknown' ? end.outcome : 'created';
  await record({ event, remote_user, app_code, size_allowance, license_code_end });
}

/** What came of a row; of a dry run, what would. */
export interface RowResult<Status = 'created' | 'resized' | 'unchanged' | 'failed' | 'unknown'> extends LicenseFields {
  readonly status: Status;
  /** As the server returned it; null where it is not known. */
  readonly license: License | null;
  /** Of a license that is resized; null also if no list has it. */
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

export interface RowEnd {
  readonly result: RowResult;
  /** It was answered, and no list shows it: only `--send-again` goes on with it. */
  readonly isOpen: boolean;
}

/** Counts outcomes, and says how the run ended. `total`: how many rows were wanted. */
export function countOutcomes({ where, again }: { readonly where: string; readonly again: string }, total: number) {
  const counts = { created: 0, resized: 0, unchanged: 0, failed: 0, unknown: 0 };
  const rows: Record<'open' | 'unknown' | 'failed' | 'masked', RowResult[]> = {
    open: [],
    unknown: [],
    failed: [],
    masked: [],
  };
  const left = (): number => Object.values(counts).reduce((rest, count) => rest - count, total);
  const summary = (): string => {
    const done = Object.entries(counts).map(([status, count]) => [count, status] as const);
    return `${inWords([...done, [left(), 'not done']])} on ${where}`;
  };
  const add = ({ result: row, isOpen }: RowEnd): void => {
    counts[row.status] += 1;
    if (row.status === 'failed') rows.failed.push(row);
    else if (row.status === 'unknown') rows[isOpen ? 'open' : 'unknown'].push(row);
    else if (row.error !== null) rows.masked.push(row);
  };
  /** Undefined where each row has its license. */
  const failureOf = (stopped: Failure | undefined): Failure | undefined => {
    const { open, unknown, failed, masked } = rows;
    const undone = counts.failed + counts.unknown + masked.length + left();
    if (!stopped && undone === 0) return undefined;
    const isDone = counts.created + counts.resized + counts.unknown > 0;
    if (stopped && fatalKinds.has(stopped.kind) && !(isDone && stopped.kind === 'config')) return stopped;
    const reasons = [
      ...byReason(open, 'answered, but in no list'),
      ...byReason(unknown, 'sent, but not confirmed'),
      ...byReason(failed, 'failed'),
      ...byReason(masked, 'listed without a key that can be printed'),
    ];
    const message = [[stopped?.message, summary()].filter(Boolean).join('; '), ...reasons].join('\n');
    const kind = counts.unknown > 0 || stopped?.kind === 'unknown' ? 'unknown' : 'incomplete';
    const similar = failed.filter(({ error }) => error?.includes('of the similar name')).length;
    const retryable = stopped !== undefined || open.length + similar + masked.length < undone;
    const hints = [
      similar > 0 && 'For a user of a similar name who is another one, repeat with --allow-similar',
      masked.length > 0 && 'Ask the operator of the server for the key of such a license',
      retryable && `Run the same command again, which plans again: ${again}`,
      wayOut(open),
    ];
    const details = { hint: hints.filter(Boolean).join('. '), retryable };
    if (!stopped) return new Failure(kind, message, details);
    return stopped.as(stopped.isInterruption ? stopped.kind : kind, message, details);
  };
  return { add, summary, failureOf };
}

/** What goes on with users whose answered license no list shows. */
function wayOut([first, ...others]: readonly RowResult[]): string {
  if (!first) return '';
  const more = `The same applies to ${others.length} more users: each needs its own --send-again USER.`;
  return [sendAgainHint(first), ...(others.length > 0 ? [more] : [])].join(' ');
}

function byReason(rows: readonly RowResult[], what: string): string[] {
  return failuresByReason(
    rows.map(({ remote_user, error }) => [remote_user, error ?? 'no reason is known']),
    what,
  );
}
