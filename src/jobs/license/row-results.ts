/** What came of the rows of a roster, and how the run ends that gave it. */
import type { License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { namesIn } from '../../core/table-names.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { failuresByReason } from '../work/each.ts';
import { inWords, sendAgainHint } from './case-words.ts';
import { fatalKinds } from './give-ports.ts';

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

/** An unknown row. `open`: it was answered, no list shows it, and only `--send-again` goes on with it. */
export type UnknownRow = keyof typeof unknownWords;

const unknownWords = {
  open: 'answered, but in no list',
  unconfirmed: 'answered, but not yet confirmed by a list',
  unanswered: 'sent, but not confirmed',
} as const;

/** Counts outcomes, and says how the run ended. `total`: how many rows were wanted. */
export function countOutcomes({ where, again }: { readonly where: string; readonly again: string }, total: number) {
  const counts = { created: 0, resized: 0, unchanged: 0, failed: 0, unknown: 0 };
  const unknown: Record<UnknownRow, RowResult[]> = { open: [], unconfirmed: [], unanswered: [] };
  const [failed, masked]: [RowResult[], RowResult[]] = [[], []];
  const left = (): number => Object.values(counts).reduce((rest, count) => rest - count, total);
  const summary = (): string => {
    const rows = Object.entries(counts).map(([status, count]) => [count, status] as const);
    return `${inWords([...rows, [left(), 'not done']])} on ${where}`;
  };
  const add = (row: RowResult, unknownAs: UnknownRow = 'unanswered'): void => {
    counts[row.status] += 1;
    if (row.status === 'failed') failed.push(row);
    else if (row.status === 'unknown') unknown[unknownAs].push(row);
    else if (row.error !== null) masked.push(row);
  };
  /** Undefined where each row has its license. */
  const failureOf = (stopped: Failure | undefined): Failure | undefined => {
    const undone = counts.failed + counts.unknown + masked.length + left();
    if (!stopped && undone === 0) return undefined;
    const isDone = counts.created + counts.resized + counts.unknown > 0;
    if (stopped && fatalKinds.has(stopped.kind) && !(isDone && stopped.kind === 'config')) return stopped;
    const reasons = [
      ...namesIn(unknownWords).flatMap((name) => byReason(unknown[name], unknownWords[name])),
      ...byReason(failed, 'failed'),
      ...byReason(masked, 'listed without a key that can be printed'),
    ];
    const message = [[stopped?.message, summary()].filter(Boolean).join('; '), ...reasons].join('\n');
    const kind = counts.unknown > 0 || stopped?.kind === 'unknown' ? 'unknown' : 'incomplete';
    const similar = failed.filter(({ error }) => error?.includes('of the similar name')).length;
    const retryable = stopped !== undefined || unknown.open.length + similar + masked.length < undone;
    const hints = [
      similar > 0 && 'For a user of a similar name who is another one, repeat with --allow-similar',
      masked.length > 0 && 'Ask the operator of the server for the key of such a license',
      retryable && `Run the same command again, which plans again: ${again}`,
      wayOut(unknown.open),
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
