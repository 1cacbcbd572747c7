import type { License, UserLicenses } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { whileClaimed, type ClaimingUser } from './claim-users.ts';
import { createLicense, type CreatingApi, type Settling } from './create-license.ts';
import { similarTo } from './decide.ts';

export interface CreatingAnother extends Settling, ClaimingUser {}

/**
 * Creates a license even where the user has one, with a warning. The look before it only helps to settle a lost answer.
 * @throws Failure unknown where a POST cannot be confirmed
 */
export function createAnother(api: CreatingApi, fields: LicenseFields, creating: CreatingAnother): Promise<License> {
  return whileClaimed(fields.remote_user, creating, async ({ lastPost = -Infinity, post }) => {
    const isRecent = lastPost + creating.settle > creating.elapsed();
    const before = await lookBefore(api, fields, creating);
    // A license of a moment ago that the list does not show yet could be taken for the new one.
    return post((posting) => createLicense(api, fields, isRecent ? undefined : before, { ...creating, posting }));
  });
}

async function lookBefore(
  api: CreatingApi,
  { remote_user, app_code }: LicenseFields,
  { warn }: CreatingAnother,
): Promise<UserLicenses | undefined> {
  try {
    const before = await api.ofUser({ remote_user, app_code });
    const count = before.exact.length;
    const [near] = before.near;
    if (count > 0)
      warn(
        `${remote_user} already has ${count === 1 ? 'a license' : `${count} licenses`} in application ${app_code}: ` +
          'this creates another; license ensure would not',
      );
    if (count === 0 && near) warn(similarTo(near, remote_user));
    return before;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    warn(`the licenses of ${remote_user} could not be listed: ${cause.message}`);
    return undefined;
  }
}
