import { commandTable, nouns } from '../commands/index.ts';
import { usage, type Failure } from '../core/failure.ts';
import { globalOptions } from '../commands/environment.ts';
import { flagOf, takesWord, type Field } from '../schema/field.ts';
import { nearest } from '../schema/nearest.ts';

/** The line with `help` and `version`, typed as words, as the options that they mean. */
export function withoutHelpWords(argv: readonly string[]): readonly string[] {
  const typed = fromFirstWord(argv);
  const before = argv.slice(0, argv.length - typed.length);
  const [first, second, ...rest] = typed;
  if (first === 'help') return [...before, ...typed.slice(1), '--help'];
  if (first === 'version') return ['--version', ...before, ...typed.slice(1)];
  const isNoun = first !== undefined && second === 'help' && Object.hasOwn(nouns, first);
  return isNoun ? [...before, first, ...rest, '--help'] : argv;
}

/** The line without the global options in front of its first word. */
export function fromFirstWord(argv: readonly string[]): readonly string[] {
  let at = 0;
  while (argv[at]?.startsWith('-') && argv[at] !== '--') at += takesNextWord(argv[at] ?? '') ? 2 : 1;
  return argv.slice(at);
}

/**
 * The words that name a command or noun, found first, so that an unknown command does not show another's help.
 * @throws Failure usage for a word that names none, with the nearest names
 */
export function commandWords(argv: readonly string[]): readonly string[] {
  const [noun, verb] = bareWords(argv);
  if (noun === undefined) return [];
  const isCommand = commandTable.some(({ name }) => name === noun);
  const shown = verbsOf(noun);
  if (!isCommand && shown.length === 0) {
    const names = commandTable.map(({ name }) => name);
    const first = new Set(names.map((name) => name.split(' ')[0] ?? name));
    // `list` alone is `license list`, `settings list` and more.
    throw unknownCommand(noun, '', [...first, ...names.filter((name) => name.endsWith(` ${noun}`))]);
  }
  if (verb !== undefined && shown.includes(verb)) return [noun, verb];
  if (verb === undefined || isCommand) return [noun];
  const option = strangeOption(argv.slice(argv.indexOf(noun) + 1));
  if (option !== undefined)
    throw usage(`chatelaine ${noun} needs a command before ${option}`, `Commands of ${noun}: ${shown.join(', ')}.`);
  throw unknownCommand(verb, ` ${noun}`, shown);
}

function verbsOf(noun: string): string[] {
  return commandTable.filter(({ name }) => name.startsWith(`${noun} `)).map(({ name }) => name.slice(noun.length + 1));
}

/** An option that belongs behind a command (`messages --channel general`); its next word is no command. */
function strangeOption([word = '']: readonly string[]): string | undefined {
  if (!word.startsWith('--')) return undefined;
  const flag = word.replace(/=.*/s, '');
  const isGlobal = Object.entries<Field>(globalOptions).some(([name, field]) => {
    const own = flagOf(name, field);
    return flag === `--${own}` || flag === `--no-${own}`;
  });
  return isGlobal || flag === '--' || flag === '--help' || flag === '--version' ? undefined : flag;
}

/** The first two words that are neither options nor values of global options; nothing else comes before a command. */
function bareWords(argv: readonly string[]): string[] {
  const found: string[] = [];
  for (let index = 0; index < argv.length && found.length < 2; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') break;
    if (!word.startsWith('-') || word === '-') found.push(word);
    else if (takesNextWord(word)) index += 1;
  }
  return found;
}

/** Whether the value of an option is the next word; a line's options before its command are those of every command. */
export function takesNextWord(word: string, fields = Object.entries<Field>(globalOptions)): boolean {
  const taking = fields.filter(([, field]) => takesWord(field));
  if (word.startsWith('--'))
    return taking.some(([name, field]) => word.replaceAll('_', '-') === `--${flagOf(name, field)}`);
  const letters = Array.from(word.slice(1));
  const at = letters.findIndex((letter) => taking.some(([, { short }]) => short === letter));
  return at >= 0 && at === letters.length - 1;
}

/** What other tools call a command, and what it is here. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ['whoami', 'auth status'],
  ['undo', 'license undo'],
  ['history', 'license history'],
  ['keys', 'license list'],
  ['users', 'license list'],
  ['config', 'auth list, auth login or doctor'],
  ['rename', 'license rename or view rename'],
  ['update', 'license edit'],
  ['license update', 'license edit'],
  ['alias', 'an alias of your shell'],
  ['search', 'messages fetch --search WORDS'],
  ['license show', 'license view'],
  ...['delete', 'rm', 'remove', 'revoke'].map(
    (verb) => [`license ${verb}`, 'license retire (the API cannot delete a license; this gives it to nobody)'] as const,
  ),
  ['license get', 'license view'],
  ['license ls', 'license list'],
  ['license search', 'license list --match GLOB'],
  ['license find', 'license list --match GLOB'],
  ['messages list', 'messages fetch'],
  ['messages ls', 'messages fetch'],
  ['messages get', 'messages fetch'],
  ['messages search', 'messages fetch --search WORDS'],
  ['channel ls', 'channel list'],
  ['topic ls', 'topic list'],
  ['topic rm', 'topic delete'],
  ['topic remove', 'topic delete'],
  ['topic purge', 'topic delete'],
  ['view ls', 'view list'],
  ['view unpin', 'view hide'],
  ['view rm', 'view hide'],
  ['view show', 'view pin'],
  ['snippet ls', 'snippet list'],
  ['snippet delete', 'snippet rm'],
  ['snippet remove', 'snippet rm'],
  ['settings show', 'settings describe NAME'],
  ['settings get', 'settings describe NAME (the API cannot read settings back: the app shows them)'],
  ['auth add', 'auth login'],
  ['auth show', 'auth status'],
  ['auth whoami', 'auth status'],
  ['auth rm', 'auth logout'],
  ['auth remove', 'auth logout'],
  ['auth delete', 'auth logout'],
  ['auth switch', 'auth use'],
]);

function unknownCommand(word: string, place: string, known: readonly string[]): Failure {
  const meant = otherWords.get(`${place} ${word}`.trim());
  const ending = known.filter((name) => name.endsWith(` ${word}`));
  const near = meant !== undefined ? [meant] : ending.length > 0 ? ending.slice(0, 3) : nearest(word, known);
  const all = place === '' ? 'See chatelaine --help.' : `Commands of${place}: ${known.join(', ')}.`;
  const hint = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : all;
  // A URL, or the part with its user: a ledger's may hold a password. Failures hide words that look like a key.
  const mayHoldPassword = word.includes('://') || word.includes('@');
  return usage(`unknown command ${mayHoldPassword ? '[hidden: it may hold a password]' : `'${word}'`}`, hint);
}
