import type { License } from '../../api/licensing/license.ts';
import { keyOf } from '../../api/licensing/license-key.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { formatDuration } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { fingerprintsOf, type Fingerprints } from '../../core/fingerprints.ts';
import { gather } from '../../core/gather.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Claims } from '../../store/lock/claims.ts';
import { decide, severalWarning } from './census.ts';
import { createLicense, type Settling } from './create-license.ts';

export interface Ensuring extends Settling {
  readonly warn: (text: string) => void;
}

/**
 * Makes sure that the user has one license of that size: creates it, resizes it, or leaves it. Safe to repeat, and safe beside other
 * processes of this machine. After one that died at work it waits until the server must have committed what that one asked for.
 * @throws Failure unknown in doubt, and the failures of the calls
 */
export async function ensureLicense(
  api: LicensingApi,
  fields: LicenseFields,
  claims: Claims,
  ensuring: Ensuring,
): Promise<License> {
  const { settle, sleep, note } = ensuring;
  const user = fingerprintsOf([fields.remote_user]);
  const abandoned = await claims.take(user);
  try {
    if (abandoned.size > 0) {
      note(`an earlier run ended while it was at work on ${fields.remote_user}: waiting ${formatDuration(settle)}`);
      await sleep(settle);
    }
    const license = await bringAbout(api, fields, ensuring);
    await freeOrTell(claims, user, ensuring);
    return license;
  } catch (cause) {
    if (cause instanceof Failure && isKnown(cause)) await freeOrTell(claims, user, ensuring);
    throw cause;
  }
}

/** A claim that cannot be given back, for a full disk perhaps, only makes later runs wait: what was done is told all the same. */
export async function freeOrTell(claims: Claims, users: Fingerprints, { warn }: Pick<Ensuring, 'warn'>): Promise<void> {
  try {
    await claims.free(users);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    warn(`${cause.message}; later runs for the same users will wait a little`);
  }
}

async function bringAbout(api: LicensingApi, fields: LicenseFields, ensuring: Ensuring): Promise<License> {
  const { remote_user, app_code, size_allowance } = fields;
  const decision = decide(await gather(api.list({ remote_user, app_code })), fields);
  if (decision.step === 'create') return createLicense(api, fields, ensuring);
  if (decision.several) ensuring.warn(severalWarning(fields));
  return decision.step === 'unchanged' ? decision.license : api.update(keyOf(decision.license), { size_allowance });
}

/** A claim is kept where a license may still appear: the next run then waits first. */
function isKnown({ kind }: Failure): boolean {
  return kind !== 'unknown' && kind !== 'cancelled' && kind !== 'terminated';
}
