import { commandTable } from '../commands/index.ts';
import { usage, type Failure } from '../core/failure.ts';
import { nearest } from '../schema/nearest.ts';
import { helpTexts } from './help.ts';

const guide = (word: string): string => `Read: chatelaine help ${word}`;
const inApp = (what: string): string => `The API cannot ${what}: do it in the app.`;

/** What the chat's users do in the app alone, by the noun of ours that they try. */
const things = {
  channel: 'channel',
  topic: 'topic',
  messages: 'message',
  view: 'view of your own',
  snippet: 'snippet',
};
const inAppVerbs = 'create add new save rename edit move resolve mute send post reply archive'.split(' ');
const inAppWays = Object.entries(things).flatMap(([noun, thing]) =>
  inAppVerbs.map((verb) => [`${noun} ${verb}`, inApp(`${verb} a ${thing}`)] as const),
);

const each = (words: string, way: string) => words.split(' ').map((word) => [word, way] as const);

const restoring = ['restore', 'undelete', 'recover'];
const undoing = ['undo'];
const lost =
  'A deleted topic cannot be put back into the chat. Its messages are in the archive that topic delete named: ' +
  'chatelaine archive export DIR -o html';
const upgrading =
  'Upgrade as you installed: npm install --global chatelaine@latest (docs/install.md, Upgrading and removing, has the others).';

/** Words that no command has, and advice. */
const otherWays: ReadonlyMap<string, string> = new Map([
  ...inAppWays,
  ['alias', 'There are none here: make one in your shell.'],
  ['upgrade', upgrading],
  ['update', `A license is changed with license edit. ${upgrading}`],
  ['uninstall', 'See docs/install.md, Upgrading and removing: npm uninstall --global chatelaine'],
  ['setup', 'auth login stores a credential, and doctor checks it. Begin with: chatelaine auth login'],
  ['tutorial', `The sandbox needs no account: --sandbox. ${guide('scripting')}`],
  ...each('recipes examples guide scripting man docs info about', guide('scripting')),
  ...['cron', 'retention', 'containers', 'accessibility', 'stability', 'never-two'].map(
    (word) => [word, guide(word)] as const,
  ),
  ...each('user key', 'Users and their keys are in the list of licenses: chatelaine license list'),
  ['license user', 'Users are in the list of licenses: chatelaine license list'],
  ...each('send post message', inApp('send a message')),
  ...each('count stats', 'Each list is counted by a field: chatelaine license list --count-by size_allowance'),
  ['sync', 'license apply makes licenses as a roster says, archive pull brings what is new.'],
  ['plan', 'What a roster would change: chatelaine license apply --dry-run FILE'],
  ['env', 'Variables are below the options: chatelaine help options'],
  ['report', 'license audit finds licenses that are wrong; license list --count-by counts them.'],
  ['export', 'license list -o csv writes licenses, archive export messages.'],
  ['import', 'license apply reads a roster, auth import a zuliprc.'],
  ['backup', `archive pull keeps messages. ${guide('cron')}`],
  ['license count', 'Write: chatelaine license list --count-by size_allowance'],
  ['license export', 'Write: chatelaine license list -o csv'],
  ['license import', 'A whole file: chatelaine license apply FILE'],
  ['license add', 'One for a user who has none: chatelaine license ensure'],
  ['license diff', 'What a roster would change: chatelaine license apply --dry-run FILE'],
  ['channel delete', `${inApp('delete a channel')} Topics are deleted with topic delete.`],
  ['topic archive', 'Write: chatelaine archive pull DIR --channel C --topic T'],
  ['auth export', 'auth list shows the profiles. A key is printed by: chatelaine auth token'],
  ['auth test', 'Write: chatelaine auth status'],
  ['messages delete', 'The API deletes whole topics: chatelaine topic delete'],
  ['messages export', 'A folder that can be exported: chatelaine archive pull DIR'],
  ['settings reset', 'Set each one: chatelaine settings set NAME=VALUE'],
  ['settings export', 'Write: chatelaine settings get -o yaml'],
  ['archive search', 'Search in its text: chatelaine archive export DIR -o text'],
  ['archive diff', 'This records what the server has otherwise: chatelaine archive pull DIR --recheck'],
  ['archive delete', 'An archive is a folder of yours: archive list shows where. Remove it as any other.'],
  ['auth rotate', 'A new key for a stored profile: chatelaine auth login --name NAME'],
  ...restoring.flatMap((word) => [
    [word, `license undo puts licenses back. ${lost}`] as const,
    [`topic ${word}`, lost] as const,
  ]),
]);

