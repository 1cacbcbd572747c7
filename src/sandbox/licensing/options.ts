import type { Fields, Values } from '../../schema/field.ts';
import { namesIn } from '../../core/table-names.ts';
import { errorShapeNames, nameChangeNames, type BodyShape } from './license-body.ts';
import { writeShapeNames, type WriteShapeName } from './write-shapes.ts';
import { listShapeNames, type ListShapeName } from './list-shapes.ts';

/** How answers look whose form the specification leaves open; each choice is a server that a client may meet. */
export interface LicenseShape extends BodyShape {
  /** What follows a POST, PUT or PATCH; default `license`. */
  readonly write?: WriteShapeName | undefined;
  /** Default `array`. A `limit` or `page` in the query makes pages of it. */
  readonly list?: ListShapeName | undefined;
  /** Most rows of a page; default 100. */
  readonly pageSize?: number | undefined;
  /** Origin of the links between pages; default our own. */
  readonly nextOrigin?: string;
  /** What a list does with `remote_user` and `app_code`; default `changed`. */
  readonly filters?: keyof typeof filterRules | undefined;
  /** JSON texts are taken for numbers, and numbers for texts. */
  readonly lenient?: boolean;
}

/** What a list can do with its filters; `sandbox serve --help` and the manual show them. */
export const filterRules = {
  changed: { means: 'the name of a filter is changed as --names says before it is compared' },
  exact: { means: 'the name of a filter is compared as it was sent' },
  ignored: { means: 'a list takes no notice of filters' },
} as const;

const filterNames = namesIn(filterRules);

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
export function licensingVariant(options: Values<typeof licensingOptions>) {
  const { list_shape, page_size, error_shape, write_shape, names, filters, stale = 0, lenient = false } = options;
  return {
    licenseShape: {
      lenient,
      ...{ list: list_shape, pageSize: page_size, error: error_shape, write: write_shape, names, filters },
    },
    stale,
  };
}
