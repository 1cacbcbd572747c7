import { sizeOf, textOf } from '../../api/licensing/license.ts';
import { likenessOfApp } from '../../api/licensing/likeness.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import { licenseFields, retiredName, type LicenseFields } from '../../schema/license.ts';
import { nameIndex } from './listed-users.ts';
import { groupBy, isRetired, smallest } from './license-user.ts';

/** The fields of a retired license: a name that no other license has, unless it has one already; the smallest size. */
export function retiredFields(user: string, code: string, now: number) {
  const [begin, end] = [`left-${new Date(now).toISOString().slice(0, 7)}-`, `-${code.slice(-4)}`];
  // The name of a license is ASCII (docs/apis.md, Licensing answers): é becomes e, and other characters become _.
  const plain = user
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/\P{ASCII}/gu, '_');
  const name = begin + plain.slice(0, licenseFields.remote_user.below - 1 - begin.length - end.length) + end;
  return { remote_user: retiredName.test(user) ? user : name, size_allowance: smallest };
}

export interface MissingUser extends LicenseFields {
  readonly key: string;
}

/**
 * Finds the licenses, not yet retired, whose user is in no row. `similar`: users whose names are like one of a row.
 * @throws Failure incomplete where a list is not whole; unavailable where it does not say whose the licenses are
 */
export async function missingUsers(
  rows: readonly LicenseFields[],
  licensing: (app_code: number) => Pick<LicensingApi, 'list'>,
) {
  const missing = new Map<string, MissingUser>();
  const similar = new Map<string, { readonly listed: string; readonly row: string }>();
  const active = new Set<string>();
  for (const [app_code, users] of groupBy(rows, (row) => row.app_code)) {
    const wanted = new Set(users.map((user) => user.remote_user));
    const candidatesOf = nameIndex(wanted);
    for await (const license of licensing(app_code).list({ app_code }, 'whole')) {
      const { key } = license;
      const remote_user = textOf(license, 'remote_user');
      if (key === undefined || remote_user === undefined)
        throw new Failure('unavailable', 'a license in the list lacks its user or key: no user can be called missing');
      if (isRetired(license) || likenessOfApp(license, app_code) !== 'exact') continue;
      active.add(key);
      const user = { remote_user, app_code, size_allowance: sizeOf(license) ?? 0, key };
      const [row] = candidatesOf(remote_user);
      if (wanted.has(remote_user)) continue;
      if (row === undefined) missing.set(key, user);
      else similar.set(remote_user, { listed: remote_user, row });
    }
  }
  return { missing: [...missing.values()], similar: [...similar.values()], active: active.size };
}
