import { keyOf } from '../../api/licensing/license-key.ts';
import type { License, UserLicenses } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { formatDuration } from '../../core/duration.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { createLicense, type Settling } from './create-license.ts';
import { whileClaimed, type ClaimedUser, type ClaimingUser } from './claim-users.ts';
import { decide, severalWarning, type Decision, type SimilarNames } from './decide.ts';

export interface Ensuring extends Settling, ClaimingUser {
  readonly similar: SimilarNames;
}

export interface EnsuredLicense {
  readonly outcome: 'created' | 'resized' | 'unchanged';
  readonly license: License;
}

type EnsuringApi = Pick<LicensingApi, 'create' | 'ofUser' | 'update'>;

/**
 * Makes sure that the user has one license of that size: creates it, resizes it, or leaves it. Safe to repeat, and safe beside other
 * processes of this machine, or of every machine with the same ledger.
 * @throws Failure incomplete or rejected where the list does not allow to create; unknown where a POST cannot be confirmed
 */
export function ensureLicense(api: EnsuringApi, fields: LicenseFields, ensuring: Ensuring): Promise<EnsuredLicense> {
  return whileClaimed(fields.remote_user, ensuring, (user) => ensure(api, fields, user, ensuring));
}

async function ensure(
  api: EnsuringApi,
  fields: LicenseFields,
  user: ClaimedUser,
  ensuring: Ensuring,
): Promise<EnsuredLicense> {
  const { listed, decision } = await look(api, fields, user, ensuring);
  if (decision.step === 'refused') throw decision.failure;
  if (decision.step === 'create') {
    const license = await user.post((posting) => createLicense(api, fields, listed, { ...ensuring, posting }));
    return { outcome: 'created', license };
  }
  if (decision.hasSeveral) ensuring.warn(severalWarning(fields));
  if (decision.step === 'unchanged') return { outcome: 'unchanged', license: decision.license };
  const { size_allowance } = fields;
  return { outcome: 'resized', license: await api.update(keyOf(decision.license), { size_allowance }) };
}

interface FoundLicenses {
  readonly listed: UserLicenses;
  readonly decision: Decision;
}

/** Nothing is created on a list that is read less than `settle` after an earlier POST (docs/exactly-once.md, Lists that lag). */
async function look(
  api: EnsuringApi,
  fields: LicenseFields,
  user: ClaimedUser,
  ensuring: Ensuring,
): Promise<FoundLicenses> {
  const { lastPost = -Infinity } = user;
  const { settle, elapsed, sleep, note, similar } = ensuring;
  const wait = lastPost + settle - elapsed();
  const first = await listFor(api, fields, similar);
  if (first.decision.step !== 'create' || wait <= 0) return first;
  note(`an earlier run asked for a license of ${fields.remote_user}: listing again in ${formatDuration(wait)}`);
  await sleep(wait);
  return listFor(api, fields, similar);
}

async function listFor(api: EnsuringApi, fields: LicenseFields, similar: SimilarNames): Promise<FoundLicenses> {
  const { remote_user, app_code } = fields;
  const listed = await api.ofUser({ remote_user, app_code });
  return { listed, decision: decide(listed, fields, similar) };
}
