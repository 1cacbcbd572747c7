import type { AnyCommand } from '../commands/command.ts';
import { usage, type Failure } from '../core/failure.ts';
import { flagOf, type Fields } from '../schema/field.ts';
import { suggestion } from '../schema/nearest.ts';
import { synopsis } from './help.ts';
import type { LineParts } from './spellings.ts';

interface LinePlace {
  /** The words of the command or noun; none is the program itself. */
  readonly words: readonly string[];
  readonly options: Fields;
  readonly given: readonly string[];
  readonly command: AnyCommand | undefined;
}

/** The mistake in a line. It names the options that were typed, never a value: that may be a secret. */
export function mistakeIn({ lacking, unknown }: LineParts, { words, options, given, command }: LinePlace): Failure {
  const line = ['chatelaine', ...words].join(' ');
  const help = `See ${line} --help.`;
  if (lacking) {
    const [option, next] = lacking;
    return usage(`${option} needs a value`, next ? `If its value is ${next}, write ${option}=${next}.` : help);
  }
  const [firstUnknown] = unknown;
  if (firstUnknown !== undefined) return unknownOption(firstUnknown, line, options);
  const form = command ? `See --help. Usage: ${synopsis(command)}` : help;
  const args = Object.entries(command?.args ?? {});
  const missing = args.find(([, { required }], at) => required && given[at] === undefined);
  if (missing) return usage(`${missing[1].placeholder ?? missing[0].toUpperCase()} is required`, form);
  return usage(
    `${line} takes ${countOf(args.length)}; ${given.length} ${given.length === 1 ? 'was' : 'were'} given`,
    excess[line] ?? form,
  );
}

/** Advice for an argument too many. */
const excess: Readonly<Record<string, string>> = {
  'chatelaine license list': "To match part of a name, write --match '*WORD*', for one user --remote-user U.",
  'chatelaine archive pull': 'A channel or its link goes after --channel.',
};

function countOf(number: number): string {
  if (number === 0) return 'no argument';
  return number === 1 ? 'one argument' : `${number} arguments`;
}

/** The value may be a key: of `--name=value` the name is shown, of `-xvalue` the letter. */
function unknownOption(typed: string, line: string, options: Fields): Failure {
  const flag = typed.startsWith('--') ? typed.replace(/=.*/s, '') : typed.slice(0, 2);
  const flags = Object.entries(options).flatMap(([name, field]) => {
    const expected = `--${flagOf(name, field)}`;
    return field.kind === 'boolean' && field.negatable ? [expected, `--no-${flagOf(name, field)}`] : [expected];
  });
  const help = `See ${line} --help.`;
  if (flags.includes(flag)) return usage(`${flag} does not accept a value`, keyAdvice(flag, options) ?? help);
  const other = otherFlags.get(flag) ?? otherFlags.get(`${line} ${flag}`);
  return usage(`unknown option ${flag}`, other ?? keyAdvice(flag, options) ?? suggestion(flag, flags) ?? help);
}

const narrowing =
  'Choose messages with --channel, --topic, --sender, --since, --until, or --narrow \'[{"operator":"has","operand":"link"}]\'.';

/** Options of other tools, and of other commands. */
const otherFlags: ReadonlyMap<string, string> = new Map([
  ['--format', 'Write -o FORMAT, as in -o json.'],
  ...['sender', 'since', 'until', 'ids'].map(
    (name) =>
      [
        `chatelaine topic delete --${name}`,
        'The API deletes complete topics only, not messages by sender or time.',
      ] as const,
  ),
  ...['delete', 'list'].map((verb) => [`chatelaine topic ${verb} --keep`, 'Write --hold FILE.'] as const),
  ...'anchor channels dm-including has id ids in is limit mentions with'
    .split(' ')
    .map((name) => [`chatelaine archive pull --${name}`, narrowing] as const),
]);

/** Advice for a key on the command line, where other users and the shell's history can read it. */
function keyAdvice(flag: string, options: Fields): string | undefined {
  if (!/^-(k|-.*(key|token|secret|passw))/i.test(flag)) return undefined;
  if ('api_key_stdin' in options)
    return 'No option accepts the key itself: give it with --api-key-stdin, --api-key-file FILE or --key-command COMMAND.';
  return 'No option accepts a key: store it once with chatelaine auth login --api-key-stdin.';
}
