import type { Field } from '../../schema/field.ts';
import { narrowOperators, notNegatable } from '../../schema/narrow.ts';
import { settings } from '../../schema/settings.ts';
import { builtInViews } from '../../schema/view.ts';
import type { Offer, SurfaceField } from './surface.ts';

/** The words that a value can be; `profiles` gives the names of those that are stored here. */
export function valuesOf(
  { choices, names, suggest }: Partial<SurfaceField>,
  current: string,
  profiles: () => readonly string[],
): readonly Offer[] {
  if (choices) return plainly(choices);
  if (names) return namesOf(names);
  if (typeof suggest === 'object') return plainly(suggest);
  if (suggest === 'profiles') return plainly(profiles());
  if (suggest === 'views') return plainly(builtInViews);
  if (suggest === 'settings') return settingNames();
  if (suggest === 'assignments') return assignments(current);
  return suggest === 'terms' ? terms(current) : [];
}

/** Whether a value is a path, by its placeholder in help. */
export function pathOf({ placeholder }: Pick<SurfaceField, 'placeholder'>): 'files' | 'folders' | undefined {
  if (placeholder === 'DIR') return 'folders';
  return placeholder === 'FILE' || placeholder === 'PATH' ? 'files' : undefined;
}

function plainly(words: readonly string[]): Offer[] {
  return words.map((word) => ({ word, text: '' }));
}

/** The first name of each number: the one that is shown. */
function namesOf(names: Readonly<Record<string, number>>): Offer[] {
  const known = Object.entries(names);
  const first = known.filter(([name, number]) => known.find(([, other]) => other === number)?.[0] === name);
  return first.map(([word, number]) => ({ word, text: String(number) }));
}

function settingNames(): Offer[] {
  return Object.entries<Field>(settings).map(([word, { help: text }]) => ({ word, text }));
}

/** `color_scheme=` and then its values; a password is never written behind its name. */
function assignments(current: string): Offer[] {
  const [name = ''] = current.split('=');
  const fields: Readonly<Record<string, Field>> = settings;
  if (current.includes('=')) return behind(name, Object.hasOwn(fields, name) ? settingValues(name, fields[name]) : []);
  return Object.entries(fields).map(([word, { kind, help: text }]) => ({
    word: kind === 'secret' ? word : `${word}=`,
    text,
  }));
}

function settingValues(name: string, field: Field | undefined): readonly Offer[] {
  if (name === 'timezone') return plainly(Intl.supportedValuesOf('timeZone'));
  return field?.kind === 'boolean' ? plainly(['true', 'false']) : valuesOf({ ...field }, '', () => []);
}

/** `sender=`, `is=starred`: operators that a server can negate. */
function terms(current: string): Offer[] {
  const operators = Object.entries<Field>(narrowOperators).map(
    ([name, field]) => [name.replaceAll('_', '-'), field] as const,
  );
  const known = operators.filter(([operator]) => !notNegatable.has(operator));
  const [operator = ''] = current.split('=');
  if (!current.includes('=')) return known.map(([word, { help: text }]) => ({ word: `${word}=`, text }));
  const field = known.find(([name]) => name === operator)?.[1];
  return behind(operator, field ? valuesOf({ ...field }, '', () => []) : []);
}

function behind(name: string, values: readonly Offer[]): Offer[] {
  return values.map(({ word, text }) => ({ word: `${name}=${word}`, text }));
}
