import { plain } from '../../output/plain.ts';
import { namedValues, type Field } from '../../schema/field.ts';
import { narrowOperators, notNegatable } from '../../schema/narrow.ts';
import { settings } from '../../schema/settings.ts';
import { builtInViews } from '../../schema/view.ts';
import {
  commandAt,
  readLine,
  type ReadWords,
  type Offer,
  type Surface,
  type SurfaceField,
  type SurfaceOption,
} from './reading.ts';

/** Offers for the word at the cursor, or the kind of a path. */
export interface Completion {
  readonly kind: 'words' | 'files' | 'folders';
  readonly offers: readonly Offer[];
}

/** Offers only words that a terminal shows unchanged, each on a harmless line: a break would begin another offer. */
export function complete(
  surface: Surface,
  words: readonly string[],
  current: string,
  profiles: NameSource,
): Completion {
  const reading = readLine(surface, words);
  if (!reading) return { kind: 'words', offers: [] };
  const found = at(surface, reading, current, profiles);
  const offers = found.offers.filter(({ word }) => word !== '' && plain(word) === word && word.startsWith(current));
  return { ...found, offers };
}

type NameSource = () => readonly string[];

function at(surface: Surface, reading: ReadWords, current: string, profiles: NameSource): Completion {
  const { pending, isEnded, options } = reading;
  if (pending) return valueAt(pending, current, reading, profiles);
  const [, flag, text = ''] = isEnded ? [] : (/^(--[^=]+)=(.*)$/s.exec(current) ?? []);
  if (flag !== undefined) return attachedAt(flag, text, reading, profiles);
  if (!isEnded && current.startsWith('-')) return { kind: 'words', offers: optionOffers(reading, options) };
  return wordAt(surface, reading, current, profiles);
}

function valueAt(field: SurfaceField, text: string, reading: ReadWords, profiles: NameSource): Completion {
  const path = pathOf(field);
  if (path) return { kind: path, offers: [] };
  return { kind: 'words', offers: valuesOf(withOwnValues(field, text, reading), text, profiles) };
}

function attachedAt(flag: string, text: string, reading: ReadWords, profiles: NameSource): Completion {
  const option = reading.options.find((known) => known.option === flag);
  if (!option) return { kind: 'words', offers: [] };
  const found = valueAt(option, text, reading, profiles);
  return { ...found, offers: found.offers.map((offer) => ({ ...offer, word: `${flag}=${offer.word}` })) };
}

/** A word of the command's name or an argument; where neither is expected, an option of the command. */
function wordAt(surface: Surface, reading: ReadWords, current: string, profiles: NameSource): Completion {
  const { command, argument, typed, isEnded, path } = reading;
  const verbs = typed.length === 0 ? commandOffers(surface, path) : [];
  if (argument) {
    const found = valueAt(argument, current, reading, profiles);
    return { ...found, offers: [...verbs, ...found.offers] };
  }
  const own = command && !isEnded ? optionOffers(reading, command.options) : [];
  return { kind: 'words', offers: verbs.length > 0 ? verbs : own };
}

/** The values of a global option that depend on the command: its formats, and the names of its fields. */
function withOwnValues(field: SurfaceField, text: string, { command }: ReadWords): SurfaceField {
  const isOwn = command?.options.some((option) => option === field) === true;
  if (!command || isOwn) return field;
  const { formats, fields } = command;
  if (field.name === 'output') return { ...field, choices: [...(field.choices ?? []), ...formats] };
  if (field.name === 'fields') return { ...field, choices: lists(text, fields) };
  if (field.name === 'sort')
    return { ...field, choices: fields.map((name) => (text.startsWith('-') ? `-${name}` : name)) };
  return field;
}

/** The comma-separated list that was typed so far, with each name that is not in it yet as its last. */
function lists(text: string, names: readonly string[]): readonly string[] {
  const done = text.split(',').slice(0, -1);
  return names.filter((name) => !done.includes(name)).map((name) => [...done, name].join(','));
}

function commandOffers(surface: Surface, path: readonly string[]): Offer[] {
  const start = path.map((word) => `${word} `).join('');
  const below = surface.commands.filter(({ name }) => name.startsWith(start) && name !== start);
  const words = new Set(below.map(({ name }) => name.slice(start.length).split(' ')[0] ?? ''));
  return [...words].map((word) => ({ word, text: meaningOf(surface, [...path, word]) }));
}

function meaningOf(surface: Surface, path: readonly string[]): string {
  const group = path.length === 1 ? surface.groups.find(({ name }) => name === path[0]) : undefined;
  return (group ?? commandAt(surface, path))?.summary ?? '';
}

function optionOffers({ given }: ReadWords, options: readonly SurfaceOption[]): Offer[] {
  return options
    .filter(({ option, many }) => many === true || !given.has(option))
    .flatMap(({ option, negatable, help: text }) => [
      { word: option, text },
      ...(negatable ? [{ word: option.replace('--', '--no-'), text: `Not: ${text}` }] : []),
    ]);
}

function valuesOf({ choices, names, suggest }: Partial<SurfaceField>, current: string, profiles: NameSource) {
  if (choices) return plainly(choices);
  if (names) return namedValues({ names }).map(({ name, value }) => ({ word: name, text: String(value) }));
  if (typeof suggest === 'object') return plainly(suggest);
  if (suggest === undefined) return [];
  if (suggest === 'settings') return Object.entries<Field>(settings).map(([word, { help: text }]) => ({ word, text }));
  if (suggest === 'assignments') return assignments(current);
  if (suggest === 'terms') return terms(current, profiles);
  return plainly(suggest === 'views' ? builtInViews : profiles());
}

function pathOf({ placeholder }: Pick<SurfaceField, 'placeholder'>): 'files' | 'folders' | undefined {
  if (placeholder === 'DIR') return 'folders';
  return placeholder === 'FILE' || placeholder === 'PATH' ? 'files' : undefined;
}

function plainly(words: readonly string[]): Offer[] {
  return words.map((word) => ({ word, text: '' }));
}

/** `color_scheme=` and then its values; a password is never written behind its name. */
function assignments(current: string): Offer[] {
  return pairs(current, Object.entries<Field>(settings), (field, name) => {
    if (name === 'timezone') return plainly(Intl.supportedValuesOf('timeZone'));
    return field.kind === 'boolean' ? plainly(['true', 'false']) : valuesOf({ ...field }, '', () => []);
  });
}

/** `sender=`, `is=starred`: operators that a server can negate. */
function terms(current: string, profiles: NameSource): Offer[] {
  const operators = Object.entries<Field>(narrowOperators).map(
    ([name, field]) => [name.replaceAll('_', '-'), field] as const,
  );
  const negatable = operators.filter(([operator]) => !notNegatable.has(operator));
  return pairs(current, negatable, (field) => valuesOf({ ...field }, '', profiles));
}

/** `name=`, or the values of a name that is typed with its sign of equality. */
function pairs(
  current: string,
  fields: readonly (readonly [name: string, field: Field])[],
  offersFor: (field: Field, name: string) => readonly Offer[],
): Offer[] {
  if (!current.includes('='))
    return fields.map(([name, { kind, help: text }]) => ({ word: kind === 'secret' ? name : `${name}=`, text }));
  return fields.flatMap(([name, field]) =>
    current.startsWith(`${name}=`)
      ? offersFor(field, name).map((offer) => ({ ...offer, word: `${name}=${offer.word}` }))
      : [],
  );
}