const removing = ['delete', 'rm', 'logout', 'hide', 'retire (the API cannot delete a license)'];

/** Verbs by the words of other tools: the first that the noun has is meant. */
const otherVerbs: ReadonlyMap<string, readonly string[]> = new Map([
  ['ls', ['list', 'fetch']],
  ['list', ['fetch', 'status']],
  ['new', ['create']],
  ['sync', ['apply', 'pull']],
  ['start', ['serve']],
  ['show', ['view', 'get', 'status', 'pin', 'list', 'fetch']],
  ['get', ['view', 'fetch', 'list', 'status']],
  ['find', ['list --match GLOB', 'fetch --search WORDS']],
  ['search', ['fetch --search WORDS', 'list --match GLOB']],
  ['update', ['edit']],
  ...restoring.map((word) => [word, undoing] as const),
  ['unpin', ['hide']],
  ['add', ['login']],
  ['whoami', ['status']],
  ['switch', ['use']],
  ...['delete', 'rm', 'remove', 'revoke', 'purge'].map((word) => [word, removing] as const),
]);

/** The error for a word that is no command: what is meant, or why there is none. `asked`: all words behind `help`. */
export async function unknownCommand(
  word: string,
  known: readonly string[],
  about: { readonly noun?: string; readonly other?: string | undefined; readonly asked: readonly string[] },
): Promise<Failure> {
  const { noun, other, asked } = about;
  const verbs = otherVerbs.get(word) ?? [];
  const verb = verbs.find((one) => known.includes(one.split(' ')[0] ?? ''));
  const meant = noun === undefined ? other : verb && `${noun} ${verb}`;
  const names = noun === undefined ? commandTable.map(({ name }) => name) : [];
  const ending = (one: string) => names.filter((name) => name.endsWith(` ${one.split(' ')[0] ?? ''}`));
  const guesses = [
    meant === undefined ? [] : [meant],
    await commandsAbout(asked),
    ending(word).slice(0, 3),
    verbs.flatMap(ending).slice(0, 5),
  ];
  const near = guesses.find((names) => names.length > 0) ?? nearest(word, known);
  const all = noun === undefined ? 'See chatelaine --help.' : `Commands of ${noun}: ${known.join(', ')}.`;
  const typed = [noun === undefined ? word : `${noun} ${word}`, ...asked, asked.join('-')];
  const [way] = typed.flatMap((one) => otherWays.get(one) ?? []);
  const hint = way ?? (near.length > 0 ? `Did you mean ${near.join(' or ')}?` : all);
  // A URL, or the part with its user: a ledger's may hold a password. Failures hide words that look like a key.
  const mayHoldPassword = word.includes('://') || word.includes('@');
  return usage(`unknown command ${mayHoldPassword ? '[hidden: it may hold a password]' : `'${word}'`}`, hint);
}

/** The commands whose names and help have most of the words, those of a name twice; none where more than three do. */
async function commandsAbout(words: readonly string[]): Promise<readonly string[]> {
  if (words.length === 0) return [];
  const wordsOf = (text: string) =>
    text
      .toLowerCase()
      .match(/[a-z]+/g)
      ?.map((word) => word.replace(/s$/, '')) ?? [];
  const wanted = wordsOf(words.join(' '));
  const texts = await helpTexts(80);
  const found = commandTable.map(({ name }) => {
    const [own, told] = [new Set(wordsOf(name)), new Set(wordsOf(texts.get(name) ?? ''))];
    return { name, has: wanted.reduce((sum, word) => sum + (own.has(word) ? 2 : Number(told.has(word))), 0) };
  });
  const most = Math.max(1, ...found.map(({ has }) => has));
  const best = found.filter(({ has }) => has === most);
  return best.length > 3 ? [] : best.map(({ name }) => name);
}
