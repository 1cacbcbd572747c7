import type { LicenseRecord } from '../records.ts';
import type { ErrorShapeName } from './error-shapes.ts';
import { shownNames, type NameChangeName } from './name-changes.ts';

/** How one license, or the error about it, looks in an answer. */
export interface BodyShape {
  /** Name of the field that holds the key; default `license_code`. */
  readonly keyField?: string;
  /** `key`: one license is the bare string of its key. */
  readonly one?: 'whole' | 'key';
  /** How names are changed before they are kept; default: they are not. */
  readonly names?: NameChangeName;
  /** Errors come with status 200 in this form; default: with their own status. */
  readonly error?: ErrorShapeName;
  /** Rows of a list: `anonymous` lacks `remote_user` and `app_code`, `keys` are bare strings. */
  readonly rows?: 'whole' | 'anonymous' | 'keys';
}

/** A license as the body of an answer. */
export function bodyOf(license: LicenseRecord, shape: BodyShape): unknown {
  return shape.one === 'key' ? license.license_code : named(license, shape);
}

/** A license as a row of a list. */
export function rowOf(license: LicenseRecord, shape: BodyShape): unknown {
  if (shape.rows === 'keys') return license.license_code;
  const row = named(license, shape);
  if (shape.rows !== 'anonymous') return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'remote_user' && name !== 'app_code'));
}

function named(license: LicenseRecord, { keyField = 'license_code', names }: BodyShape): Record<string, unknown> {
  const { license_code, ...fields } = license;
  return { [keyField]: license_code, ...fields, ...shownNames(license, names) };
}
