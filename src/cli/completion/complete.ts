import { namesIn } from '../../core/table-names.ts';
import { namedValues, type Field } from '../../schema/field.ts';
import { settings } from '../../schema/settings.ts';

/** The part of `commands -o json` that completion reads. The build keeps it in dist/commands.json. */
export interface Surface {
  readonly groups: readonly NamedText[];
  readonly commands: readonly SurfaceCommand[];
  readonly options: readonly SurfaceOption[];
}

interface NamedText {
  readonly name: string;
  readonly summary: string;
}

interface SurfaceCommand extends NamedText {
  readonly arguments: readonly SurfaceField[];
  readonly options: readonly SurfaceOption[];
  readonly formats: readonly string[];
}

type TextField = Extract<Field, { readonly kind: 'string' }>;

type SurfaceField = Pick<TextField, 'help' | 'many' | 'placeholder' | 'choices' | 'suggest'> & {
  readonly name: string;
  readonly kind: string;
  readonly names?: Readonly<Record<string, number>>;
};

type SurfaceOption = SurfaceField & Pick<TextField, 'short' | 'negatable'> & { readonly option: string };

/** A word that completion offers, and what it means; the text is empty where nothing is to be said. */
export interface Offer {
  readonly word: string;
  readonly text: string;
}

/** Offers for the word at the cursor, or the kind of a path. */
export interface Completion {
  readonly kind: 'words' | 'files' | 'folders';
  readonly offers: readonly Offer[];
}

type ProfileNames = () => readonly string[];

/** Offers only words that no shell quotes: where the word at the cursor has a quote, nothing but files. */
export function complete(
  surface: Surface,
  words: readonly string[],
  current: string,
  profiles: ProfileNames,
): Completion {
  const line = readLine(surface, words);
  if (!line) return { kind: 'words', offers: [] };
  const found = at(surface, line, current, profiles);
  const offers = found.offers.filter(({ word }) => /^[\w./:=,+-]+$/.test(word) && word.startsWith(current));
  return { ...found, offers };
}

interface TypedWords {
  readonly path: readonly string[];
  /** Undefined where the words name no command yet. */
  readonly command: SurfaceCommand | undefined;
  /** Own and global ones; a command's own comes first. */
  readonly options: readonly SurfaceOption[];
  /** Options that were typed. */
  readonly given: ReadonlySet<SurfaceOption>;
  /** The option whose value comes next. */
  readonly pending: SurfaceOption | undefined;
  readonly typed: readonly string[];
  readonly isEnded: boolean;
}

/** Reads the words of a line before the cursor, without the program's name; undefined where they name no command. */
function readLine(surface: Surface, words: readonly string[]): TypedWords | undefined {
  const [path, typed]: [string[], string[]] = [[], []];
  const given = new Set<SurfaceOption>();
  let pending: SurfaceOption | undefined;
  let isEnded = false;
  for (const word of words[0] === 'help' ? words.slice(1) : words) {
    const start = [...path, word].join(' ');
    if (pending) pending = undefined;
    else if (!isEnded && word === '--') isEnded = true;
    else if (!isEnded && /^-./.test(word)) {
      // Of letters in one word the last one may have a value behind it.
      const spellings = word.startsWith('--')
        ? [word.replace(/=.*/s, '')]
        : Array.from(word.slice(1), (one) => `-${one}`);
      const found = spellings.map((one) => optionNamed(optionsAt(surface, path), one));
      for (const option of found) if (option) given.add(option);
      const valued = found.findIndex((option) => option && option.kind !== 'boolean');
      pending = valued === found.length - 1 && !word.includes('=') ? found[valued] : undefined;
    } else if (typed.length === 0 && surface.commands.some(({ name }) => `${name} `.startsWith(`${start} `)))
      path.push(word);
    else if (path.length === 0) return undefined;
    else typed.push(word);
  }
  const command = surface.commands.find(({ name }) => name === path.join(' '));
  return { path, command, options: optionsAt(surface, path), given, pending, typed, isEnded };
}

function optionsAt(surface: Surface, path: readonly string[]): readonly SurfaceOption[] {
  const nounOptions = surface.commands.find(({ name }) => name === path.join(' '))?.options ?? [];
  const names = new Set(nounOptions.map(({ option }) => option));
  return [...nounOptions, ...surface.options.filter(({ option }) => !names.has(option))];
}

