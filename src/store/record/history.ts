import { join } from 'node:path';
import { batched } from '../../core/batch.ts';
import { isObject } from '../../core/json.ts';
import { readdir } from '../../core/outside.ts';
import { variable, type System } from '../../core/system.ts';
import { ifThere, orFailure } from '../disk/files.ts';
import { foldersOf } from '../disk/folders.ts';
import { readPrivateBytes } from '../disk/private-file.ts';
import { makePrivateFolder } from '../disk/private-folder.ts';
import { withLock, type Surroundings } from '../lock/lock.ts';
import { appendLoosely, lineIn, summedLine } from '../disk/records.ts';

/** What a run did for a license, for people: of a key the last four characters (docs/exactly-once.md, History). */
export interface LicenseEvent {
  /**
   * `changing` is written before a PATCH, `changed` or `refused` after it; the others after their request. `found`: an
   * interrupted run asked for it, so it or somebody else created it.
   */
  readonly event: 'created' | 'found' | 'unknown' | 'changing' | 'changed' | 'refused';
  readonly app_code?: number | undefined;
  readonly app_code_before?: number | undefined;
  /** The user as the request leaves it. */
  readonly remote_user: string;
  readonly remote_user_before?: string | undefined;
  readonly size_allowance?: number | undefined;
  readonly size_allowance_before?: number | undefined;
  readonly license_code_end?: string | undefined;
}

export interface HistoryEntry extends LicenseEvent {
  readonly time: string;
  /** The name of the run, by which `license undo` finds it. */
  readonly run: string;
  readonly account: string;
  readonly computer: string;
  readonly command: string;
  readonly origin: string;
}

export type RunStamp = Pick<HistoryEntry, 'run' | 'command'>;

/**
 * Appends what a run did, and tells the ledger of it where there is one; nothing that writes reads it.
 * @throws Failure where it cannot be written
 */
export type AppendHistory = (
  origin: string,
  event: LicenseEvent,
  tell: (entry: HistoryEntry) => Promise<void>,
) => Promise<void>;

/** Lines that come together are written together. One before a change is on disk when its request is sent. */
export function openHistory(stamp: RunStamp, host: Surroundings): AppendHistory {
  const { system, clock } = host;
  const folder = foldersOf(system).state;
  const append = batched<HistoryEntry>(async (entries) => {
    await makePrivateFolder(folder, system);
    const path = join(folder, `history-${entries[0]?.time.slice(0, 4) ?? ''}.ndjson`);
    const how = entries.some(({ event }) => event === 'changing') ? 'synced' : 'unsynced';
    const writing = () => appendLoosely(path, entries.map(summedLine).join(''), how);
    await withLock(join(folder, 'history.lock'), host, () => orFailure(`write ${path}`, writing()));
  });
  return async (origin, event, tell) => {
    const time = new Date(clock.now()).toISOString();
    const who = { account: accountOf(system), computer: system.hostname, origin };
    const entry: HistoryEntry = { time, ...stamp, ...who, ...event };
    await tell(entry);
    await append(entry);
  };
}

/** The account of the process; the environment only adds a name, since anybody can set a variable. */
function accountOf({ env, uid, user = `uid ${uid ?? '?'}` }: Pick<System, 'env' | 'uid' | 'user'>): string {
  const before = variable(env, 'SUDO_USER');
  return before === undefined ? user : `${user} (sudo: ${before})`;
}

/** Entries whose line holds a text, oldest first, without one that is not as it was written. @throws Failure config */
export async function* eachEntry(system: System, holding = ''): AsyncGenerator<HistoryEntry> {
  const folder = foldersOf(system).state;
  const names = (await ifThere(`read ${folder}`, readdir(folder))) ?? [];
  for (const name of names.filter((one) => /^history-\d{4}\.ndjson$/.test(one)).sort()) {
    const bytes = (await readPrivateBytes(join(folder, name), system)) ?? Buffer.alloc(0);
    for (let [at, end] = [0, bytes.indexOf(10)]; end >= 0; at = end + 1, end = bytes.indexOf(10, at)) {
      const line = bytes.toString('utf8', at, end);
      const { json, isWhole } = line.includes(holding) ? lineIn(line) : {};
      if (isWhole && isEntry(json?.value)) yield json.value;
    }
  }
}

export function isEntry(entry: unknown): entry is HistoryEntry {
  if (!isObject(entry)) return false;
  const { time, run, account, computer, command, origin, event, remote_user } = entry;
  return [time, run, account, computer, command, origin, event, remote_user].every((one) => typeof one === 'string');
}
