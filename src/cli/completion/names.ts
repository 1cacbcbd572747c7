import { spawnSync } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isObject, type JsonObject } from '../../core/json.ts';
import { variable } from '../../core/system.ts';
import { readName } from '../../schema/narrow.ts';
import { foldersOf, namesFile } from '../../store/disk/folders.ts';
import { makeFolder } from '../launch/early.ts';
import type { ReadWords, Offer } from './reading.ts';

/** Names of stored profiles, and what the chat server knows (docs/apis.md, Names at TAB); none where that fails. */
export function lookUp(list: string, reading: ReadWords): readonly Offer[] {
  try {
    return offersOf(list, reading);
  } catch {
    return [];
  }
}

function offersOf(list: string, reading: ReadWords): readonly Offer[] {
  const config = storedObject(join(foldersOf(system()).config, 'config.json'));
  if (list === 'profiles') return Object.keys(objectIn(config, 'profiles')).map((word) => ({ word, text: '' }));
  const account = accountOf(config, reading);
  if (!account) return [];
  if (list !== 'topics') return readOffers(account, list, lists[list]);
  const channel = channelOf(reading);
  const channels = readOffers(account, 'channels', lists['channels']);
  const id = typeof channel === 'number' ? channel : channels.find(({ word }) => readName(word) === channel)?.text;
  if (id === undefined) return [];
  const offer = ({ name }: JsonObject): Offer => ({ word: String(name), text: '' });
  return readOffers(account, `topics of ${id}`, { path: `users/me/${id}/topics`, rows: 'topics', offer });
}

function system() {
  return { env: process.env, platform: process.platform, home: homedir() };
}

interface SignedIn {
  readonly name: string;
  readonly options: readonly string[];
}

/** Undefined where nobody is signed in, and where the key comes from a command, which may ask its user a question. */
function accountOf(config: JsonObject, { given }: ReadWords): SignedIn | undefined {
  const { env } = process;
  if (given.has('--sandbox') || /^(1|true)$/.test(env['CHATELAINE_SANDBOX'] ?? ''))
    return { name: 'sandbox', options: ['--sandbox'] };
  const typed = given.get('--profile');
  const site = variable(env, 'CHATELAINE_CHAT_SITE');
  if (typed === undefined && site !== undefined)
    return { name: `${site} ${env['CHATELAINE_CHAT_EMAIL'] ?? ''}`, options: [] };
  const name = typed ?? variable(env, 'CHATELAINE_PROFILE') ?? objectIn(config, 'defaults')['chat'];
  const profile = typeof name === 'string' ? objectIn(objectIn(config, 'profiles'), name) : {};
  if (typeof name !== 'string' || profile['kind'] !== 'chat' || profile['key_command'] !== undefined) return undefined;
  return { name: `${String(profile['site'])} ${String(profile['email'])}`, options: ['--profile', name] };
}

/** The channel whose topics are meant: the first argument of a command for topics, or the option. */
function channelOf({ command, typed, given }: ReadWords): number | string | undefined {
  const text = command?.arguments[0]?.suggest === 'channels' ? typed[0] : given.get('--channel');
  return text === undefined ? undefined : readName(text);
}

/** Where a list is, and the offer of each of its rows. */
interface NameList {
  readonly path: string;
  readonly rows: string;
  readonly offer: (row: JsonObject, rows: readonly JsonObject[]) => Offer;
  readonly first?: Offer;
}

