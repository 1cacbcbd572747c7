import { commandTable, nouns } from '../commands/index.ts';
import { usage } from '../core/failure.ts';
import { globalOptions } from '../commands/environment.ts';
import { flagOf, takesWord, type Field } from '../schema/field.ts';
import type { TypedOption } from './values.ts';

/** The line with `help` and `version`, typed as words, as the options that they mean. */
export function withoutHelpWords(argv: readonly string[]): readonly string[] {
  const typed = fromFirstWord(argv);
  const before = argv.slice(0, argv.length - typed.length);
  const [first, second, ...rest] = typed;
  if (first === 'help') return [...before, ...inFull(typed.slice(1)), '--help'];
  if (first === 'version') return ['--version', ...before, ...typed.slice(1)];
  const isNoun = first !== undefined && second === 'help' && Object.hasOwn(nouns, first);
  return isNoun ? [...before, first, ...rest, '--help'] : argv;
}

/** A word that means one command is its name: `retire` is `license retire`, `purge` is `topic delete`. */
function inFull(words: readonly string[]): readonly string[] {
  const [word = '', ...others] = words;
  const names = commandTable.map(({ name }) => name);
  if (others.length > 0 || Object.hasOwn(nouns, word) || names.includes(word)) return words;
  const [meant, ...more] = names.filter((name) => name === otherWords.get(word) || name.endsWith(` ${word}`));
  return meant === undefined || more.length > 0 ? words : meant.split(' ');
}

export function fromFirstWord(argv: readonly string[]): readonly string[] {
  let at = 0;
  while (argv[at]?.startsWith('-') && argv[at] !== '--') at += takesNextWord(argv[at] ?? '') ? 2 : 1;
  return argv.slice(at);
}

/** Found first, so that an unknown command does not show another's help. @throws Failure usage with near names */
export async function commandWords(argv: readonly string[]): Promise<readonly string[]> {
  const [noun, ...behind] = fromFirstWord(argv);
  const [verb] = fromFirstWord(behind);
  if (noun === undefined || noun === '--') return [];
  const names = commandTable.map(({ name }) => name);
  const isCommand = names.includes(noun);
  const shown = names.filter((name) => name.startsWith(`${noun} `)).map((name) => name.slice(noun.length + 1));
  if (!isCommand && shown.length === 0) {
    const first = new Set(names.map((name) => name.split(' ')[0] ?? name));
    // `list` alone is `license list`, `settings list` and more.
    const { unknownCommand } = await import('./other-words.ts');
    const known = [...first, ...names.filter((name) => name.endsWith(` ${noun}`))];
    throw unknownCommand(noun, known, { other: otherWords.get(noun) });
  }
  if (verb !== undefined && shown.includes(verb)) return [noun, verb];
  if (verb === undefined || verb === '--' || isCommand) return [noun];
  const option = strangeOption(behind);
  if (option !== undefined)
    throw usage(`chatelaine ${noun} needs a command before ${option}`, `Commands of ${noun}: ${shown.join(', ')}.`);
  const { unknownCommand } = await import('./other-words.ts');
  throw unknownCommand(verb, shown, { noun });
}

/** An option that belongs behind a command (`messages --channel general`); its next word is no command. */
function strangeOption([word = '']: readonly string[]): string | undefined {
  if (!word.startsWith('--')) return undefined;
  const flag = word.replace(/=.*/s, '');
  const isGlobal = Object.entries<Field>(globalOptions).some(([name, field]) => {
    const own = flagOf(name, field);
    return flag === `--${own}` || flag === `--no-${own}`;
  });
  return isGlobal || flag === '--' || flag === '--help' || flag === '--version' ? undefined : flag;
}

/** The value of an option is the next word; a line's options before its command are those of every command. */
export function takesNextWord(word: string, fields = Object.entries<Field>(globalOptions)): boolean {
  const taking = fields.filter(([, field]) => takesWord(field));
  if (word.startsWith('--'))
    return taking.some(([name, field]) => word.replaceAll('_', '-') === `--${flagOf(name, field)}`);
  const letters = Array.from(word.slice(1));
  const at = letters.findIndex((letter) => taking.some(([, { short }]) => short === letter));
  return at >= 0 && at === letters.length - 1;
}

/** The global options of a line, also of one that cannot be read; behind `--` there are none. */
export function globalsIn(argv: readonly string[]): TypedOption[] {
  const typed: TypedOption[] = [];
  for (let index = 0; index < argv.length && argv[index] !== '--'; index += 1) {
    const word = argv[index] ?? '';
    if (!word.startsWith('-')) continue;
    const next = takesNextWord(word) ? argv[(index += 1)] : undefined;
    const [, flag, text = next] = /^--([^=]+)(?:=([^]*))?$/.exec(word) ?? [];
    if (flag !== undefined) typed.push({ flag: flag.replaceAll('_', '-'), text });
    else typed.push(...lettersIn(word.slice(1), next));
  }
  return typed;
}

/** `-qojson` and `-qo json`: switches, and perhaps one that takes the rest or the next word. */
function lettersIn([letter, ...rest]: string, next: string | undefined): TypedOption[] {
  const row = Object.entries<Field>(globalOptions).find(([, { short }]) => short !== undefined && short === letter);
  if (!row) return [];
  const flag = flagOf(...row);
  if (takesWord(row[1])) return [{ flag, text: rest.length > 0 ? rest.join('') : next }];
  return [{ flag, text: undefined }, ...lettersIn(rest.join(''), next)];
}

/** Commands by the words of other tools. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ['whoami', 'auth status'],
  ['undo', 'license undo'],
  ['history', 'license history'],
  ['keys', 'license list'],
  ['users', 'license list'],
  ['config', 'auth list, auth login or doctor'],
  ['rename', 'license rename or view rename'],
  ['purge', 'topic delete'],
  ['search', 'messages fetch --search WORDS'],
]);