function optionNamed(options: readonly SurfaceOption[], spelling: string): SurfaceOption | undefined {
  const positive = spelling.replace(/^--no-/, '--');
  return options.find(({ option, short }) => option === spelling || short === spelling || option === positive);
}

function at(surface: Surface, line: TypedWords, current: string, profiles: ProfileNames): Completion {
  const { pending, isEnded, options, command, typed } = line;
  if (pending) return valueAt(pending, current, line, profiles);
  const [, flag, text = ''] = isEnded ? [] : (/^(--[^=]+)=(.*)$/s.exec(current) ?? []);
  if (flag !== undefined) {
    const option = options.find((known) => known.option === flag);
    const found = option ? valueAt(option, text, line, profiles) : { kind: 'words' as const, offers: [] };
    return { ...found, offers: found.offers.map((offer) => ({ ...offer, word: `${flag}=${offer.word}` })) };
  }
  if (!isEnded && current.startsWith('-')) return { kind: 'words', offers: optionOffers(line, options) };
  const verbs = typed.length === 0 ? commandOffers(surface, line.path) : [];
  const args = command?.arguments ?? [];
  const argument = args[typed.length] ?? (args.at(-1)?.many ? args.at(-1) : undefined);
  if (argument) {
    const found = valueAt(argument, current, line, profiles);
    return { ...found, offers: [...verbs, ...found.offers] };
  }
  const optionsHere = command && !isEnded ? optionOffers(line, command.options) : [];
  return { kind: 'words', offers: verbs.length > 0 ? verbs : optionsHere };
}

function commandOffers(surface: Surface, path: readonly string[]): Offer[] {
  const start = path.map((word) => `${word} `).join('');
  const below = surface.commands.filter(({ name }) => name.startsWith(start));
  const words = new Set(below.map(({ name }) => name.slice(start.length).split(' ')[0] ?? ''));
  const meanings = [...(path.length === 0 ? surface.groups : []), ...surface.commands];
  return [...words].map((word) => ({
    word,
    text: meanings.find(({ name }) => name === start + word)?.summary ?? '',
  }));
}

function optionOffers({ given }: TypedWords, options: readonly SurfaceOption[]): Offer[] {
  return options
    .filter((option) => option.many === true || !given.has(option))
    .flatMap(({ option, negatable, help: text }) => [
      { word: option, text },
      ...(negatable ? [{ word: option.replace('--', '--no-'), text: `Not: ${text}` }] : []),
    ]);
}

function valueAt(field: SurfaceField, text: string, line: TypedWords, profiles: ProfileNames): Completion {
  const { placeholder = '' } = field;
  if (placeholder === 'DIR') return { kind: 'folders', offers: [] };
  if (placeholder === 'FILE' || placeholder === 'PATH') return { kind: 'files', offers: [] };
  const words = ofCommand(field, line);
  return { kind: 'words', offers: words ? plainly(words) : valuesOf(field, text, profiles) };
}

/** The values of a global option that depend on the command: its formats. */
function ofCommand(field: SurfaceField, { command }: TypedWords): readonly string[] | undefined {
  if (!command || command.options.some((option) => option === field)) return undefined;
  return field.name === 'output' ? [...(field.choices ?? []), ...command.formats] : undefined;
}

function valuesOf({ choices, names, suggest }: Partial<SurfaceField>, current: string, profiles: ProfileNames) {
  if (choices) return plainly(choices);
  if (names) return namedValues({ names }).map(({ name, value }) => ({ word: name, text: String(value) }));
  if (suggest === 'assignments') return assignments(current);
  if (suggest === 'settings') return plainly(namesIn(settings));
  return plainly(suggest === 'profiles' ? profiles() : (suggest ?? []));
}

function plainly(words: readonly string[]): Offer[] {
  return words.map((word) => ({ word, text: '' }));
}

/** `color_scheme=` and then its values; a password is never written behind its name. */
function assignments(current: string): Offer[] {
  return Object.entries<Field>(settings).flatMap(([name, field]) => {
    const { kind, help: text } = field;
    if (!current.startsWith(`${name}=`)) return [{ word: kind === 'secret' ? name : `${name}=`, text }];
    const values = kind === 'boolean' ? plainly(['true', 'false']) : valuesOf({ ...field }, '', () => []);
    return values.map((offer) => ({ ...offer, word: `${name}=${offer.word}` }));
  });
}
