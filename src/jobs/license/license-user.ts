import { sizeOf, textOf, type License } from '../../api/licensing/license.ts';
import { licenseFields, retiredName, type LicenseFields } from '../../schema/license.ts';

export type LicenseUser = Pick<LicenseFields, 'app_code' | 'remote_user'>;

export function userKey({ app_code, remote_user }: LicenseUser): string {
  return `${app_code} ${remote_user}`;
}

export type Licenses = readonly [License, ...License[]];

export function usersOfEachApp(rows: readonly LicenseUser[]): Map<number, string[]> {
  const users = new Map<number, string[]>();
  for (const { app_code, remote_user } of rows)
    if (!users.get(app_code)?.push(remote_user)) users.set(app_code, [remote_user]);
  return users;
}

export const smallest = licenseFields.size_allowance.min;

/** Whether a license has the name and the size that `retiredFields` gave it, on whatever computer. */
export function isRetired(license: License): boolean {
  const name = textOf(license, 'remote_user') ?? '';
  const end = `-${license.key?.slice(-4) ?? ''}`.toLowerCase();
  return retiredName.test(name) && name.toLowerCase().endsWith(end) && sizeOf(license) === smallest;
}
