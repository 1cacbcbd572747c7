import { distinct, type License, type UserLicenses } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseUser } from './claim-users.ts';

/** What a look at the server shows of one user (docs/exactly-once.md, What a POST needs). */
export type Sight = (
  | { readonly shows: 'licenses'; readonly licenses: readonly [License, ...License[]] }
  /** Licenses of names that the server may have made of the user's, and none of that name itself. */
  | { readonly shows: 'near'; readonly licenses: readonly [License, ...License[]] }
  | { readonly shows: 'nothing' }
  /** The look did not show everything. */
  | { readonly shows: 'gap'; readonly failure: Failure }
) &
  Pick<UserLicenses, 'unfiltered'>;

export const nothing: Sight = { shows: 'nothing' };

/** One user by the filter of the server. @throws Failure of a list that cannot be read at all */
export async function lookUp(
  api: Pick<LicensingApi, 'ofUser'>,
  { remote_user, app_code }: LicenseUser,
): Promise<Sight> {
  try {
    return sightOf(await api.ofUser({ remote_user, app_code }));
  } catch (failure) {
    if (failure instanceof Failure && failure.kind === 'incomplete') return { shows: 'gap', failure };
    throw failure;
  }
}

export function sightOf({ exact: [one, ...more], near: [near, ...others], unfiltered }: UserLicenses): Sight {
  if (one) return { shows: 'licenses', licenses: [one, ...more], unfiltered };
  if (near) return { shows: 'near', licenses: [near, ...others], unfiltered };
  return unfiltered ? { shows: 'nothing', unfiltered } : nothing;
}

/** Similar names count as long as no license of the very name is shown. */
export function withNear(sight: Sight, near: readonly License[]): Sight {
  if (sight.shows === 'licenses' || sight.shows === 'gap') return sight;
  const both = distinct(sight.shows === 'near' ? [...sight.licenses, ...near] : near);
  return sightOf({ exact: [], near: both, unfiltered: sight.unfiltered });
}
