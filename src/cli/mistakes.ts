import type { AnyCommand } from '../commands/command.ts';
import { commandTable } from '../commands/index.ts';
import { usage, type Failure } from '../core/failure.ts';
import { commandLine } from '../core/shell-word.ts';
import { flagOf, type Field, type Fields } from '../schema/field.ts';
import { suggestion } from '../schema/nearest.ts';
import { settings } from '../schema/settings.ts';
import { synopsis } from './help.ts';
import type { LineParts } from './spellings.ts';
import { typedLine, type TypedOption } from './values.ts';

export interface LinePlace {
  /** The words of the command or noun; none is the program itself. */
  readonly words: readonly string[];
  readonly options: Fields;
  readonly argv: readonly string[];
  readonly given: readonly string[];
  readonly command: AnyCommand | undefined;
}

/** The mistake in a line. It names the options that were typed, never a value: that may be a secret. */
export async function mistakeIn({ lacking, unknown, typed }: LineParts, place: LinePlace): Promise<Failure> {
  const { words, given, command } = place;
  const line = ['chatelaine', ...words].join(' ');
  const help = `See ${line} --help.`;
  if (lacking) {
    const [option, next] = lacking;
    return usage(`${option} needs a value`, next ? `If its value is ${next}, write ${option}=${next}.` : help);
  }
  const [strange] = unknown;
  if (strange !== undefined) return unknownOption(strange, line, place);
  const form = command ? `See --help. Usage: ${synopsis(command)}` : help;
  const args = Object.entries(command?.args ?? {});
  const missing = args.find(([, { required }], at) => required && given[at] === undefined);
  if (missing) return usage(`${missing[1].placeholder ?? missing[0].toUpperCase()} is required`, form);
  return usage(
    `${line} takes ${countOf(args.length)}; ${given.length} ${given.length === 1 ? 'was' : 'were'} given`,
    adviceOf[line]?.(typed, given) ?? form,
  );
}

/** Advice for an argument too many. */
const adviceOf: Readonly<Record<string, (typed: readonly TypedOption[], given: readonly string[]) => string>> = {
  'chatelaine license list': (typed, [user = '']) =>
    `To match part of a name, write --match '*${user}*'; for one user: ${typedLine('license list', { words: {}, typed }, { remote_user: user })}`,
  'chatelaine archive pull': (typed, [folder = '', channel]) =>
    `A channel or its link goes after --channel: ${typedLine('archive pull', { words: { folder }, typed }, { channel })}`,
};

function countOf(number: number): string {
  if (number === 0) return 'no argument';
  return number === 1 ? 'one argument' : `${number} arguments`;
}

/** The value may be a key: of `--name=value` the name is shown, of `-xvalue` the letter. */
async function unknownOption(typed: string, line: string, place: LinePlace): Promise<Failure> {
  const { options } = place;
  const flag = typed.startsWith('--') ? typed.replace(/=.*/s, '') : typed.slice(0, 2);
  const flags = Object.entries(options).flatMap(([name, field]) => {
    const own = `--${flagOf(name, field)}`;
    return field.kind === 'boolean' && field.negatable ? [own, `--no-${flagOf(name, field)}`] : [own];
  });
  if (flags.includes(flag))
    return usage(`${flag} does not accept a value`, keyAdvice(flag, options) ?? `See ${line} --help.`);
  const hint =
    otherFlags.get(flag) ??
    otherFlags.get(`${line} ${flag}`) ??
    settingAdvice(typed, place) ??
    keyAdvice(flag, options) ??
    suggestion(flag, flags) ??
    (await optionElsewhere(flag)) ??
    `See ${line} --help.`;
  return usage(`unknown option ${flag}`, hint);
}

/** The first commands that have the option. */
async function optionElsewhere(flag: string): Promise<string | undefined> {
  const commands = await Promise.all(commandTable.map(({ load }) => load()));
  const named = commands.filter(({ options = {} }) =>
    Object.entries(options).some(([name, field]) => `--${flagOf(name, field)}` === flag && !field.hidden),
  );
  const names = named.slice(0, 3).map(({ name }) => name);
  return names.length === 0 ? undefined : `${flag} is an option of ${names.join(', ')}.`;
}

const wholeTopics = 'The API deletes complete topics only, not messages by sender or time.';

const ofSelection =
  'An archive keeps everything in its selection: narrow it with --channel, --topic, --since, --until, --limit or --narrow.';
const intoNarrow = (operator: string): string => `Write --narrow '[{"operator":"${operator}","operand":VALUE}]'.`;

/** Options of other tools, and of other commands. */
const otherFlags: ReadonlyMap<string, string> = new Map([
  ['--format', 'Write -o FORMAT, as in -o json.'],
  ['--unread', 'Write --is unread.'],
  ['--csv-safe', 'Write -o excel, or -o excel-semicolon where the decimal sign is a comma.'],
  ...['sender', 'since', 'until', 'ids'].map((name) => [`chatelaine topic delete --${name}`, wholeTopics] as const),
  ...['delete', 'list'].map((verb) => [`chatelaine topic ${verb} --keep`, 'Write --hold FILE.'] as const),
  ...'channels dm-including is has in id with mentions'
    .split(' ')
    .map((name) => [`chatelaine archive pull --${name}`, intoNarrow(name)] as const),
  ...'anchor include-anchor ids all client-gravatar allow-empty-topic-name num-before num-after'
    .split(' ')
    .map((name) => [`chatelaine archive pull --${name}`, ofSelection] as const),
  ['chatelaine license rename --to', 'Write chatelaine license rename U NEW.'],
]);

/** Settings are words, and no options. */
function settingAdvice(typed: string, { words, argv }: LinePlace): string | undefined {
  const [flag = '', value = argv[argv.indexOf(typed) + 1] ?? 'VALUE'] = typed.split(/=(.*)/s, 2);
  const name = flag.slice(2).replaceAll('-', '_');
  const field = Object.entries<Field>(settings).find(([known]) => known === name)?.[1];
  if (words.join(' ') !== 'settings set' || !field) return undefined;
  if (field.kind === 'secret') return 'Passwords are prompted for: chatelaine settings set old_password new_password';
  return `Write a setting as NAME=VALUE: ${commandLine('settings set', [`${name}=${value}`])}`;
}

/** Advice for a key on the command line, where other users and the shell's history can read it. */
function keyAdvice(flag: string, options: Fields): string | undefined {
  if (!/^-(k|-.*(key|token|secret|passw))/i.test(flag)) return undefined;
  if ('api_key_stdin' in options)
    return 'No option accepts the key itself: give it with --api-key-stdin, --api-key-file FILE or --key-command COMMAND.';
  return 'No option accepts a key: store it once with chatelaine auth login --api-key-stdin.';
}