const lists: Readonly<Record<string, NameList>> = {
  channels: {
    path: 'streams',
    rows: 'streams',
    offer({ name, stream_id }) {
      // A name may be read as an id or a link.
      const word = String(name).replace(/^(?=\d+$|id:|name:|[#-]|https?:)/, 'name:');
      return { word, text: String(stream_id), alias: String(name) };
    },
  },
  users: {
    path: 'users',
    rows: 'members',
    first: { word: 'me', text: 'the account itself' },
    // An address that the server hides is made of the id.
    offer: ({ email, user_id, full_name }) =>
      named(/^user\d+@/.test(String(email)) ? user_id : email, String(full_name)),
  },
  snippets: {
    path: 'saved_snippets',
    rows: 'saved_snippets',
    // A title that means another thing, or several snippets, has to be typed as the id.
    offer: ({ id, title }, rows) =>
      /^[\d-]/.test(String(title)) || rows.filter((row) => row['title'] === title).length > 1
        ? named(id, String(title))
        : { word: String(title), text: String(id) },
  },
  views: {
    path: 'navigation_views',
    rows: 'navigation_views',
    offer: ({ fragment, name }) => named(fragment, typeof name === 'string' ? name : ''),
  },
};

function named(word: unknown, name: string): Offer {
  return { word: String(word), text: name, alias: name };
}

function rowsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** How long names are offered without asking again; and how long nothing is asked where the server did not answer. */
const freshMs = { answered: 120_000, unanswered: 20_000 };

function readOffers({ name, options }: SignedIn, list: string, read: NameList | undefined): readonly Offer[] {
  if (!read) return [];
  const file = namesFile(system());
  const key = `${name} ${list}`;
  const isFresh = ({ at, offers }: JsonObject): boolean =>
    Math.abs(Date.now() - Number(at)) < (offers === null ? freshMs.unanswered : freshMs.answered);
  const fresh = Object.entries(storedObject(file)).filter(([, entry]) => isObject(entry) && isFresh(entry));
  const kept = fresh.find(([other]) => other === key)?.[1];
  if (isObject(kept)) return rowsOf(kept['offers']).filter(isOffer);
  const answer = ask(read.path, options);
  const rows = rowsOf(answer?.[read.rows]);
  const all = [read.first ?? [], rows.map((row) => read.offer(row, rows))].flat();
  // A name that begins with a dash would be an option of the line.
  const offers = answer && all.filter(({ word }) => !word.startsWith('-'));
  store(file, { ...Object.fromEntries(fresh), [key]: { at: Date.now(), offers: offers ?? null } });
  return offers ?? [];
}

function isOffer(value: JsonObject): value is JsonObject & Offer {
  return typeof value['word'] === 'string' && typeof value['text'] === 'string';
}

/** A list read by another process of this program, which keeps all rules; it asks and says nothing, for a second. */
function ask(path: string, options: readonly string[]): JsonObject | undefined {
  const line = [...`api chat GET ${path} -o json --no-input --retries 0 --deadline 1s`.split(' '), ...options];
  const { stdout, status } = spawnSync(process.execPath, [process.argv[1] ?? '', ...line], {
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => isForAccess(name))),
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 1500,
    killSignal: 'SIGKILL',
    maxBuffer: 64 * 1024 * 1024,
    windowsHide: true,
  });
  return status === 0 ? objectOf(stdout.toString()) : undefined;
}

/** Our own variables that say where the account is: none that shapes, shows or records an answer. */
function isForAccess(name: string): boolean {
  return !name.startsWith('CHATELAINE_') || /^CHATELAINE_(CHAT_\w+|ALLOW_HTTP|CONFIG_DIR|CA_FILE|NO_CACHE)$/.test(name);
}

function store(file: string, content: JsonObject): void {
  const draft = `${file}.${process.pid}`;
  try {
    makeFolder(dirname(file));
    writeFileSync(draft, JSON.stringify(content), { mode: 0o600, flag: 'wx' });
    renameSync(draft, file);
  } catch {
    // The next TAB asks again.
    rmSync(draft, { force: true });
  }
}

function storedObject(file: string): JsonObject {
  try {
    // A FIFO or a device in its place would hold the user's shell.
    const opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const text = fstatSync(opened).isFile() ? readFileSync(opened, 'utf8') : '{}';
    // Windows replaces no file that is open.
    closeSync(opened);
    return objectOf(text) ?? {};
  } catch {
    return {};
  }
}

function objectOf(text: string): JsonObject | undefined {
  const content: unknown = JSON.parse(text);
  return isObject(content) ? content : undefined;
}

function objectIn(content: JsonObject, name: string): JsonObject {
  const value = Object.hasOwn(content, name) ? content[name] : undefined;
  return isObject(value) ? value : {};
}
