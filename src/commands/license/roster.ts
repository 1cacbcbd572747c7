import { oncePerUser, readRoster, type CheckedRoster, type RosterSource } from '../../jobs/roster/read-roster.ts';
import { rosterFields, type LicenseFields } from '../../schema/license.ts';
import type { Context } from '../context.ts';
import { ownAppCode } from '../roster.ts';

/**
 * The roster to be applied, every row checked and with its application.
 * @throws Failure usage; config where the run's own application is needed and not known
 */
export function readLicenseRoster(
  source: RosterSource,
  typed: number | undefined,
  context: Context,
): Promise<CheckedRoster<LicenseFields>> {
  return readRoster(source, { fields: rosterFields, ...oncePerUser, completion: ownAppCode(typed, context) });
}
