import { usage } from '../core/failure.ts';
import type { Field, Fields } from './field.ts';
import { suggestion } from './nearest.ts';
import { otherWords, removedSettings, settings } from './settings.ts';

/** A setting by its wire name. */
export interface NamedSetting {
  readonly name: string;
  readonly field: Field;
}

/** Settings whose name, values, help or other words contain every one of the words, in the order of the table. */
export function settingsMatching(words: readonly string[]): NamedSetting[] {
  const wanted = words.map(searchable);
  return Object.entries<Field>(settings).flatMap(([name, field]) => {
    const text = searchable(textOf(name, field));
    return wanted.every((word) => text.includes(word)) ? [{ name, field }] : [];
  });
}

/**
 * The setting of that name; dashes are accepted for underscores.
 * @throws Failure usage naming what replaced a removed one, else the nearest by spelling or meaning
 */
export function settingNamed(typed: string): NamedSetting {
  const name = typed.replaceAll('-', '_');
  const removed = Object.hasOwn(removedSettings, name) ? removedSettings[name] : undefined;
  if (removed !== undefined) throw usage(removed);
  const known: Fields = settings;
  const field = Object.hasOwn(known, name) ? known[name] : undefined;
  if (field) return { name, field };
  throw usage(`unknown name '${typed}'`, hintFor(name));
}

/** How many settings a hint names; of more, it names the command that lists them. */
const mostNamed = 3;

/** The settings whose name contains the word, else the nearest by spelling, else those that mean it. */
function hintFor(name: string): string {
  const words = name.split('_').filter((word) => word.length > 1);
  const means = words.length === 0 ? [] : settingsMatching(words).map((setting) => setting.name);
  const contains = means.filter((known) => known.includes(name));
  const slip = contains.length === 0 ? suggestion(name, Object.keys(settings)) : undefined;
  if (slip !== undefined) return slip;
  if (means.length === 0) return 'See chatelaine settings list for the names.';
  const found = contains.length > 0 ? contains : means;
  if (found.length > mostNamed) return `See chatelaine settings list ${words.join(' ')}.`;
  return `Did you mean ${found.join(' or ')}?`;
}

function textOf(name: string, field: Field): string {
  const choices = field.kind === 'string' ? (field.choices ?? []) : [];
  const names = field.kind === 'integer' ? Object.keys(field.names ?? {}) : choices;
  const others: Readonly<Record<string, string>> = otherWords;
  return [name, ...names, field.help, Object.hasOwn(others, name) ? others[name] : ''].join(' ');
}

/** Case, and blanks, dashes or underscores between words, make no difference. */
function searchable(text: string): string {
  return text.toLowerCase().replaceAll(/[-_\s]+/g, ' ');
}
