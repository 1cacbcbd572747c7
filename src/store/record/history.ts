import { join } from 'node:path';
import { batched } from '../../core/batch.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { isObject } from '../../core/json.ts';
import { statSync, type Stats } from '../../core/outside.ts';
import { variable, type System } from '../../core/system.ts';
import { ifThere, orFailure, readBytes, syncFolder } from '../disk/files.ts';
import { foldersOf } from '../disk/folders.ts';
import { makePrivateFolder, stateFiles } from '../disk/private.ts';
import { withLock, type Surroundings } from '../lock/lock.ts';
import { appendLoosely, lineIn, summedLine } from '../disk/records.ts';

/** The events of the history (docs/exactly-once.md, History), each kind by a member that only its lines have. */
export interface HistoryEvents {
  readonly remote_user: LicenseEvent;
  readonly topic_name: PurgeEvent;
}

/** A run's event for a license; of a key it has the last four characters. */
export interface LicenseEvent {
  /** An event in -ing is on disk before its request is sent. */
  readonly event: 'created' | 'unknown' | 'changing' | 'changed' | 'refused';
  readonly app_code?: number | undefined;
  readonly app_code_before?: number | undefined;
  /** The user's name after the request. */
  readonly remote_user: string;
  readonly remote_user_before?: string | undefined;
  readonly size_allowance?: number | undefined;
  readonly size_allowance_before?: number | undefined;
  readonly license_code_end?: string | undefined;
}

/** A run's event for a topic. Its counts are those of the archive, or without an archive those of the run. */
export interface PurgeEvent {
  /** `left`: the run ended before its purge did. */
  readonly event: 'purging' | 'left' | 'purged';
  readonly email: string;
  readonly stream_id: number;
  readonly channel?: string | undefined;
  readonly topic_name: string;
  readonly spellings: readonly string[];
  readonly archive?: string | undefined;
  readonly messages: number;
  readonly deleted?: number | undefined;
  readonly unseen?: number | undefined;
  readonly arrived?: number | undefined;
  readonly status?: string | undefined;
}

export type EntryOf<K extends keyof HistoryEvents> = HistoryEvents[K] & EntryStamp;

export type HistoryEntry = EntryOf<'remote_user'>;

export interface EntryStamp {
  readonly time: string;
  /** The name of the run, by which an undo finds it. */
  readonly run: string;
  readonly account: string;
  readonly computer: string;
  readonly command: string;
  readonly origin: string;
  /** The server as the credential has it, where `origin` is another name of it. */
  readonly url?: string | undefined;
  /** The profile of the credential, which may be removed since; not written to a ledger. */
  readonly profile?: string | undefined;
}

export type RunStamp = Pick<EntryStamp, 'run' | 'command'>;

/** How long to wait for a process that writes the history: a stopped one must not block others. */
const longestWait: Milliseconds = 2000;

/** Opens the history to append to it; lines that come together are written together. */
export function openHistory(stamp: RunStamp, host: Surroundings) {
  const { system, clock } = host;
  const folder = foldersOf(system).state;
  /** The file whose entry in the folder this process has synced. */
  let synced = '';
  const [account, computer] = [accountOf(system), system.hostname];
  const append = batched<EntryStamp>(async (entries) => {
    if (synced === '') await makePrivateFolder(folder, system);
    const path = join(folder, `history-${entries[0]?.time.slice(0, 4) ?? ''}.ndjson`);
    const writing = async (): Promise<void> => {
      await appendLoosely(path, entries.map(summedLine).join(''));
      // Whoever made the file may have died before its name was on disk.
      if (synced !== path) await syncFolder(folder);
      synced = path;
    };
    const lock = join(folder, 'history.lock');
    await withLock(lock, host, () => orFailure(`write ${path}`, writing()), { wait: longestWait });
  });
  /** Gives the entry to `tell`, for a ledger, then appends it; on disk when this resolves. @throws Failure */
  return async <E extends HistoryEvents[keyof HistoryEvents]>(
    place: Pick<EntryStamp, 'origin' | 'url' | 'profile'> & Partial<RunStamp>,
    event: E,
    tell: (entry: E & EntryStamp) => Promise<void>,
  ): Promise<void> => {
    const time = new Date(clock.now()).toISOString();
    const { run = stamp.run, command = stamp.command, origin } = place;
    const entry = { time, run, command, account, computer, origin, ...event };
    await tell(entry);
    await append({ ...entry, url: place.url, profile: place.profile });
  };
}

