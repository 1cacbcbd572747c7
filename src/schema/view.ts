import { usage } from '../core/failure.ts';
import type { Fields } from './field.ts';

/** The level that brought navigation views (specification, PATCH /navigation_views). */
export const viewLevel = 390;

/** PATCH /navigation_views/{fragment} (specification, Endpoints). */
export const viewFields = {
  fragment: {
    kind: 'string',
    required: true,
    nonempty: true,
    placeholder: 'FRAGMENT',
    help: "What follows # in the view's URL, such as narrow/is/starred",
  },
  is_pinned: { kind: 'boolean', help: 'Pinned (true) or hidden in the menu (false)' },
  name: {
    kind: 'string',
    nonempty: true,
    placeholder: 'NAME',
    help: 'Name of a custom view; built-in views have none',
  },
} as const satisfies Fields;

/**
 * A fragment that a proxy cannot turn into another path (facts page, 1.5).
 * @throws Failure usage
 */
export function readFragment(text: string): string {
  const segments = text.split('/');
  if (/^[#/]/.test(text))
    throw usage(`fragment '${text}': must not begin with # or /`, `Write ${text.replace(/^[#/]+/, '')}.`);
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw usage(`fragment '${text}': empty, '.' and '..' segments are not allowed`);
  }
  return text;
}
