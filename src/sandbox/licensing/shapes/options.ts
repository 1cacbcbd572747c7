import type { Fields, Values } from '../../../schema/field.ts';
import { namesIn } from '../../../core/table-names.ts';
import { cacheShapes } from './cache.ts';
import { errorShapes, nameChanges, type BodyShape } from './license-body.ts';
import { writeShapes } from './write-shapes.ts';
import { listShapes } from './list-shapes.ts';

/** Ways of a list with its filters; `sandbox serve --help` and the manual show them. */
export const filterRules = {
  changed: { means: 'the name of a filter is changed as --names says before it is compared' },
  exact: { means: 'the name of a filter is compared as it was sent' },
  ignored: { means: 'a list takes no notice of filters' },
  twice: { means: 'the name of a filter is decoded twice, then compared as it was sent' },
  blank: { means: 'a + in the name of a filter is read as a blank, then compared as it was sent' },
} as const;

/**
 * The options that choose which server the licensing service behaves like. Help hides them: they are for tests of
 * clients, and the manual explains each.
 */
export const licensingOptions = {
  list_shape: oneOf(listShapes, 'NAME', 'Lists of licenses:', 'array'),
  page_size: {
    kind: 'integer',
    min: 1,
    placeholder: 'N',
    hidden: true,
    help: 'Most licenses of a page (default: 100)',
  },
  error_shape: oneOf(errorShapes, 'NAME', 'Licensing errors come with status 200, as', 'with their own status'),
  write_shape: oneOf(writeShapes, 'NAME', 'Answers to creating or changing a license:', 'license'),
  names: oneOf(nameChanges, 'CHANGE', 'Names of users are changed:', 'they are not'),
  filters: oneOf(filterRules, 'RULE', 'Filters of lists are', 'changed'),
  stale: {
    kind: 'duration',
    placeholder: 'DURATION',
    hidden: true,
    help: 'Lists show a license only that long after it was created or changed (default: at once)',
  },
  cache: {
    kind: 'duration',
    placeholder: 'DURATION',
    hidden: true,
    help: 'A cache in front of the licensing API answers a GET that long as it was answered before (default: none)',
  },
  cache_shape: oneOf(cacheShapes, 'NAME', 'The cache:', 'age'),
  lenient: { kind: 'boolean', hidden: true, help: 'Take "3" for 3 and 3 for "3" in JSON, as some servers do' },
} as const satisfies Fields;

function oneOf<T extends object>(rows: T, placeholder: string, leads: string, usual: string) {
  const choices = namesIn(rows);
  const help = `${leads} ${choices.join(', ')} (default: ${usual})`;
  return { kind: 'string', choices, placeholder, hidden: true, help } as const;
}

/** How answers look whose form the specification leaves open; each choice is a server that a client may meet. */
export interface LicenseShape extends BodyShape, Values<typeof licensingOptions> {
  /** Origin of the links between pages; default our own. */
  readonly nextOrigin?: string;
}