/** The account of the process; the environment only adds a name, since anybody can set a variable. */
function accountOf({ env, uid, user = `uid ${uid ?? '?'}` }: Pick<System, 'env' | 'uid' | 'user'>): string {
  const before = variable(env, 'SUDO_USER');
  return before === undefined ? user : `${user} (sudo: ${before})`;
}

/**
 * Entries whose line contains `holding`, oldest first; damaged lines are left out. `read`: how many bytes of each file
 * were read, from where the next call goes on. @throws Failure config
 */
export async function* eachEntry<K extends keyof HistoryEvents>(
  system: System,
  kind: K,
  holding: string = kind,
  read = new Map<string, number>(),
) {
  const folder = foldersOf(system).state;
  const names = await stateFiles(folder);
  for (const name of names.filter((one) => /^history-\d{4}\.ndjson$/.test(one)).sort()) {
    const start = read.get(name) ?? 0;
    const path = join(folder, name);
    const look = async (): Promise<Stats> => statSync(path);
    if (start > 0 && (await ifThere(`read ${path}`, look()))?.size === start) continue;
    const bytes = (await readBytes(path, start)) ?? Buffer.alloc(0);
    for (let [at, end] = [0, bytes.indexOf(10)]; end >= 0; at = end + 1, end = bytes.indexOf(10, at)) {
      const line = bytes.toString('utf8', at, end);
      const { json, isWhole } = line.includes(holding) ? lineIn(line) : {};
      if (isWhole && isEntry(json?.value, kind)) yield json.value;
    }
    read.set(name, start + bytes.lastIndexOf(10) + 1);
  }
}

export function isEntry<K extends keyof HistoryEvents>(entry: unknown, kind: K): entry is EntryOf<K> {
  const names = ['time', 'run', 'account', 'computer', 'command', 'origin', 'event', kind];
  return isObject(entry) && names.every((name) => typeof entry[name] === 'string');
}

interface CreationPlace {
  readonly origin: string;
  readonly app_code: number;
}

/** Returns a function that looks up the creation which the history, with a ledger's entries, has for a user by now. */
export function openCreations(system: System) {
  const entriesOf = new Map<string, HistoryEntry[]>();
  const read = new Map<string, number>();
  // A call reads what was added since the last; calls at once share a reading.
  const readOn = batched<string>(async () => {
    for await (const entry of eachEntry(system, 'remote_user', 'remote_user', read)) {
      const { remote_user, remote_user_before = remote_user } = entry;
      for (const user of isNaming(entry) ? new Set([remote_user, remote_user_before]) : [])
        if (!entriesOf.get(user)?.push(entry)) entriesOf.set(user, [entry]);
    }
  });
  return async (user: string, place: CreationPlace, shared: readonly HistoryEntry[]) => {
    await readOn(user);
    const here = entriesOf.get(user) ?? [];
    if (shared.length === 0) return creationIn(here, user, place);
    const all = [...here, ...shared].sort((one, other) => one.time.localeCompare(other.time));
    return creationIn(all, user, place);
  };
}

/** Whether an entry gives a license to a user, or takes it; the history has many changes of sizes. */
function isNaming({ event, remote_user_before, app_code_before }: HistoryEntry): boolean {
  return event === 'created' || (event === 'changed' && (remote_user_before ?? app_code_before) !== undefined);
}

/** The entry that gave the user a license, unless a later one took it. */
function creationIn(entries: readonly HistoryEntry[], user: string, place: CreationPlace): HistoryEntry | undefined {
  let given: HistoryEntry | undefined;
  /** Licenses that were renamed before the creating run, which waits for a list, added the creation to the history. */
  const taken = new Set<string | undefined>();
  for (const entry of entries) {
    const { origin, event, remote_user, app_code, license_code_end } = entry;
    const { remote_user_before = remote_user, app_code_before = app_code } = entry;
    if (origin !== place.origin || !isNaming(entry)) continue;
    const isGiven = remote_user === user && app_code === place.app_code;
    const isTaken = event === 'changed' && remote_user_before === user && app_code_before === place.app_code;
    if (isTaken) taken.add(license_code_end);
    if (isTaken) given = undefined;
    else if (isGiven && !(event === 'created' && taken.has(license_code_end))) given = entry;
  }
  return given;
}
