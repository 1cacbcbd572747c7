import { choiceField, countField, type Fields, type Values } from '../../schema/field.ts';
import type { LicenseRecord } from '../records.ts';

/** Forms of answers that the specification leaves open: each choice is a server that a client may meet. */
export const shapeOptions = {
  list_shape: choiceField(
    ['array', 'next', 'data', 'masked'],
    'NAME',
    'Lists of licenses: array; next (pages with the URL of the next one); data (all rows under data, with their total); or masked (an array with masked keys) (default: array)',
  ),
  page_size: countField('N', 'Most licenses on a page (default: 100)'),
  write_shape: choiceField(
    ['license', 'nothing'],
    'NAME',
    'Changes of licenses: license (the response is the changed license); or nothing (not made, and the response has no field of it) (default: license)',
  ),
  names: choiceField(['lower'], 'lower', 'Keep names of users in lower case'),
  filters: choiceField(['ignored'], 'ignored', 'Ignore the filters of lists'),
  stale: {
    kind: 'duration',
    placeholder: 'DURATION',
    help: 'How long lists take to show a license after it was created or changed (default: at once)',
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
