import type { AnyCommand } from '../commands/command.ts';
import { commandTable, nouns } from '../commands/index.ts';
import { quantity } from '../core/duration.ts';
import { usage, type Failure } from '../core/failure.ts';
import { flagOf, type Fields } from '../schema/field.ts';
import { nearest, suggestion } from '../schema/nearest.ts';
import { synopsis } from './help.ts';
import type { LineParts } from './spellings.ts';

/** Removes the word `help` from a line, where it means --help. */
export function withoutHelpWord(words: readonly string[]): { words: readonly string[]; isHelp: boolean } {
  const [first = '', second, ...rest] = words;
  if (first === 'help') return { words: words.slice(1), isHelp: true };
  const isHelp = second === 'help' && nounNamed(first) !== undefined;
  return { words: isHelp ? [first, ...rest] : words, isHelp };
}

/** The noun that a word means in singular or plural: `topics` is `topic`. */
function nounNamed(word: string): string | undefined {
  return [word, `${word}s`, word.replace(/s$/, '')].find((one) => Object.hasOwn(nouns, one));
}

/** Verbs that only read. */
const reading: ReadonlySet<string> = new Set('list view get describe status fetch history audit verify'.split(' '));

const removing = ['delete', 'rm', 'logout', 'hide', 'retire (the API cannot delete a license)'];
const showing = ['view', 'get', 'status', 'fetch', 'list'];

/** Verbs of other tools, and ours that may be meant: the first that the noun has is run if it only reads. */
const otherVerbs: ReadonlyMap<string, readonly string[]> = new Map([
  ['ls', ['list', 'fetch', 'status']],
  ['list', ['status']],
  ['show', showing],
  ['get', showing],
  ['search', ['fetch --search WORDS', 'list --match GLOB']],
  ['restore', ['undo']],
  ['unpin', ['hide']],
  ['whoami', ['status']],
  ...['delete', 'rm', 'remove', 'revoke', 'purge'].map((word) => [word, removing] as const),
]);

/** Other words that people try, and the advice for each. */
const otherWays: ReadonlyMap<string, string> = new Map([
  ['topic restore', 'A deleted topic is in the archive that topic delete named: chatelaine archive export DIR -o html'],
  ['whoami', 'Did you mean auth status?'],
  ['search', 'Did you mean messages fetch --search WORDS?'],
  ['backup', 'archive pull keeps messages. Read: chatelaine help cron'],
  ['excel', 'Read: chatelaine help sheets'],
  ['hand-over', 'Read: chatelaine help handing-over'],
  ['hold', 'Topics that are never deleted are named with --hold FILE: chatelaine topic delete --help'],
  ['leak', 'Revoke the key at the service. What it did, and how to store the new one: chatelaine help undo'],
  ['roster', 'Read: chatelaine help sheets'],
  ['rotate', 'Store the new key of a profile: chatelaine auth login --name NAME'],
  ['windows', 'Read docs/install.md in the repository, Windows and macOS.'],
]);

/**
 * The words of the command or noun. They are found first: an unknown command must not show another's help.
 * `option`: an unknown option and the word behind it. @throws Failure usage with near names
 */
export function commandWords(words: readonly string[], [option = '', next]: readonly string[]): readonly string[] {
  const [typed, verb] = words;
  if (typed === undefined) return [];
  const names = commandTable.map(({ name }) => name);
  const noun = nounNamed(typed) ?? typed;
  const verbs = names.filter((name) => name.startsWith(`${noun} `)).map((name) => name.slice(noun.length + 1));
  const meant = otherVerbs.get(verb ?? '')?.find((one) => verbs.includes(one) && reading.has(one));
  const chosenVerb = verb !== undefined && verbs.includes(verb) ? verb : meant;
  if (chosenVerb !== undefined && (noun === typed || reading.has(chosenVerb))) return [noun, chosenVerb];
  if (chosenVerb !== undefined) throw usage(`unknown command '${typed}'`, `Did you mean ${noun} ${chosenVerb}?`);
  if (names.includes(noun)) return [noun];
  const flag = next === undefined ? undefined : /^--[^=]+/.exec(option)?.[0];
  if (verbs.length === 0) throw unknownCommand(typed, [...new Set(names.map((name) => name.replace(/ .*/, '')))]);
  if (verb !== undefined) throw unknownCommand(verb, verbs, noun);
  if (flag === undefined) return [noun];
  throw usage(`chatelaine ${noun} needs a command before ${flag}`, `Commands of ${noun}: ${verbs.join(', ')}.`);
}

/** The error for a word that is no command, with the command that may be meant, or other advice. */
function unknownCommand(word: string, known: readonly string[], noun?: string): Failure {
  const near = meantBy(word, known, noun);
  const all = noun === undefined ? 'See chatelaine --help.' : `Commands of ${noun}: ${known.join(', ')}.`;
  const hint =
    otherWays.get(noun === undefined ? word : `${noun} ${word}`) ??
    (near.length > 0 ? `Did you mean ${near.join(' or ')}?` : all);
  // A ledger's URL, or a part of it, may hold a password. What looks like a key is hidden in every failure.
  const mayHoldPassword = word.includes('://') || word.includes('@');
  return usage(`unknown command ${mayHoldPassword ? '[hidden: it may hold a password]' : `'${word}'`}`, hint);
}

function meantBy(word: string, known: readonly string[], noun: string | undefined): readonly string[] {
  const verbs = otherVerbs.get(word) ?? [];
  if (noun !== undefined) {
    const verb = verbs.find((one) => known.includes(one.split(' ')[0] ?? ''));
    return verb === undefined ? nearest(word, known) : [`${noun} ${verb}`];
  }
  const ending = (verb: string): readonly string[] =>
    commandTable.flatMap(({ name }) => (name.endsWith(` ${verb.split(' ')[0] ?? ''}`) ? [name] : []));
  const same = ending(word).slice(0, 3);
  const other = verbs.flatMap(ending).slice(0, 5);
  return [same, other].find((names) => names.length > 0) ?? nearest(word, known);
}

interface LinePlace {
  /** The words of the command or noun; none is the program itself. */
  readonly words: readonly string[];
  readonly options: Fields;
  readonly given: readonly string[];
  readonly command: AnyCommand | undefined;
}

/** The error for a mistake in a line. It names options, but no value, which may be a secret. */
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
  const were = given.length === 1 ? 'was' : 'were';
  const most = args.length === 0 ? 'no argument' : quantity(args.length, 'argument');
  return usage(`${line} takes ${most}; ${given.length} ${were} given`, form);
}

/** Shows the name in `--name=value`, and the letter in `-xvalue`: the value may be a key. */
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
  return 'No option accepts a key. To store it once: chatelaine auth login --api-key-stdin';
}
