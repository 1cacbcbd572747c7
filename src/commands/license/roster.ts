import type { RosterRow } from '../../jobs/roster/check-rows.ts';
import { oncePerUser, readRoster, type CheckedRoster } from '../../jobs/roster/read-roster.ts';
import { userKey } from '../../jobs/license/claim-users.ts';
import { rosterFields, type LicenseFields } from '../../schema/license.ts';
import type { Accounts } from '../context/accounts.ts';
import type { Disk } from '../context/disk.ts';
import { ownAppCode, rosterSource, type RosterValues } from '../roster.ts';

/** The columns of every result of `license apply`, in their order. */
export const applyColumns = ['remote_user', 'app_code', 'size_allowance', 'status', 'license_code'] as const;

interface Reading extends RosterValues {
  readonly keep_columns?: boolean;
  readonly app_code?: number;
}

/**
 * The roster to be applied, every row checked and with its application.
 * @throws Failure usage; config where the run's own application is needed and not known
 */
export async function readLicenseRoster(
  file: string,
  { keep_columns, app_code, ...values }: Reading,
  context: Accounts & Disk,
): Promise<CheckedRoster<LicenseFields>> {
  const beside = [...applyColumns, 'license', 'error', 'change'];
  const source = await rosterSource(file, values, context, keep_columns ? beside : undefined);
  return readRoster(source, { fields: rosterFields, ...oncePerUser, completion: ownAppCode(app_code, context) });
}

/** A row without its place and its other columns. */
export function licenseOf({ remote_user, app_code, size_allowance }: LicenseFields): LicenseFields {
  return { remote_user, app_code, size_allowance };
}

/** Adds the kept columns of a roster to the rows of a result. */
export function keptColumns(
  rows: readonly RosterRow<LicenseFields>[],
): <R extends Pick<LicenseFields, 'remote_user' | 'app_code'>>(row: R) => R {
  if (!rows[0]?.others) return (row) => row;
  const kept = new Map(rows.map((row) => [userKey(row), row.others]));
  return (row) => ({ ...row, ...kept.get(userKey(row)) });
}
