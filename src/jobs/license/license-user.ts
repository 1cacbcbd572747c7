import type { License } from '../../api/licensing/license.ts';
import type { LicenseFields } from '../../schema/license.ts';

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
