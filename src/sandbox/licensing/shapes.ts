import { choiceField, type Fields, type Values } from '../../schema/field.ts';
import type { LicenseRecord } from '../records.ts';

/** Forms of answers that the specification leaves open: each choice is a server that a client may meet. */
export const shapeOptions = {
  list_shape: choiceField(
    ['array', 'next', 'data', 'masked'],
    'NAME',
    'Lists of licenses: an array; pages with the URL of the next one; all rows under data, with their total; or an array with masked keys (default: array)',
  ),
  page_size: {
    kind: 'integer',
    min: 1,
    placeholder: 'N',
    hidden: true,
    help: 'Most licenses of a page (default: 100)',
  },
  write_shape: choiceField(
    ['license', 'nothing'],
    'NAME',
    'Changes of licenses are made and answered with the license; or not made, and answered with no field of it (default: license)',
  ),
  names: choiceField(['lower'], 'lower', 'Keep names of users in lower case'),
  filters: choiceField(['ignored'], 'ignored', 'Ignore the filters of lists'),
  stale: {
    kind: 'duration',
    placeholder: 'DURATION',
    help: 'Lists show a license only that long after it was created or changed (default: at once)',
  },
} as const satisfies Fields;

export type LicenseShape = Values<typeof shapeOptions>;

/** A license as a row of a list. */
export function rowOf(license: LicenseRecord, { list_shape }: LicenseShape): LicenseRecord {
  if (list_shape !== 'masked') return license;
  return { ...license, license_code: license.license_code.replace(/[^-](?=.*-)/g, '*') };
}

/** The name under which the server keeps a user. */
export function keptName(name: string, { names }: LicenseShape): string {
  return names === 'lower' ? name.toLowerCase() : name;
}
