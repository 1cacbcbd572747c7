import type { License } from '../records.ts';
import type { ErrorShapeName } from './error-shapes.ts';
import type { ListShapeName } from './list-shapes.ts';
import { shownNames, type NameChangeName } from './name-changes.ts';
import type { WriteShapeName } from './write-shapes.ts';

/** How answers look whose form the specification leaves open; each choice is a server that a client may meet. */
export interface LicenseShape {
  /** Name of the field that holds the key; default `license_code`. */
  readonly keyField?: string;
  /** `key`: one license is the bare string of its key. */
  readonly one?: 'whole' | 'key';
  /** What follows a POST, PUT or PATCH; default `license`. */
  readonly write?: WriteShapeName;
  /** Default `array`. A `limit` or `page` in the query makes pages of it. */
  readonly list?: ListShapeName;
  /** Errors come with status 200 in this form; default: with their own status. */
  readonly error?: ErrorShapeName;
  /** How names are changed before they are kept; default: they are not. */
  readonly names?: NameChangeName;
  /** Rows of a list: `anonymous` lacks `remote_user` and `app_code`, `keys` are bare strings. */
  readonly rows?: 'whole' | 'anonymous' | 'keys';
  /** Most rows of a page; default 100. */
  readonly pageSize?: number;
  /** Origin of the links between pages; default our own. */
  readonly nextOrigin?: string;
  /** Every page names itself as the next. */
  readonly nextRepeats?: boolean;
  /** What a list does with `remote_user` and `app_code`; default `changed`. */
  readonly filters?: FilterName;
  /** JSON texts are taken for numbers, and numbers for texts. */
  readonly lenient?: boolean;
  /** What a sensor gets that no license activated: a 404, or that body with 200. */
  readonly noActivation?: '404' | 'null' | '[]' | '{}' | 'empty';
}

/** What a list can do with its filters; `sandbox serve --help` and the manual show them. */
export const filterRules = {
  changed: { means: 'the name of a filter is changed as --names says before it is compared' },
  exact: { means: 'the name of a filter is compared as it was sent' },
  ignored: { means: 'a list takes no notice of filters' },
} as const;

export type FilterName = keyof typeof filterRules;

export const filterNames = Object.keys(filterRules) as FilterName[];

export function bodyOf(license: License, shape: LicenseShape): unknown {
  return shape.one === 'key' ? license.license_code : named(license, shape);
}

export function rowOf(license: License, shape: LicenseShape): unknown {
  if (shape.rows === 'keys') return license.license_code;
  const row = named(license, shape);
  if (shape.rows !== 'anonymous') return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'remote_user' && name !== 'app_code'));
}

function named(license: License, { keyField = 'license_code', names }: LicenseShape): Record<string, unknown> {
  const { license_code, ...fields } = license;
  return { [keyField]: license_code, ...fields, ...shownNames(license, names) };
}
