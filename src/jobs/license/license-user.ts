import type { Creation } from '../../api/licensing/license-writes.ts';
import { distinct, type License, type LicenseHolder, type UserLicenses } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Clock } from '../../core/system.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { PostEnd } from '../../store/request-history.ts';
import type { WorkMessages } from '../work/work-messages.ts';

export type LicenseUser = Pick<LicenseFields, 'app_code' | 'remote_user'>;

export function userKey({ app_code, remote_user }: LicenseHolder): string {
  return `${app_code} ${remote_user}`;
}

export type Licenses = readonly [License, ...License[]];

export function usersOfEachApp(rows: readonly LicenseUser[]): Map<number, string[]> {
  const users = new Map<number, string[]>();
  for (const { app_code, remote_user } of rows)
    if (!users.get(app_code)?.push(remote_user)) users.set(app_code, [remote_user]);
  return users;
}

/** What a lookup shows of one user (docs/exactly-once.md, What a POST needs). */
export type FormerResult = (
  | { readonly shows: 'licenses'; readonly licenses: Licenses }
  /** Licenses of names that the server may have made of the user's, and none of that name itself. */
  | { readonly shows: 'near'; readonly licenses: Licenses }
  | { readonly shows: 'nothing' }
  | { readonly shows: 'incomplete'; readonly failure: Failure }
) &
  Pick<UserLicenses, 'unfiltered' | 'misread'>;

export const nothing: FormerResult = { shows: 'nothing' };

/** One user by the filter of the server. @param near similar names in a list @throws Failure of a list that fails */
export async function lookUp(
  api: Pick<LicensingApi, 'ofUser'>,
  { remote_user, app_code }: LicenseUser,
  near: readonly License[] = [],
): Promise<FormerResult> {
  try {
    return withNear(lookupResult(await api.ofUser({ remote_user, app_code }, 'tell')), near);
  } catch (failure) {
    if (failure instanceof Failure && failure.kind === 'incomplete') return { shows: 'incomplete', failure };
    throw failure;
  }
}

export function lookupResult({ exact, near, ...how }: UserLicenses): FormerResult {
  const [[one, ...more], [similar, ...others]] = [exact, near];
  if (one) return { shows: 'licenses', licenses: [one, ...more], ...how };
  if (similar) return { shows: 'near', licenses: [similar, ...others], ...how };
  return how.unfiltered || how.misread !== undefined ? { shows: 'nothing', ...how } : nothing;
}

/** The licenses of similar names that a lookup shows. */
export function nearIn(result: { readonly shows: string; readonly licenses?: readonly License[] }): readonly License[] {
  return result.shows === 'near' ? (result.licenses ?? []) : [];
}

/** Similar names count as long as no license of the very name is shown. */
export function withNear(result: FormerResult, near: readonly License[]): FormerResult {
  if (result.shows === 'licenses' || result.shows === 'incomplete') return result;
  const both = distinct(result.shows === 'near' ? [...result.licenses, ...near] : near);
  return lookupResult({ exact: [], near: both, unfiltered: result.unfiltered, misread: result.misread });
}

/** How a run waits, and talks. */
export type Settling = Pick<Clock, 'now' | 'elapsed' | 'sleep'> & Pick<WorkMessages, 'note' | 'warn'>;

/** How a POST ended, after so many in a row without an answer. */
export function endOf(creation: Creation, time: Milliseconds, unanswered: number): PostEnd {
  if (creation.state !== 'answered') return { event: 'ended', time, unanswered };
  const { http, license } = creation;
  // No license code, but enough to find the license.
  return { event: 'answered', status: http.status, time, key_end: license?.key?.slice(-4) };
}

/** What to do where a list lacks licenses that the server has answered. */
export const cutHint =
  'Each further license could be a second one. Ask who runs the server for a filter by user, or for a whole list.';

/** A claim that cannot be given back, on a full disk for example, only makes later runs wait. */
export const unreleased = 'later runs for the same users will wait a little';

/** An answer that cannot be recorded, where the ledger was lost for example, is confirmed all the same. */
export const unrecorded = 'what was answered is not recorded there for later runs';
