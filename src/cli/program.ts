import { Command, CommanderError, Option } from 'commander';
import { commandTable, hiddenTable, nouns, type CommandEntry } from '../commands/index.ts';
import type { AnyCommand } from '../commands/command.ts';
import type { Environment } from '../core/system.ts';
import { globalOptions } from '../commands/environment.ts';
import { flagOf, isNegatable, type Field, type Fields } from '../schema/field.ts';
import { inOurNames } from './api-names.ts';
import { commandWords, withoutHelpWords } from './command-words.ts';
import { synopsis, commandHelp, exitHelp, helpWidth, nounHelp, optionsHelp, programHelp } from './help.ts';
import type { LinePlace } from './mistakes.ts';
import { readGlobals, type Options, type Texts, type TypedOption } from './values.ts';
import type { Host } from './host.ts';

/** What a command line asks for: a text to print, or a command to run. */
type ParsedLine = { readonly text: string } | CommandRequest;

export interface CommandRequest {
  readonly command: AnyCommand;
  readonly words: Texts;
  /** In the order in which they were typed, before and behind the command's name. */
  readonly typed: readonly TypedOption[];
  readonly options: Options;
}

/** Reads a command line by commander, which finds words and flags; our tables judge them. @throws Failure usage */
export async function readCommandLine(
  argv: readonly string[],
  { system: { env }, version, stdout }: Pick<Host, 'system' | 'version' | 'stdout'>,
): Promise<ParsedLine> {
  const width = helpWidth(stdout.isTTY ? stdout.columns : undefined);
  if (argv.join(' ') === 'help options') return { text: optionsHelp(width) };
  const exits = argv.length === 2 && argv[0] === 'help' ? exitHelp(argv[1] ?? '') : undefined;
  if (exits !== undefined) return { text: exits };
  const typed = withoutHelpWords(argv);
  const place = { words: commandWords(typed), options: globalOptions };
  const entry = [...commandTable, ...hiddenTable].find(({ name }) => name === place.words.join(' '));
  const words = entry ? inOurNames(typed, await entry.load()) : typed;
  const reading: ProgramReading = { place, version, width, typed: [] };
  const program = buildProgram(env, reading);
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (cause) {
    if (!(cause instanceof CommanderError)) throw cause;
    if (!textCodes.has(cause.code)) throw (await import('./mistakes.ts')).mistakeIn(cause, reading.place);
    if (cause.code === 'commander.version') return { text: `${version}\n` };
  }
  if (!reading.request) throw new Error('commander gave neither a command nor an error');
  return reading.request;
}

/** What is known of a line while it is read. */
interface ProgramReading {
  request?: ParsedLine;
  place: LinePlace;
  readonly typed: TypedOption[];
  readonly version: string;
  /** Of help, in characters. */
  readonly width: number;
}

/** A text was asked for, or nothing at all was. */
const textCodes: ReadonlySet<string> = new Set(['commander.helpDisplayed', 'commander.help', 'commander.version']);

function buildProgram(env: Environment, reading: ProgramReading): Command {
  const program = prepare(new Command('chatelaine'), () => programHelp(commandTable, reading.width), reading);
  program.enablePositionalOptions();
  addOptions(program, globalOptions, reading);
  const groups = new Map<string, Command>();
  const [typed] = reading.place.words;
  for (const entry of [...commandTable, ...hiddenTable]) {
    const [noun = '', verb] = entry.name.split(' ');
    // The commands of the noun that was typed: making all of them takes a millisecond.
    if (typed !== undefined && noun !== typed) continue;
    const parent = verb === undefined ? program : (groups.get(noun) ?? addNoun(program, groups, noun, reading));
    const leaf = addCommand(parent, verb ?? noun, entry, env, reading);
    if (verb === undefined) groups.set(noun, leaf);
  }
  return program;
}

/** Help goes through our own writer, and nothing of commander's is printed. */
function prepare(command: Command, help: () => string, reading: ProgramReading): Command {
  command.helpCommand(false).exitOverride().showSuggestionAfterError(false);
  command.version(reading.version, '-V, --version').helpOption('-h, --help');
  command.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  command.helpInformation = () => {
    reading.request = { text: help() };
    return '';
  };
  return command;
}

function addNoun(program: Command, groups: Map<string, Command>, noun: string, reading: ProgramReading): Command {
  const group = prepare(new Command(noun), () => nounHelp(noun, commandTable, reading.width), reading);
  group.description(nouns[noun] ?? '').enablePositionalOptions();
  program.addCommand(group);
  program.hook('preSubcommand', (_program, chosen) => {
    if (chosen === group) addOptions(group, globalOptions, reading);
  });
  groups.set(noun, group);
  return group;
}

function addCommand(
  parent: Command,
  verb: string,
  entry: CommandEntry,
  env: Environment,
  reading: ProgramReading,
): Command {
  const leaf = new Command(verb).description(entry.summary);
  parent.addCommand(leaf);
  parent.hook('preSubcommand', async (_parent, chosen) => {
    if (chosen === leaf) fillIn(leaf, await entry.load(), env, reading);
  });
  return leaf;
}

function fillIn(leaf: Command, definition: AnyCommand, env: Environment, reading: ProgramReading): void {
  prepare(leaf, () => commandHelp(definition, reading.width), reading);
  const form = { synopsis: synopsis(definition), args: definition.args ?? {} };
  reading.place = { ...reading.place, options: { ...globalOptions, ...definition.options }, form };
  leaf.allowExcessArguments(false);
  const args = Object.entries(definition.args ?? {});
  for (const [name, field] of args) {
    const word = name + (field.many ? '...' : '');
    leaf.argument(field.required ? `<${word}>` : `[${word}]`);
  }
  addOptions(leaf, { ...globalOptions, ...definition.options }, reading);
  // `--no-input` beside a command's own `--input FILE`.
  for (const name of Object.keys(definition.options ?? {}).filter(isSwitch))
    listen(leaf, new Option(`--no-${name}`), reading);
  leaf.action((...given: unknown[]) => {
    const { typed } = reading;
    const words = Object.fromEntries(args.map(([name], index) => [name, given[index]]));
    reading.request = { command: definition, words, typed, options: readGlobals(typed, env, definition) };
  });
}

function addOptions(command: Command, fields: Fields, reading: ProgramReading): void {
  for (const [name, field] of Object.entries(fields)) {
    for (const option of optionsOf(name, field)) listen(command, option, reading);
  }
}

/** Keeps every value in order: commander keeps one, and not the same before and behind the command's name. */
function listen(command: Command, option: Option, { typed }: ProgramReading): void {
  command.addOption(option);
  command.on(`option:${option.name()}`, (text: string | null) => {
    typed.push({ flag: option.name(), text: text ?? undefined });
  });
}

function isSwitch(name: string): boolean {
  const globals: Fields = globalOptions;
  return globals[name]?.kind === 'boolean';
}

function optionsOf(name: string, field: Field): Option[] {
  const flag = flagOf(name, field);
  const short = field.short === undefined ? '' : `-${field.short}, `;
  const on = new Option(`${short}--${flag}${field.kind === 'boolean' ? '' : ' <value>'}`);
  return isNegatable(field) ? [on, new Option(`--no-${flag}`)] : [on];
}
