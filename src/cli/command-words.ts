import { commandTable, hiddenCommands, nouns, type CommandEntry } from '../commands/index.ts';
import { usage } from '../core/failure.ts';

/** The words of a line without the word `help`, which is the option of that name. */
export function withoutHelpWord(words: readonly string[]): { words: readonly string[]; isHelp: boolean } {
  const [first = '', second, ...rest] = words;
  if (first === 'help') return { words: inFull(words.slice(1)), isHelp: true };
  const isHelp = second === 'help' && nounNamed(first) !== undefined;
  return { words: isHelp ? [first, ...rest] : words, isHelp };
}

/** Words that mean one command are its name: `retire` is `license retire`, `delete topic` is `topic delete`. */
function inFull(words: readonly string[]): readonly string[] {
  const [first = ''] = words;
  if (words.length === 1 && nounNamed(first) !== undefined) return words;
  const isMeant = ({ name }: CommandEntry): boolean => words.every((word) => name.split(' ').includes(word));
  const [meant, ...more] = words.length === 0 ? [] : commandTable.filter(isMeant);
  return meant === undefined || more.length > 0 ? words : meant.name.split(' ');
}

/** The noun of a word in either number: `topics` is `topic`. */
function nounNamed(word: string): string | undefined {
  return [word, `${word}s`, word.replace(/s$/, '')].find((one) => Object.hasOwn(nouns, one));
}

/** Verbs that only read. */
const reading: ReadonlySet<string> = new Set('list view get describe status fetch history audit verify'.split(' '));

/** Verbs of other tools that run where the noun has one of these, in this order. */
const readingWords: ReadonlyMap<string, readonly string[]> = new Map([
  ['ls', ['list']],
  ['show', ['view', 'get', 'status', 'fetch']],
  ['get', ['view', 'status', 'fetch']],
]);

/**
 * The words of the command or noun. Found first, so that an unknown command does not show another's help. `option`:
 * one that belongs behind a command, and what follows it. @throws Failure usage with near names
 */
export async function commandWords(
  { words }: ReturnType<typeof withoutHelpWord>,
  [option = '', next]: readonly string[],
): Promise<readonly string[]> {
  const [typed, verb] = words;
  if (typed === undefined) return [];
  const names = commandTable.map(({ name }) => name);
  const noun = nounNamed(typed) ?? typed;
  const verbs = names.filter((name) => name.startsWith(`${noun} `)).map((name) => name.slice(noun.length + 1));
  const meant = readingWords.get(verb ?? '')?.find((one) => verbs.includes(one));
  const own = verb !== undefined && verbs.includes(verb) ? verb : meant;
  if (own !== undefined && (noun === typed || reading.has(own))) return [noun, own];
  if (hiddenCommands.some(({ name }) => name === `${noun} ${verb ?? ''}`)) return [noun, verb ?? ''];
  if (own !== undefined) throw usage(`unknown command '${typed}'`, `Did you mean ${noun} ${own}?`);
  if (names.includes(noun)) return [noun];
  const flag = next === undefined ? undefined : /^--[^=]+/.exec(option)?.[0];
  if (verbs.length > 0 && verb === undefined) {
    if (flag === undefined) return [noun];
    throw usage(`chatelaine ${noun} needs a command before ${flag}`, `Commands of ${noun}: ${verbs.join(', ')}.`);
  }
  const { unknownCommand } = await import('./other-words.ts');
  if (verbs.length > 0) throw unknownCommand(verb ?? '', verbs, noun);
  throw unknownCommand(typed, [...new Set(names.map((name) => name.replace(/ .*/, '')))]);
}
