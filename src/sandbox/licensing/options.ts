import type { Milliseconds } from '../../core/duration.ts';
import type { Fields, Values } from '../../schema/field.ts';
import { errorShapeNames } from './error-shapes.ts';
import { listShapeNames } from './list-shapes.ts';
import { nameChangeNames } from './name-changes.ts';
import { filterNames, type LicenseShape } from './shape.ts';
import { writeShapeNames } from './write-shapes.ts';

/** The options that choose which server the licensing service behaves like. */
export const licensingOptions = {
  list_shape: {
    kind: 'string',
    choices: listShapeNames,
    placeholder: 'NAME',
    help: `Lists of licenses: ${listShapeNames.join(', ')} (default: array)`,
  },
  page_size: { kind: 'integer', min: 1, placeholder: 'N', help: 'Most licenses of a page (default: 100)' },
  error_shape: {
    kind: 'string',
    choices: errorShapeNames,
    placeholder: 'NAME',
    help: `Licensing errors come with status 200, as ${errorShapeNames.join(', ')} (default: with their own status)`,
  },
  write_shape: {
    kind: 'string',
    choices: writeShapeNames,
    placeholder: 'NAME',
    help: `Answers to creating or changing a license: ${writeShapeNames.join(', ')} (default: license)`,
  },
  names: {
    kind: 'string',
    choices: nameChangeNames,
    placeholder: 'CHANGE',
    help: `Names of users are changed: ${nameChangeNames.join(', ')} (default: they are not)`,
  },
  filters: {
    kind: 'string',
    choices: filterNames,
    placeholder: 'RULE',
    help: `Filters of lists are ${filterNames.join(', ')} (default: changed)`,
  },
  stale: {
    kind: 'duration',
    placeholder: 'DURATION',
    help: 'Lists show a license only that long after it was created or changed (default: at once)',
  },
  lenient: { kind: 'boolean', help: 'Take "3" for 3 and 3 for "3" in JSON, as some servers do' },
} as const satisfies Fields;

/** The server that the options describe. */
export function licensingVariant(options: Values<typeof licensingOptions>): {
  readonly licenseShape: LicenseShape;
  readonly stale: Milliseconds;
} {
  const { list_shape, page_size, error_shape, write_shape, names, filters, stale = 0, lenient = false } = options;
  return {
    licenseShape: {
      lenient,
      ...(list_shape === undefined ? {} : { list: list_shape }),
      ...(page_size === undefined ? {} : { pageSize: page_size }),
      ...(error_shape === undefined ? {} : { error: error_shape }),
      ...(write_shape === undefined ? {} : { write: write_shape }),
      ...(names === undefined ? {} : { names }),
      ...(filters === undefined ? {} : { filters }),
    },
    stale,
  };
}
