import { distinct, type License, type UserLicenses } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseUser } from './claim-users.ts';

/** What a look at the server shows of one user (docs/exactly-once.md, What a POST needs). */
export type LookupResult = (
  | { readonly shows: 'licenses'; readonly licenses: readonly [License, ...License[]] }
  /** Licenses of names that the server may have made of the user's, and none of that name itself. */
  | { readonly shows: 'near'; readonly licenses: readonly [License, ...License[]] }
  | { readonly shows: 'nothing' }
  | { readonly shows: 'incomplete'; readonly failure: Failure }
) &
  Pick<UserLicenses, 'unfiltered'>;

export const nothing: LookupResult = { shows: 'nothing' };

/** One user by the filter of the server. @param near similar names in a list @throws Failure of a list that fails */
export async function lookUp(
  api: Pick<LicensingApi, 'ofUser'>,
  { remote_user, app_code }: LicenseUser,
  near: readonly License[] = [],
): Promise<LookupResult> {
  try {
    return withNear(lookupResult(await api.ofUser({ remote_user, app_code })), near);
  } catch (failure) {
    if (failure instanceof Failure && failure.kind === 'incomplete') return { shows: 'incomplete', failure };
    throw failure;
  }
}

export function lookupResult({ exact, near, unfiltered }: UserLicenses): LookupResult {
  const [[one, ...more], [similar, ...others]] = [exact, near];
  if (one) return { shows: 'licenses', licenses: [one, ...more], unfiltered };
  if (similar) return { shows: 'near', licenses: [similar, ...others], unfiltered };
  return unfiltered ? { shows: 'nothing', unfiltered } : nothing;
}

/** Similar names count as long as no license of the very name is shown. */
export function withNear(result: LookupResult, near: readonly License[]): LookupResult {
  if (result.shows === 'licenses' || result.shows === 'incomplete') return result;
  const both = distinct(result.shows === 'near' ? [...result.licenses, ...near] : near);
  return lookupResult({ exact: [], near: both, unfiltered: result.unfiltered });
}
