import { namesIn } from '../../core/table-names.ts';
import type { BodyShape } from './license-body.ts';
import type { ListShapeName } from './list-shapes.ts';
import type { WriteShapeName } from './write-shapes.ts';

/** How answers look whose form the specification leaves open; each choice is a server that a client may meet. */
export interface LicenseShape extends BodyShape {
  /** What follows a POST, PUT or PATCH; default `license`. */
  readonly write?: WriteShapeName;
  /** Default `array`. A `limit` or `page` in the query makes pages of it. */
  readonly list?: ListShapeName;
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

export const filterNames = namesIn(filterRules);
