import type { Field } from '../../schema/field.ts';

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
};

type SurfaceOption = SurfaceField & Pick<TextField, 'short'> & { readonly option: string };

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
  /** The option whose value comes next. */
  readonly pending: SurfaceOption | undefined;
  readonly typed: readonly string[];
  readonly isEnded: boolean;
}

/** Reads the words of a line before the cursor, without the program's name; undefined where they name no command. */
function readLine(surface: Surface, words: readonly string[]): TypedWords | undefined {
  const [path, typed]: [string[], string[]] = [[], []];
  let pending: SurfaceOption | undefined;
  let isEnded = false;
  for (const word of words[0] === 'help' ? words.slice(1) : words) {
    const start = [...path, word].join(' ');
    if (pending) pending = undefined;
    else if (!isEnded && word === '--') isEnded = true;
    else if (!isEnded && /^-./.test(word)) {
      // Of letters in one word the last one may have a value behind it.
      const spelling = word.startsWith('--') ? word : `-${word.at(-1) ?? ''}`;
      const option = optionsAt(surface, path).find((one) => one.option === spelling || one.short === spelling);
      pending = option?.kind === 'boolean' ? undefined : option;
    } else if (typed.length === 0 && surface.commands.some(({ name }) => `${name} `.startsWith(`${start} `)))
      path.push(word);
    else if (path.length === 0) return undefined;
    else typed.push(word);
  }
  const command = surface.commands.find(({ name }) => name === path.join(' '));
  return { path, command, options: optionsAt(surface, path), pending, typed, isEnded };
}

function optionsAt(surface: Surface, path: readonly string[]): readonly SurfaceOption[] {
  const own = surface.commands.find(({ name }) => name === path.join(' '))?.options ?? [];
  return [...own, ...surface.options.filter(({ option }) => own.every((one) => one.option !== option))];
}

function at(surface: Surface, line: TypedWords, current: string, profiles: ProfileNames): Completion {
  const { pending, isEnded, options, command, typed } = line;
  if (pending) return valueAt(pending, line, profiles);
  const [, flag] = isEnded ? [] : (/^(--[^=]+)=/.exec(current) ?? []);
  if (flag !== undefined) {
    const option = options.find((known) => known.option === flag);
    const found = option ? valueAt(option, line, profiles) : ({ kind: 'words', offers: [] } as const);
    return { ...found, offers: found.offers.map((offer) => ({ ...offer, word: `${flag}=${offer.word}` })) };
  }
  if (!isEnded && current.startsWith('-')) return { kind: 'words', offers: optionOffers(options) };
  const verbs = typed.length === 0 ? commandOffers(surface, line.path) : [];
  const args = command?.arguments ?? [];
  const argument = args[typed.length] ?? (args.at(-1)?.many ? args.at(-1) : undefined);
  if (argument) {
    const found = valueAt(argument, line, profiles);
    return { ...found, offers: [...verbs, ...found.offers] };
  }
  const optionsHere = command && !isEnded ? optionOffers(command.options) : [];
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

function optionOffers(options: readonly SurfaceOption[]): Offer[] {
  return options.map(({ option, help: text }) => ({ word: option, text }));
}

function valueAt(field: SurfaceField, { command }: TypedWords, profiles: ProfileNames): Completion {
  const { name, placeholder = '', choices, suggest = [] } = field;
  if (placeholder === 'DIR') return { kind: 'folders', offers: [] };
  if (placeholder === 'FILE' || placeholder === 'PATH') return { kind: 'files', offers: [] };
  const isOwn = command?.options.some((option) => option === field) === true;
  const formats = name === 'output' && !isOwn ? (command?.formats ?? []) : [];
  const words = choices ? [...choices, ...formats] : suggest === 'profiles' ? profiles() : suggest;
  return { kind: 'words', offers: words.map((word) => ({ word, text: '' })) };
}
