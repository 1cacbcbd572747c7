import type { License } from '../records.ts';

/** How answers look whose form the specification leaves open; each choice is a server that a client may meet. */
export interface LicenseShape {
  /** Name of the field that holds the key; default `license_code`. */
  readonly keyField?: string;
  /** `key`: one license is the bare string of its key. */
  readonly one?: 'whole' | 'key';
  /** What follows a POST; default the license as `one` has it. */
  readonly afterPost?: 'license' | 'empty' | 'no content';
  /** `wrapped` is `{licenses: […]}`. A `limit` or `page` in the query makes pages of an array. */
  readonly list?: 'array' | 'pages' | 'wrapped';
  /** Rows of a list: `anonymous` lacks `remote_user` and `app_code`, `keys` are bare strings. */
  readonly rows?: 'whole' | 'anonymous' | 'keys';
  /** Most rows of a page; default 100. */
  readonly pageSize?: number;
  /** Origin of the links between pages; default our own. */
  readonly nextOrigin?: string;
  /** Every page names itself as the next. */
  readonly nextRepeats?: boolean;
  /** The list takes no notice of `remote_user` and `app_code`. */
  readonly ignoresFilters?: boolean;
  /** What a sensor gets that no license activated: a 404, or that body with 200. */
  readonly noActivation?: '404' | 'null' | '[]' | '{}' | 'empty';
}

export function bodyOf(license: License, shape: LicenseShape): unknown {
  return shape.one === 'key' ? license.license_code : named(license, shape);
}

export function rowOf(license: License, shape: LicenseShape): unknown {
  if (shape.rows === 'keys') return license.license_code;
  const row = named(license, shape);
  if (shape.rows !== 'anonymous') return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'remote_user' && name !== 'app_code'));
}

function named(
  { license_code, ...fields }: License,
  { keyField = 'license_code' }: LicenseShape,
): Record<string, unknown> {
  return { [keyField]: license_code, ...fields };
}
