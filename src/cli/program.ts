import { Command, CommanderError, Option } from 'commander';
import { usage } from '../core/failure.ts';
import { commandTable, hiddenTable, nouns, type CommandEntry } from '../commands/index.ts';
import type { AnyCommand } from '../commands/command.ts';
import type { Environment } from '../core/world.ts';
import { globalOptions } from '../schema/environment.ts';
import { flagOf, type Field, type Fields } from '../schema/field.ts';
import type { GlobalValues } from '../commands/context.ts';
import { commandHelp, nounHelp, programHelp } from './help.ts';
import { readGlobals, type Texts } from './values.ts';

/** What a command line asks for: a text to print, or a command to run. */
export type Request =
  | { readonly text: string }
  | { readonly command: AnyCommand; readonly words: Texts; readonly flags: Texts; readonly options: GlobalValues };

/**
 * Reads a command line. The only file that knows commander: it finds the words and flags, our own tables judge them.
 * @throws Failure usage
 */
export async function readCommandLine(argv: readonly string[], env: Environment): Promise<Request> {
  const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  const result: { request?: Request } = {};
  const program = buildProgram(env, result);
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (cause) {
    if (!(cause instanceof CommanderError)) throw cause;
    if (!helpCodes.has(cause.code)) throw usage(...wordsOf(cause, words));
  }
  if (!result.request) throw new Error('the command line came to nothing');
  return result.request;
}

/** Help was asked for, or nothing at all was. */
const helpCodes: ReadonlySet<string> = new Set(['commander.helpDisplayed', 'commander.help']);

function wordsOf(cause: CommanderError, words: readonly string[]): [string, string] {
  const [first = '', ...rest] = cause.message.replace(/^error: /, '').split('\n');
  const hint = rest.join(' ').replace(/^\((.*)\)$/, '$1');
  return [first, hint === '' ? `See ${['chatelaine', ...placeOf(words)].join(' ')} --help.` : hint];
}

/** The words that name the command or noun in which the line went wrong. */
function placeOf(words: readonly string[]): string[] {
  const [noun = '', verb = ''] = words.filter((word) => !word.startsWith('-'));
  if (commandTable.some(({ name }) => name === `${noun} ${verb}`)) return [noun, verb];
  return noun in nouns || commandTable.some(({ name }) => name === noun) ? [noun] : [];
}

function buildProgram(env: Environment, result: { request?: Request }): Command {
  const program = prepare(new Command('chatelaine'), () => programHelp(commandTable), result);
  program.enablePositionalOptions();
  addOptions(program, globalOptions);
  const groups = new Map<string, Command>();
  for (const entry of [...commandTable, ...hiddenTable]) {
    const [noun = '', verb] = entry.name.split(' ');
    const parent = verb === undefined ? program : (groups.get(noun) ?? addNoun(program, groups, noun, result));
    const leaf = addCommand(parent, verb ?? noun, entry, env, result);
    if (verb === undefined) groups.set(noun, leaf);
  }
  return program;
}

/** Help goes through our own writer, and nothing of commander's is printed. */
function prepare(command: Command, help: () => string, result: { request?: Request }): Command {
  command.helpCommand(false).exitOverride().showSuggestionAfterError(true);
  command.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  command.helpInformation = () => {
    result.request = { text: help() };
    return '';
  };
  return command;
}

function addNoun(program: Command, groups: Map<string, Command>, noun: string, result: { request?: Request }): Command {
  const group = prepare(new Command(noun), () => nounHelp(noun, commandTable), result).description(nouns[noun] ?? '');
  group.enablePositionalOptions();
  program.addCommand(group);
  program.hook('preSubcommand', (_program, chosen) => {
    if (chosen === group) addOptions(group, globalOptions);
  });
  groups.set(noun, group);
  return group;
}

function addCommand(
  parent: Command,
  verb: string,
  entry: CommandEntry,
  env: Environment,
  result: { request?: Request },
): Command {
  const leaf = new Command(verb).description(entry.summary);
  parent.addCommand(leaf);
  parent.hook('preSubcommand', async (_parent, chosen) => {
    if (chosen === leaf) fillIn(leaf, await entry.load(), env, result);
  });
  return leaf;
}

function fillIn(leaf: Command, definition: AnyCommand, env: Environment, result: { request?: Request }): void {
  prepare(leaf, () => commandHelp(definition), result);
  leaf.allowExcessArguments(false);
  const args = Object.entries(definition.args ?? {});
  for (const [name, field] of args) leaf.argument(argumentOf(name, field));
  addOptions(leaf, { ...globalOptions, ...definition.options });
  leaf.action((...given: unknown[]) => {
    const flags: Texts = leaf.optsWithGlobals();
    const words = Object.fromEntries(args.map(([name], index) => [name, given[index]]));
    result.request = { command: definition, words, flags, options: readGlobals(flags, env, definition.options ?? {}) };
  });
}

function argumentOf(name: string, field: Field): string {
  const word = name + (field.many ? '...' : '');
  return field.required ? `<${word}>` : `[${word}]`;
}

function addOptions(command: Command, fields: Fields): void {
  for (const [name, field] of Object.entries(fields)) {
    for (const option of optionsOf(name, field)) command.addOption(option);
  }
}

function optionsOf(name: string, field: Field): Option[] {
  const flag = flagOf(name, field);
  const short = field.short === undefined ? '' : `-${field.short}, `;
  if (field.kind !== 'boolean') {
    const option = new Option(`${short}--${flag} <value>`);
    return [field.many ? option.argParser((text: string, all?: string[]) => [...(all ?? []), text]) : option];
  }
  const on = new Option(`${short}--${flag}`);
  return field.negatable ? [on, new Option(`--no-${flag}`)] : [on];
}
