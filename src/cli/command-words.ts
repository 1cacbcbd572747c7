import { commandTable, nouns, type CommandEntry } from '../commands/index.ts';
import { usage } from '../core/failure.ts';

/** The words of a line without the word `help`, which is the option of that name. */
export function withoutHelpWord(words: readonly string[]): { words: readonly string[]; isHelp: boolean } {
  const [first = '', second, ...rest] = words;
  if (first === 'help') return { words: inFull(words.slice(1)), isHelp: true };
  const isHelp = second === 'help' && Object.hasOwn(nouns, first);
  return { words: isHelp ? [first, ...rest] : words, isHelp };
}

/** Words that mean one command are its name: `retire` is `license retire`, `delete topic` is `topic delete`. */
function inFull(words: readonly string[]): readonly string[] {
  const [first = ''] = words;
  if (words.length === 1 && Object.hasOwn(nouns, first)) return words;
  const isMeant = ({ name }: CommandEntry): boolean =>
    name === otherWords.get(words.join(' ')) || words.every((word) => name.split(' ').includes(word));
  const [meant, ...more] = words.length === 0 ? [] : commandTable.filter(isMeant);
  return meant === undefined || more.length > 0 ? words : meant.name.split(' ');
}

/**
 * The words of the command or noun. Found first, so that an unknown command does not show another's help. `option`:
 * one that belongs behind a command, and what follows it. @throws Failure usage with near names
 */
export async function commandWords(
  { words, isHelp }: ReturnType<typeof withoutHelpWord>,
  [option = '', next]: readonly string[],
) {
  const [noun, verb] = words;
  if (noun === undefined) return [];
  const names = commandTable.map(({ name }) => name);
  const isCommand = names.includes(noun);
  const shown = names.filter((name) => name.startsWith(`${noun} `)).map((name) => name.slice(noun.length + 1));
  if (verb !== undefined && shown.includes(verb)) return [noun, verb];
  if (isCommand) return [noun];
  const flag = next === undefined ? undefined : /^--[^=]+/.exec(option)?.[0];
  if (shown.length > 0 && verb === undefined) {
    if (flag === undefined) return [noun];
    throw usage(`chatelaine ${noun} needs a command before ${flag}`, `Commands of ${noun}: ${shown.join(', ')}.`);
  }
  const { unknownCommand } = await import('./other-words.ts');
  const asked = isHelp ? words : [];
  if (shown.length > 0) throw await unknownCommand(verb ?? '', shown, { noun, asked });
  const known = new Set(names.map((name) => name.replace(/ .*/, '')));
  throw await unknownCommand(noun, [...known], { other: otherWords.get(noun), asked });
}

/** Commands by the words of other tools. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ['whoami', 'auth status'],
  ['keys', 'license list'],
  ['users', 'license list'],
  ['config', 'auth list, auth login or doctor'],
  ['purge', 'topic delete'],
  ['search', 'messages fetch --search WORDS'],
]);
