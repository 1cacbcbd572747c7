import { createHash } from 'node:crypto';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { userKey } from '../../jobs/license/claim-users.ts';
import type { KnownUsers } from '../../jobs/license/decide.ts';
import { differenceTo, type ReviewedPlan } from '../../jobs/license/reviewed-plan.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { CheckedRoster } from '../../store/roster/read-roster.ts';
import type { Target } from './target.ts';

/** The rows of a plan, as those of a roster; what it retires is none. */
export function rosterOf({ rows }: ReviewedPlan): CheckedRoster<LicenseFields> {
  const own = rows.flatMap(({ change, remote_user, app_code, size_allowance }, index) =>
    change === 'retire' ? [] : [{ row: { remote_user, app_code, size_allowance }, line: index + 2 }],
  );
  const sha256 = createHash('sha256').update(writeJson(rows)).digest('hex');
  return { rows: own.map(({ row }) => row), lines: own.map(({ line }) => line), others: [], sha256 };
}

/** How a decision differs from the plan. */
export function differencesTo({ rows }: ReviewedPlan): NonNullable<KnownUsers['differs']> {
  const planned = new Map(rows.flatMap((row) => (row.change === 'retire' ? [] : [[userKey(row), row] as const])));
  return (user, decision) => {
    const row = planned.get(userKey(user));
    return row && differenceTo(row, decision);
  };
}

/** @throws Failure config where the plan was made for another server */
export function refuseOtherTargets(targets: readonly Target[], plan: ReviewedPlan, file: string): void {
  const servers = new Map(plan.targets.map(({ app_code, server }) => [app_code, server]));
  const other = targets.find(({ app_code, origin }) => servers.get(app_code) !== origin);
  if (!other) return;
  const { app_code, origin } = other;
  throw new Failure(
    'config',
    `${file} is a plan for ${servers.get(app_code) ?? '?'}, and the credential is for ${origin}`,
    {
      hint: 'Name the profile of that server with --profile.',
    },
  );
}
