import { sizeOf, textOf, type License } from '../../api/licensing/license.ts';
import { licenseFields, retiredName } from '../../schema/license.ts';
import type { LicenseUser } from '../../store/record/writes.ts';

export function userKey({ app_code, remote_user }: LicenseUser): string {
  return `${app_code} ${remote_user}`;
}

export type Licenses = readonly [License, ...License[]];

export function groupBy<T, K>(all: Iterable<T>, keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) if (!groups.get(keyOf(one))?.push(one)) groups.set(keyOf(one), [one]);
  return groups;
}

/** Up to this many users are looked up one by one; more are read in one list first. */
export const fewUsers = 20;

export const smallest = licenseFields.size_allowance.min;

/** Whether a license has the name and the size that `retiredFields` gave it, on whatever computer. */
export function isRetired(license: License): boolean {
  const name = textOf(license, 'remote_user') ?? '';
  const end = `-${license.key?.slice(-4) ?? ''}`.toLowerCase();
  return retiredName.test(name) && name.toLowerCase().endsWith(end) && sizeOf(license) === smallest;
}
