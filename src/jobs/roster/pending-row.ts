import type { UnconfirmedCreation } from '../../api/licensing/creation.ts';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { RosterClaims } from '../license/claim-roster.ts';
import { mayRepeat, times } from '../license/create-license.ts';
import type { LicenseJournal, PastRow } from '../license/license-journal.ts';
import { inWords, planRoster, type Plan, type Planning } from './plan-roster.ts';

/** A row whose license must not be asked for before a list, read `settle` after `posted`, has not shown it. */
export interface PendingRow {
  readonly row: LicenseFields;
  /** POSTs of this run. */
  readonly posts: number;
  /** When the last POST ended, of this run or an earlier one; on the clock `elapsed`, which nobody sets forward. */
  readonly posted: Milliseconds;
  /** What the last POST of this run left open. */
  readonly creation?: UnconfirmedCreation;
}

/** What is recorded of requests: by this job and its earlier runs, and by all jobs that share its claims. */
export interface RequestRecords {
  readonly journal: LicenseJournal;
  readonly claims: RosterClaims;
}

/**
 * When a license of the row was last asked for, by the journal and the claims, on the clock `elapsed`; -Infinity: long ago. In the journal
 * a time in the future, and one that is not recorded, count as the time of the plan. Claims may say that a POST of another machine ends in
 * the future.
 */
export function lastPost(
  row: LicenseFields,
  listedAt: Milliseconds,
  { journal, claims }: RequestRecords,
): Milliseconds {
  const recorded = journal.isDamaged ? Infinity : (journal.past(row).posted ?? -Infinity);
  return Math.max(Math.min(recorded, listedAt), claims.lastPost(row) ?? -Infinity);
}

/** Whether a POST of this job, in this run or an earlier one, may have created the license. */
export function wasPosted(row: LicenseFields, earlier: PendingRow | undefined, { journal }: RequestRecords): boolean {
  return (earlier?.posts ?? 0) > 0 || journal.past(row).posted !== undefined;
}

/** The clock of the machine, and the one that nobody sets. */
export interface TwoClocks {
  readonly now: () => Milliseconds;
  readonly elapsed: () => Milliseconds;
}

/** When the last POST of a row ended, as a time of the machine's clock for records. */
export function postedAt({ posted }: PendingRow, { now, elapsed }: TwoClocks): Milliseconds {
  return posted - elapsed() + now();
}

/** What listing pending rows again needs. */
export interface PlanningAgain extends Planning, RequestRecords, TwoClocks {
  /** How long after an unconfirmed request the server may still carry it out. */
  readonly settle: Milliseconds;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly note: (text: string) => void;
}

/** The rows that wait for another list. */
export class PendingRows {
  readonly #rows = new Map<LicenseFields, PendingRow>();

  add(pending: PendingRow): void {
    this.#rows.set(pending.row, pending);
  }

  /** A row that an earlier run, or another one, asked for. */
  addAsked(row: LicenseFields, posted: Milliseconds): void {
    this.add({ row, posts: 0, posted });
  }

  /** A row that another run held. A POST whose end is not recorded counts as ended now. */
  addHeld(row: LicenseFields, records: RequestRecords & Pick<TwoClocks, 'elapsed'>): void {
    this.addAsked(row, lastPost(row, records.elapsed(), records));
  }

  /** Takes a row out; undefined where it is not pending. */
  take(row: LicenseFields): PendingRow | undefined {
    const pending = this.#rows.get(row);
    this.#rows.delete(row);
    return pending;
  }

  all(): readonly PendingRow[] {
    return [...this.#rows.values()];
  }

  isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  /** Waits until a list can settle all rows, and plans them by it. @throws Failure of the list, or of an interruption */
  async planAgain(planning: PlanningAgain): Promise<Plan> {
    const open = this.all();
    const latest = open.reduce((last, { posted }) => Math.max(last, posted), -Infinity);
    const wait = latest + planning.settle - planning.elapsed();
    planning.note(`${inKinds(open, planning)}: listing again${wait > 0 ? ` in ${formatDuration(wait)}` : ''}`);
    if (wait > 0) await planning.sleep(wait);
    return planRoster(
      open.map(({ row }) => row),
      planning,
    );
  }
}

/** How many rows are pending after a request of this job, and of other runs. */
function inKinds(open: readonly PendingRow[], records: RequestRecords): string {
  const own = open.filter((pending) => wasPosted(pending.row, pending, records)).length;
  return inWords([
    [own, 'unconfirmed'],
    [open.length - own, 'asked for by other runs'],
  ]);
}

/** Why a row has no license of the asked size. */
export interface Trouble {
  readonly status: 'failed' | 'unknown';
  readonly error: string;
}

/**
 * Why the license of a row may not be asked for (again), though a list that was read `settle` after the last POST does not show it;
 * undefined where it may.
 */
export function obstacle(earlier: PendingRow | undefined, past: PastRow, retries: number): Trouble | undefined {
  const { creation, posts = 0 } = earlier ?? {};
  if (past.status === 'created' || past.status === 'acknowledged')
    return { status: 'unknown', error: 'an earlier run created the license, and the list does not show it' };
  if (!creation) return undefined;
  const { message } = creation.failure;
  if (creation.reason === 'redirect') return { status: 'failed', error: message };
  if (!mayRepeat(creation)) return { status: 'unknown', error: `${message}; the list does not show it` };
  if (posts <= retries) return undefined;
  return { status: 'unknown', error: `${message}; sent ${times(posts)}, and the list does not show it` };
}
