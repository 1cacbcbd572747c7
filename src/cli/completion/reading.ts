import type { Field } from '../../schema/field.ts';

export interface ReadWords {
  readonly path: readonly string[];
  /** Undefined where the words name no command yet. */
  readonly command: SurfaceCommand | undefined;
  /** Own and global ones; a command's own comes first. */
  readonly options: readonly SurfaceOption[];
  /** Options that were typed, each with its last value, which is empty for one without. */
  readonly given: ReadonlyMap<string, string>;
  /** The option whose value comes next. */
  readonly pending: SurfaceOption | undefined;
  readonly typed: readonly string[];
  readonly argument: SurfaceField | undefined;
  readonly isEnded: boolean;
}

/** Reads the words of a line before the cursor, without the program's name; undefined where they name no command. */
export function readLine(surface: Surface, words: readonly string[]): ReadWords | undefined {
  const rest = words[0] === 'help' ? words.slice(1) : words;
  const path: string[] = [];
  const typed: string[] = [];
  const given = new Map<string, string>();
  let pending: SurfaceOption | undefined;
  let isEnded = false;
  for (const word of rest) {
    const options = optionsAt(surface, path);
    if (pending) {
      given.set(pending.option, word);
      pending = undefined;
    } else if (!isEnded && word === '--') isEnded = true;
    else if (!isEnded && /^-./.test(word)) pending = readOption(options, word, given);
    else if (typed.length === 0 && isPath(surface, [...path, word])) path.push(word);
    else if (path.length === 0) return undefined;
    else typed.push(word);
  }
  const command = commandAt(surface, path);
  return {
    path,
    command,
    options: optionsAt(surface, path),
    given,
    pending,
    typed,
    argument: argumentAt(command, typed.length),
    isEnded,
  };
}

export function commandAt({ commands }: Surface, path: readonly string[]): SurfaceCommand | undefined {
  return commands.find(({ name }) => name === path.join(' '));
}

function isPath({ commands }: Surface, path: readonly string[]): boolean {
  const start = path.join(' ');
  return commands.some(({ name }) => name === start || name.startsWith(`${start} `));
}

function optionsAt(surface: Surface, path: readonly string[]): readonly SurfaceOption[] {
  const own = commandAt(surface, path)?.options ?? [];
  const names = new Set(own.map(({ option }) => option));
  return [...own, ...surface.options.filter(({ option }) => !names.has(option))];
}

/** Notes an option; itself where its value is the next word. */
function readOption(options: readonly SurfaceOption[], word: string, given: Map<string, string>) {
  const equals = word.indexOf('=');
  const name = equals === -1 ? word : word.slice(0, equals);
  const letters = word.startsWith('--') ? [] : Array.from(word.slice(1), (letter) => `-${letter}`);
  const found = letters.length > 0 ? letters.map((short) => bySpelling(options, short)) : [bySpelling(options, name)];
  const at = found.findIndex((option) => option && option.kind !== 'boolean');
  const attached = letters.length > 0 ? word.slice(at + 2) : word.slice(name.length + 1);
  for (const [index, option] of found.entries()) if (option) given.set(option.option, index === at ? attached : '');
  const isAttached = equals !== -1 || at < found.length - 1;
  return isAttached ? undefined : found[at];
}

function bySpelling(options: readonly SurfaceOption[], spelling: string): SurfaceOption | undefined {
  const positive = spelling.replace(/^--no-/, '--');
  return options.find(({ option, short }) => option === spelling || short === spelling || option === positive);
}

function argumentAt(command: SurfaceCommand | undefined, index: number): SurfaceField | undefined {
  const args = command?.arguments ?? [];
  const last = args.at(-1);
  return args[index] ?? (last?.many ? last : undefined);
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
  readonly fields: readonly string[];
}

export type SurfaceField = Pick<TextField, 'help' | 'many' | 'placeholder' | 'choices' | 'suggest'> & {
  readonly name: string;
  readonly kind: string;
  readonly names?: Readonly<Record<string, number>>;
};

export type SurfaceOption = SurfaceField &
  Pick<TextField, 'short' | 'negatable'> & {
    readonly option: string;
  };

type TextField = Extract<Field, { readonly kind: 'string' }>;

/** A word that completion offers, and what it means; the text is empty where nothing is to be said. */
export interface Offer {
  readonly word: string;
  readonly text: string;
}
