import { labelled, usage } from '../core/failure.ts';
import { textField, type Fields } from './field.ts';
import { fragmentOf, isUrl } from './link.ts';
import { percentDecoded } from './url.ts';

/** The level that brought navigation views (docs/apis.md, Navigation views). */
export const viewLevel = 390;

/** Views that every user has; they cannot have a custom name (docs/apis.md, Navigation views). */
export const builtInViews = [
  'inbox',
  'recent',
  'feed',
  'drafts',
  'scheduled',
  'reminders',
  'narrow/has/reaction/sender/me',
  'narrow/is/mentioned',
  'narrow/is/starred',
] as const;

export const viewFields = {
  fragment: {
    ...textField('FRAGMENT', "What follows # in the view's URL, with or without #, or the complete URL"),
    required: true,
    suggest: builtInViews,
  },
} as const satisfies Fields;

/** Reads a fragment as view list prints it, or decodes a pasted one. @throws Failure usage if it changes the path */
export function readFragment(text: string, site: string | undefined): string {
  const [, pasted] = /^\/?#(.*)$/s.exec(text.trim()) ?? [];
  const linked = isUrl(text) ? labelled(`fragment '${text}'`, () => fragmentOf(text, site)) : pasted;
  const fragment = linked === undefined ? text.trim() : percentDecoded(linked);
  // The last segment of narrow/channel/5/topic/ is the empty topic; a proxy would merge the slashes of any other.
  const segments = fragment.replace(/(?<=\/(?:topic|subject))\/$/, '').split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw usage(
      `fragment '${text}': empty, '.' and '..' segments are not allowed`,
      'Write what follows # in the URL, such as narrow/is/starred.',
    );
  return fragment;
}

/** A custom view's name without outer blanks. @throws Failure usage for a blank name, and for one on a built-in view */
export function readViewName(fragment: string, text: string): string {
  const name = text.trim();
  if (name === '') throw usage(`fragment '${fragment}': the name is blank`);
  const builtIn: readonly string[] = builtInViews;
  if (builtIn.includes(fragment))
    throw usage(`fragment '${fragment}': a built-in view cannot have a custom name`, 'Pin or hide it instead.');
  return name;
}
