import { Command, Option } from 'commander';
import { commandTable } from '../commands/index.ts';
import type { AnyCommand } from '../commands/command.ts';
import type { GlobalValues } from '../commands/context.ts';
import { globalOptions } from '../commands/environment.ts';
import type { Fields } from '../schema/field.ts';
import { commandWords, mistakeIn, withoutHelpWord } from './command-words.ts';
import { commandHelp, helpWidth, nounHelp, optionsHelp, programHelp } from './help.ts';
import { plainWord, spellingsOf, type LineParts, type Spelling } from './spellings.ts';
import { readGlobals, type Texts, type TypedOption } from './values.ts';
import type { Host } from './host.ts';

export interface CommandRequest {
  readonly command: AnyCommand;
  readonly words: Texts;
  /** Options in the order in which they were typed, before and behind the command's name. */
  readonly typed: readonly TypedOption[];
  readonly options: GlobalValues;
}

/** Reads a line by the tables of its command: what it asks for, or a text to print. @throws Failure usage */
export async function readCommandLine(
  argv: readonly string[],
  { system: { env }, version, stdout }: Pick<Host, 'system' | 'version' | 'stdout'>,
): Promise<{ readonly text: string } | CommandRequest> {
  const width = helpWidth(stdout.isTTY ? stdout.columns : undefined);
  const start = partLine(argv, globalOptions);
  if (start.words.join(' ') === 'help options') return { text: optionsHelp(width) };
  const named = withoutHelpWord(start.words);
  if (named.words[0] === 'version') return { text: `chatelaine ${version}\n` };
  const words = commandWords(named.words, start.unknown);
  const command = await commandTable.find(({ name }) => name === words.join(' '))?.load();
  const { args = {}, options: commandOptions = {} } = command ?? {};
  const options: Fields = { ...globalOptions, ...commandOptions };
  const line = partLine(argv, options, Object.keys(args));
  if (line.asks === 'version') return { text: `chatelaine ${version}\n` };
  const isWrong = line.unknown.length > 0 || line.lacking !== undefined;
  if (named.isHelp || line.asks === 'help' || (!command && !isWrong)) {
    const [noun] = words;
    if (command) return { text: commandHelp(command, width) };
    return { text: noun === undefined ? programHelp(width) : nounHelp(noun, width) };
  }
  const given = [...line.first, ...line.words.slice(words.length), ...line.last];
  const rows = Object.entries(args);
  const isMissing = rows.some(([, { required }], at) => required && given[at] === undefined);
  const isExcess = given.length > rows.length && !rows.some(([, { many }]) => many);
  if (isWrong || isMissing || isExcess || !command) throw mistakeIn(line, { words, options, command, given });
  const texts = Object.fromEntries(rows.map(([name, { many }], at) => [name, many ? given.slice(at) : given[at]]));
  return { command, words: texts, typed: line.typed, options: readGlobals(line.typed, env, command) };
}

/** Follows the last word of a line, in which it cannot occur: an option that takes it as its value lacks one. */
const end = '\0';

/** The only function that uses commander, which finds words and flags; our own tables validate them. */
export function partLine(argv: readonly string[], fields: Fields, args: readonly string[] = []): LineParts {
  const spellings = spellingsOf(fields, args);
  const [typed, first, last]: [TypedOption[], string[], string[]] = [[], [], []];
  let asks: LineParts['asks'];
  let lacking: LineParts['lacking'];
  const take = ({ flag, argument }: Spelling, text?: string): void => {
    if (text === end) lacking = [`--${flag}`];
    else if (flag === 'help' || flag === 'version') asks ??= flag;
    else if (!argument || text === undefined) typed.push({ flag, text });
    else (argument === 'first' ? first : last).push(flag === 'stream-id' ? text.replace(/^\d+$/, 'id:$&') : text);
  };
  const optionIn = (word: string): Spelling | undefined =>
    spellings.get((/^--([^=]+)/.exec(word)?.[1] ?? '').replaceAll('_', '-'));
  const ending = argv.indexOf('--');
  const line = argv.map((word, at) => {
    if (ending >= 0 && at >= ending) return word;
    const next = argv[at + 1] ?? '';
    const option = optionIn(word);
    if (option?.takes && !word.includes('=') && optionIn(next)) lacking ??= [word, next];
    return option ? plainWord(word, option) : word;
  });
  const program = new Command();
  // Only the options that the line may have: all of them cost 4 MB, since commander compares each with every other.
  for (const spelling of [...spellings.values()].filter((one) => line.some((word) => mayBe(one, word)))) {
    const { word, short, takes } = spelling;
    const option = new Option(`${short === undefined ? '' : `-${short}, `}--${word}${takes ? ' <value>' : ''}`);
    // This takes every value in its order; commander itself keeps the last one.
    program.addOption(option).on(`option:${option.name()}`, (text?: string) => take(spelling, text));
  }
  const { operands, unknown } = program.parseOptions([...line, end]);
  const typedOf = (words: readonly string[]): readonly string[] => words.filter((word) => word !== end);
  return { words: typedOf(operands), typed, first, last, asks, unknown: typedOf(unknown), lacking };
}

function mayBe({ word, short }: Spelling, typed: string): boolean {
  return typed.startsWith('--')
    ? typed.replace(/=.*/s, '') === `--${word}`
    : short !== undefined && typed.includes(short);
}
