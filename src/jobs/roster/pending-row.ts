import type { UnconfirmedCreation } from '../../api/licensing/creation.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { RosterClaims } from '../license/claim-users.ts';
import { mayRepeat, times } from '../license/create-license.ts';
import type { LicenseJournal, PastRow } from '../license/license-journal.ts';

/** A row whose license must not be asked for before a list, read `settle` after `posted`, has not shown it. */
export interface PendingRow {
  readonly row: LicenseFields;
  /** POSTs of this run. */
  readonly posts: number;
  /** When the last POST ended, of this run or an earlier one. */
  readonly posted: Milliseconds;
  /** What the last POST of this run left open. */
  readonly creation?: UnconfirmedCreation;
}

/** What is recorded of requests: by this job and its earlier runs, and by all jobs of this machine. */
export interface RequestRecords {
  readonly journal: LicenseJournal;
  readonly claims: RosterClaims;
}

/**
 * When a license of the row was last asked for, by the journal and the claims; -Infinity: long ago. A time in the future, and one that
 * is not recorded, count as the time of the plan.
 */
export function lastPost(
  row: LicenseFields,
  listedAt: Milliseconds,
  { journal, claims }: RequestRecords,
): Milliseconds {
  const recorded = journal.isDamaged ? Infinity : (journal.past(row).posted ?? -Infinity);
  return Math.min(Math.max(recorded, claims.lastPost(row) ?? -Infinity), listedAt);
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
