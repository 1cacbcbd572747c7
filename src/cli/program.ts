import { Command, CommanderError, Option } from 'commander';
import { commandTable } from '../commands/index.ts';
import type { AnyCommand } from '../commands/command.ts';
import { globalOptions } from '../commands/environment.ts';
import { flagOf, isNegatable, type Field, type Fields } from '../schema/field.ts';
import { inOurNames } from './api-names.ts';
import { commandWords, fromFirstWord, withoutHelpWords } from './command-words.ts';
import { commandHelp, exitHelp, helpWidth, nounHelp, optionsHelp, programHelp } from './help.ts';
import { readGlobals, type Options, type Texts, type TypedOption } from './values.ts';
import type { Host } from './host.ts';

type ParsedLine = { readonly text: string } | CommandRequest;

export interface CommandRequest {
  readonly command: AnyCommand;
  readonly words: Texts;
  /** Options in the order in which they were typed, before and behind the command's name. */
  readonly typed: readonly TypedOption[];
  readonly options: Options;
}

/** The only file that knows commander: it finds words and flags, our own tables judge them. @throws Failure usage */
export async function readCommandLine(
  argv: readonly string[],
  { system: { env }, version, stdout }: Pick<Host, 'system' | 'version' | 'stdout'>,
): Promise<ParsedLine> {
  const width = helpWidth(stdout.isTTY ? stdout.columns : undefined);
  const bare = fromFirstWord(argv);
  if (bare.join(' ') === 'help options') return { text: optionsHelp(width) };
  const [asked, code] = /^help exit$|^(?:help )?exit[- ](?:codes?|status)$|^help (\d+)$/.exec(bare.join(' ')) ?? [];
  const exits = asked === undefined ? undefined : exitHelp(code, width);
  if (exits !== undefined) return { text: exits };
  const [, page] = /^help (scripting|never-two|stability)$/.exec(bare.join(' ')) ?? [];
  if (page !== undefined) return { text: `man chatelaine-${page}\n` };
  const line = withoutHelpWords(argv);
  const words = await commandWords(line);
  const command = await commandTable.find(({ name }) => name === words.join(' '))?.load();
  const { args = {}, options: own = {} } = command ?? {};
  const options: Fields = { ...globalOptions, ...own };
  const typed: TypedOption[] = [];
  const program = new Command('chatelaine').exitOverride().allowExcessArguments(false).showSuggestionAfterError(false);
  program.version(version, '-V, --version').helpOption('-h, --help');
  // Help goes through our own writer, and nothing of commander's is printed.
  program.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  // The words of the command are the first arguments, so that options may be typed before, between and behind them.
  for (const word of words) program.argument(`<${word}>`);
  for (const [name, { many, required }] of Object.entries(args)) {
    const word = name + (many ? '...' : '');
    program.argument(required ? `<${word}>` : `[${word}]`);
  }
  for (const option of optionsIn(options, own)) {
    program.addOption(option);
    // Every value in its order: commander itself keeps one.
    program.on(`option:${option.name()}`, (text: string | null) =>
      typed.push({ flag: option.name(), text: text ?? undefined }),
    );
  }
  const help = (): { readonly text: string } => {
    if (command) return { text: commandHelp(command, width) };
    const [noun] = words;
    return { text: noun === undefined ? programHelp(commandTable, width) : nounHelp(noun, commandTable, width) };
  };
  try {
    program.parse(command ? inOurNames(line, command) : line, { from: 'user' });
  } catch (cause) {
    if (!(cause instanceof CommanderError)) throw cause;
    if (cause.code === 'commander.version') return { text: `${version}\n` };
    if (cause.code === 'commander.helpDisplayed') return help();
    throw (await import('./mistakes.ts')).mistakeIn(cause, {
      words,
      options,
      command,
      argv: line,
      given: program.args.slice(words.length),
      typed,
    });
  }
  if (!command) return help();
  const given = program.processedArgs.slice(words.length);
  const texts = Object.fromEntries(Object.keys(args).map((name, index) => [name, given[index]]));
  return { command, words: texts, typed, options: readGlobals(typed, env, command) };
}

/** Also `--no-input` beside a command's own `--input FILE`. */
function optionsIn(options: Fields, own: Fields): Option[] {
  const globals: Fields = globalOptions;
  const switches = Object.keys(own).filter((name) => globals[name]?.kind === 'boolean');
  return [
    ...Object.entries(options).flatMap(([name, field]) => optionsOf(name, field)),
    ...switches.map((name) => new Option(`--no-${name}`)),
  ];
}

function optionsOf(name: string, field: Field): Option[] {
  const flag = flagOf(name, field);
  const short = field.short === undefined ? '' : `-${field.short}, `;
  const on = new Option(`${short}--${flag}${field.kind === 'boolean' ? '' : ' <value>'}`);
  return isNegatable(field) ? [on, new Option(`--no-${flag}`)] : [on];
}
