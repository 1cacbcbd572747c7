import { join } from 'node:path';
import { batched } from '../../core/batch.ts';
import { jsonIn, isObject } from '../../core/json.ts';
import { appendFileSync, constants, readdir } from '../../core/outside.ts';
import { variable, type System } from '../../core/system.ts';
import { ifThere, openFile, orFailure } from '../disk/files.ts';
import { foldersOf } from '../disk/folders.ts';
import { readPrivateBytes } from '../disk/private-file.ts';
import { makePrivateFolder } from '../disk/private-folder.ts';
import { withLock, type Surroundings } from '../lock/lock.ts';
import { recordLine } from '../disk/records.ts';

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

/**
 * Each line is one write of less than 4 KiB, which no other process cuts in two; on Windows under a lock, for which
 * one caller of this process waits with the lines of all.
 */
export function openHistory(stamp: RunStamp, host: Surroundings): AppendHistory {
  const { system, clock } = host;
  const folder = foldersOf(system).state;
  let made: Promise<void> | undefined;
  const append = async (path: string, line: string): Promise<void> => {
    const file = await openFile(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
    try {
      appendFileSync(file.fd, line);
    } finally {
      await file.close();
    }
  };
  const appendLocked = batched<Parameters<typeof append>>((lines) =>
    withLock(join(folder, 'history.lock'), host, async () => {
      for (const line of lines) await append(...line);
    }),
  );
  return async (origin, event, tell) => {
    const time = new Date(clock.now()).toISOString();
    const path = join(folder, `history-${time.slice(0, 4)}.ndjson`);
    const entry: HistoryEntry = {
      time,
      ...stamp,
      account: accountOf(system),
      computer: system.hostname,
      origin,
      ...event,
    };
    await tell(entry);
    await (made ??= makePrivateFolder(folder, system));
    const line = recordLine(entry);
    await orFailure(`write ${path}`, system.platform === 'win32' ? appendLocked([path, line]) : append(path, line));
  };
}

/** The account of the process; the environment only adds a name, since anybody can set a variable. */
function accountOf({ env, uid, user = `uid ${uid ?? '?'}` }: Pick<System, 'env' | 'uid' | 'user'>): string {
  const before = variable(env, 'SUDO_USER');
  return before === undefined ? user : `${user} (sudo: ${before})`;
}

/** Entries whose line holds a text, oldest first, without one that a crash cut. @throws Failure config */
export async function readHistory(system: System, holding = ''): Promise<HistoryEntry[]> {
  const folder = foldersOf(system).state;
  const names = (await ifThere(`read ${folder}`, readdir(folder))) ?? [];
  const entries: HistoryEntry[] = [];
  for (const name of names.filter((one) => /^history-\d{4}\.ndjson$/.test(one)).sort()) {
    const text = (await readPrivateBytes(join(folder, name), system))?.toString('utf8') ?? '';
    for (const line of text.split('\n')) {
      const entry = line.includes(holding) ? jsonIn(line)?.value : undefined;
      if (isEntry(entry)) entries.push(entry);
    }
  }
  return entries;
}

export function isEntry(entry: unknown): entry is HistoryEntry {
  if (!isObject(entry)) return false;
  const { time, run, account, computer, command, origin, event, remote_user } = entry;
  return [time, run, account, computer, command, origin, event, remote_user].every((one) => typeof one === 'string');
}
