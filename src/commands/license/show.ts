import { findKey, keyOf, type License } from '../../api/licensing/license-key.ts';
import { Failure } from '../../core/failure.ts';
import type { Show } from '../../output/show.ts';
import { licenseColumns } from '../../schema/license.ts';

/** How licenses look: the key first, whatever the server calls its field. */
export const licenseShow = {
  columns: licenseColumns,
  others: true,
  whole: ['license_code'],
  cell: (license, column) => (column === 'license_code' ? keyCell(license) : undefined),
  consumed: (license) => [findKey(license) ?? 'license_code'],
} satisfies Show<License>;

/** The key as a cell; undefined where no field is known to be it. */
export function keyCell(license: License): unknown {
  const name = findKey(license);
  return name === undefined ? undefined : license[name];
}

/** `-q`: the key and nothing else. */
export const keyAlone = { quiet: (license: License) => keyOf(license) } satisfies Show<License>;

/** A key that cannot be told apart must not read as "safe to run again": the license is there. */
export function createdKey(license: License): string {
  try {
    return keyOf(license);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    throw new Failure('unknown', `the license is there; ${cause.message}`, { ...cause.details, cause });
  }
}
