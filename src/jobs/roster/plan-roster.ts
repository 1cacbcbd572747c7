import { textOf, type License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { mapped, type Rows } from '../../core/rows.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { decide, takeCensus, type Decision } from '../license/census.ts';
import { usersIn, type Roster } from './roster.ts';
import type { AppliedRow, Applying } from './roster-run.ts';

/** A row with what the server has for it. */
export interface Task {
  readonly row: LicenseFields;
  readonly decision: Decision;
}

export type Planning = Pick<Applying, 'licensing' | 'concurrency'>;

/** Before anything was done, a list that breaks off is as good as none. */
export async function planAtFirst(roster: Roster, applying: Planning): Promise<Rows<Task>> {
  try {
    return await planRows(roster, applying);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
    throw new Failure('unavailable', `${cause.message}; nothing was changed`, { ...cause.details, cause });
  }
}

/** What has to be done for each row, by the server's own list. */
export async function planRows(roster: Roster, { licensing, concurrency }: Planning): Promise<Rows<Task>> {
  const censuses = new Map<number, ReadonlyMap<string, readonly License[]>>();
  for (const [app_code, prints] of roster.users) {
    const users = { prints, named: () => usersIn(roster, app_code) };
    censuses.set(app_code, await takeCensus(licensing(app_code), app_code, users, concurrency));
  }
  return mapped(roster, roster.length, (row) => ({
    row,
    decision: decide(censuses.get(row.app_code)?.get(row.remote_user) ?? [], row),
  }));
}

/** What would come of a row. */
export interface PlannedRow extends LicenseFields {
  readonly status: 'create' | 'resize' | 'unchanged';
  readonly license: AppliedRow['license'];
  /** The change of size, as in `4 -> 6`; null where a license is created or left. */
  readonly change: string | null;
}

/** The row of a dry run. */
export function plannedRow({ row, decision }: Task): PlannedRow {
  const license = decision.step === 'create' ? null : decision.license;
  const change = decision.step === 'resize' ? `${sizeText(decision.license)} -> ${row.size_allowance}` : null;
  return { ...row, status: decision.step, license, change };
}

function sizeText(license: License): string {
  return textOf(license, 'size_allowance') ?? '?';
}
