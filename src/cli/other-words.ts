import { commandTable } from '../commands/index.ts';
import { usage, type Failure } from '../core/failure.ts';
import { nearest } from '../schema/nearest.ts';

const removing = ['delete', 'rm', 'logout', 'hide', 'retire (the API cannot delete a license)'];

/** Verbs of other tools, and the verbs of ours that may be meant: the first that the noun has. */
const otherVerbs: ReadonlyMap<string, readonly string[]> = new Map([
  ['ls', ['list', 'fetch', 'status']],
  ['show', ['view', 'get', 'list', 'fetch', 'status']],
  ['get', ['view', 'list', 'fetch', 'status']],
  ['search', ['fetch --search WORDS', 'list --match GLOB']],
  ['restore', ['undo']],
  ['unpin', ['hide']],
  ['whoami', ['status']],
  ...['delete', 'rm', 'remove', 'revoke', 'purge'].map((word) => [word, removing] as const),
]);

/** Other words of people, and where they lead. */
const otherWays: ReadonlyMap<string, string> = new Map([
  ['topic restore', 'A deleted topic is in the archive that topic delete named: chatelaine archive export DIR -o html'],
  ['whoami', 'Did you mean auth status?'],
  ['search', 'Did you mean messages fetch --search WORDS?'],
  ['backup', 'archive pull keeps messages. Read: chatelaine help cron'],
  ['excel', 'Read: chatelaine help sheets'],
  ['hand-over', 'Read: chatelaine help handing-over'],
  ['hold', 'Topics that are never deleted are named with --hold FILE: chatelaine topic delete --help'],
  ['leak', 'Revoke the key at the service, then store the new one: chatelaine auth login --name NAME'],
  ['roster', 'Read: chatelaine help sheets'],
  ['rotate', 'Store the new key of a profile: chatelaine auth login --name NAME'],
  ['windows', 'Read docs/install.md, Windows and macOS.'],
]);

/** The error for a word that is no command: what is meant, or why there is none. */
export function unknownCommand(word: string, known: readonly string[], noun?: string): Failure {
  const typed = noun === undefined ? word : `${noun} ${word}`;
  const near = meantBy(word, known, noun);
  const all = noun === undefined ? 'See chatelaine --help.' : `Commands of ${noun}: ${known.join(', ')}.`;
  const hint =
    otherWays.get(typed) ??
    (noun === undefined ? otherWays.get(word) : inApp(noun, word)) ??
    (near.length > 0 ? `Did you mean ${near.join(' or ')}?` : all);
  // A URL, or the part with its user: a ledger's may hold a password. Failures hide words that look like a key.
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

/** What the chat's app can do and this program cannot. */
function inApp(noun: string, verb: string): string | undefined {
  const isOfChat = ['channel', 'topic', 'messages', 'view', 'snippet'].includes(noun);
  if (!isOfChat || !['create', 'move', 'rename', 'send'].includes(verb)) return undefined;
  return `chatelaine cannot ${verb} ${noun.replace(/s?$/, 's')}: do it in the app.`;
}
