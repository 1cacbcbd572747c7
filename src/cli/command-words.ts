import { commandTable, nouns } from '../commands/index.ts';
import { usage } from '../core/failure.ts';

/** The words of a line without the word `help`, which is the option of that name. */
export function withoutHelpWord(words: readonly string[]): { words: readonly string[]; isHelp: boolean } {
  const [first = '', second, ...rest] = words;
  if (first === 'help') return { words: inFull(words.slice(1)), isHelp: true };
  const isHelp = second === 'help' && Object.hasOwn(nouns, first);
  return { words: isHelp ? [first, ...rest] : words, isHelp };
}

/** A word that means one command is its name: `retire` is `license retire`, `purge` is `topic delete`. */
function inFull(words: readonly string[]): readonly string[] {
  const [word = '', ...others] = words;
  const names = commandTable.map(({ name }) => name);
  if (others.length > 0 || Object.hasOwn(nouns, word) || names.includes(word)) return words;
  const [meant, ...more] = names.filter((name) => name === otherWords.get(word) || name.endsWith(` ${word}`));
  return meant === undefined || more.length > 0 ? words : meant.split(' ');
}

/**
 * The words of the command or noun. Found first, so that an unknown command does not show another's help. `option`:
 * one that belongs behind a command, and what follows it. @throws Failure usage with near names
 */
export async function commandWords([noun, verb]: readonly string[], [option = '', next]: readonly string[]) {
  if (noun === undefined) return [];
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
  const flag = next === undefined ? undefined : /^--[^=]+/.exec(option)?.[0];
  if (verb === undefined && flag !== undefined && !isCommand)
    throw usage(`chatelaine ${noun} needs a command before ${flag}`, `Commands of ${noun}: ${shown.join(', ')}.`);
  if (verb === undefined || isCommand) return [noun];
  const { unknownCommand } = await import('./other-words.ts');
  throw unknownCommand(verb, shown, { noun });
}

/** Commands by the words of other tools. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ['whoami', 'auth status'],
  ['undo', 'license undo or settings undo'],
  ['history', 'license history or topic history'],
  ['keys', 'license list'],
  ['users', 'license list'],
  ['config', 'auth list, auth login or doctor'],
  ['rename', 'license rename or view rename'],
  ['purge', 'topic delete'],
  ['search', 'messages fetch --search WORDS'],
]);
