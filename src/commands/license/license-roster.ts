import { createHash } from 'node:crypto';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { userKey } from '../../jobs/license/license-user.ts';
import type { Rules } from '../../jobs/license/step.ts';
import { differenceTo, type ReviewedPlan } from '../../jobs/license/reviewed-plan.ts';
import { rosterFields, type LicenseFields } from '../../schema/license.ts';
import { oncePerUser, readRoster, type CheckedRoster } from '../../store/roster/read-roster.ts';
import type { Accounts, Disk, Terminal } from '../context.ts';
import { appCodeOfEach, rosterSource, type RosterValues } from '../roster.ts';
import type { Target } from './target.ts';

export const applyColumns = ['remote_user', 'app_code', 'size_allowance', 'status', 'license_code'] as const;

const sizeless = { ...rosterFields, size_allowance: { ...rosterFields.size_allowance, required: false } };

interface RosterRead extends RosterValues {
  readonly keep_columns?: boolean;
  readonly app_code?: number;
  readonly size_allowance?: number;
}

type RosterRow = Pick<LicenseFields, 'remote_user'> & Partial<LicenseFields>;

/** The roster, every row checked and with its application. @throws Failure usage; config where that is not known */
export async function readLicenseRoster(
  file: string,
  { keep_columns, app_code, size_allowance, ...values }: RosterRead,
  context: Accounts & Disk & Terminal,
): Promise<CheckedRoster<LicenseFields>> {
  const beside = [...applyColumns, 'license', 'error', 'change', 'size_allowance_before'];
  const source = await rosterSource(file, values, context, keep_columns ? beside : undefined);
  const fields = size_allowance === undefined ? rosterFields : sizeless;
  const completion = async (rows: readonly RosterRow[]) => {
    const codeOf = await appCodeOfEach(rows, app_code, context);
    // The order is that of the result, whatever that of the file.
    return (row: RosterRow): LicenseFields => ({
      remote_user: row.remote_user,
      app_code: codeOf(row),
      size_allowance: row.size_allowance ?? size_allowance ?? 0,
    });
  };
  const alone = size_allowance === undefined ? undefined : 'remote_user';
  return readRoster(source, { fields, alone, ...oncePerUser, completion });
}

/** Adds the kept columns of a roster to the rows of a result. */
export function keptColumns({
  rows,
  others,
}: CheckedRoster<LicenseFields>): <R extends Pick<LicenseFields, 'remote_user' | 'app_code'>>(row: R) => R {
  if (others.length === 0) return (row) => row;
  const kept = new Map(rows.map((row, index) => [userKey(row), others[index]]));
  return (row) => ({ ...row, ...kept.get(userKey(row)) });
}

export function rosterOf({ rows }: ReviewedPlan): CheckedRoster<LicenseFields> {
  const own = rows.flatMap(({ change, remote_user, app_code, size_allowance }, index) =>
    change === 'retire' ? [] : [{ row: { remote_user, app_code, size_allowance }, line: index + 2 }],
  );
  const sha256 = createHash('sha256').update(writeJson(rows)).digest('hex');
  return { rows: own.map(({ row }) => row), lines: own.map(({ line }) => line), others: [], sha256 };
}

export function differencesTo({ rows }: ReviewedPlan): NonNullable<Rules['differs']> {
  const planned = new Map(rows.flatMap((row) => (row.change === 'retire' ? [] : [[userKey(row), row] as const])));
  return (user, step) => {
    const row = planned.get(userKey(user));
    return row && differenceTo(row, step);
  };
}

/** @throws Failure config where the plan was made for another server */
export function refuseOtherTargets(targets: readonly Target[], plan: ReviewedPlan, file: string): void {
  const servers = new Map(plan.targets.map(({ app_code, server }) => [app_code, server]));
  const other = targets.find(({ app_code, origin }) => servers.get(app_code) !== origin);
  if (!other) return;
  const server = servers.get(other.app_code) ?? '?';
  throw new Failure('config', `${file} is a plan for ${server}, and the credential is for ${other.origin}`, {
    hint: 'Name the profile of that server with --profile.',
  });
}
