import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../core/json.ts';
import type { Field } from '../../schema/field.ts';
import { foldersOf } from '../../store/disk/folders.ts';

/**
 * Answers `chatelaine __complete SHELL …`: for `bash` COMP_WORDBREAKS and the line up to the cursor, for others the
 * words (PowerShell puts `=` before the last). `file` is dist/commands.json. Loads nothing of what runs a command.
 */
export function answer([shell = '', ...typed]: readonly string[], file: string): string {
  const surface: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!isSurface(surface)) throw new Error(`${file} is not what the build wrote`);
  const [breaks = '', line = ''] = typed;
  const last = typed.at(-1) ?? '';
  const current = shell === 'powershell' ? last.slice(1) : last;
  const read = shell === 'bash' ? readBashLine(line) : { words: typed.slice(0, -1), current };
  if (!read) return answerFor(shell, { kind: 'files', offers: [] }, 0);
  const found = complete(surface, read.words, read.current, profileNames);
  // bash replaces only what follows its last word break.
  const kept = Math.max(...Array.from(breaks, (sign) => read.current.lastIndexOf(sign) + 1));
  return answerFor(shell, found, shell === 'bash' ? kept : 0);
}

function isSurface(value: unknown): value is Surface {
  return isObject(value) && ['groups', 'commands', 'options'].every((name) => Array.isArray(value[name]));
}

/** Splits a line of bash into the words before the cursor and the one at it; undefined behind `>` or `<`. */
export function readBashLine(line: string) {
  const found = [...line.matchAll(/(?:[^\s'"\\]|\\.?|'[^']*'?|"(?:[^"\\]|\\.?)*"?)+/gs)];
  const last = found.at(-1);
  const isAtWord = last !== undefined && last.index + last[0].length === line.length;
  const current = isAtWord ? last[0] : '';
  const before = (isAtWord ? found.slice(0, -1) : found).map(([word]) => word);
  if (/^\d*[<>]/.test(current) || /^\d*[<>]+$/.test(before.at(-1) ?? '')) return undefined;
  return { words: before.slice(1), current };
}

/** The answer to a script: its first line says what the word can be, each other line is an offer. */
export function answerFor(shell: string, { kind, offers }: Completion, kept: number): string {
  const lines = offers.map(({ word, text }) => {
    if (shell === 'bash') return word.slice(kept);
    // A colon ends the word for zsh.
    const [offered, separator] = shell === 'zsh' ? [word.replaceAll(':', '\\:'), ':'] : [word, '\t'];
    return text === '' ? offered : `${offered}${separator}${text}`;
  });
  return [kind, ...lines, ''].join('\n');
}

/** The names of the stored profiles; none where their file cannot be read. */
function profileNames(): readonly string[] {
  const { config } = foldersOf({ env: process.env, platform: process.platform, home: homedir() });
  try {
    const content: unknown = JSON.parse(textOf(join(config, 'config.json')));
    return isObject(content) && isObject(content['profiles']) ? Object.keys(content['profiles']) : [];
  } catch {
    return [];
  }
}

/** Reads regular files only: a FIFO or a device in place of the file would block the user's shell. */
function textOf(file: string): string {
  const opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return fstatSync(opened).isFile() ? readFileSync(opened, 'utf8') : '';
  } finally {
    closeSync(opened);
  }
}

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

type SurfaceField = Omit<TextField, 'kind'> & { readonly name: string; readonly kind: string };

type SurfaceOption = SurfaceField & { readonly option: string };

/** A word that completion offers, and what it means; the text is empty where nothing is to be said. */
type Offer = Readonly<Record<'word' | 'text', string>>;

/** Offers for the word at the cursor, or the kind of a path. */
interface Completion {
  readonly kind: 'words' | 'files' | 'folders';
  readonly offers: readonly Offer[];
}

type ProfileNames = () => readonly string[];

/** Offers only words that no shell has to quote. */
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
  /** The command's own options, followed by the global ones that have other names. */
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
      // In a word of several letters, only the last one can have its value in the next word.
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
