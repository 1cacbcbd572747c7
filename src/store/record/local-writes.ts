/**
 * The writes of all runs of this machine (docs/exactly-once.md, A record a server): a folder for each origin, in it a
 * file for each run, to which that run alone appends until it has ended, and the locks of users.
 */
import { join } from 'node:path';
import { inSequence } from '../../core/batch.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { readdir, stat } from '../../core/outside.ts';
import { ifThere, remove, writePrivate } from '../disk/files.ts';
import { liveOwner, remedy, thisOwner } from '../disk/owner.ts';
import { makePrivateFolder, readPrivateBytes, writableState } from '../disk/private.ts';
import { lockFolder, lockFolders, lockHolder, tryLock, withLock, type Surroundings } from '../lock/lock.ts';
import { damagedAt, OwnRunFile } from './own-run-file.ts';
import { countedIn, hashesOf, hashOf, RunRecord, type EndLine, type Entry, type WriteLine } from './write-lines.ts';
import {
  openOf,
  takeAll,
  type BegunWrite,
  type FirstWrite,
  type LockHolder,
  type OtherWrites,
  type RecordedWrite,
  type UserLock,
  type UserName,
  type WriteEnd,
  type WritePlace,
  type WritingRun,
} from './writes.ts';

const day: Milliseconds = 86_400_000;
const suffix = '.run';

export interface WritingRunHere extends WritingRun {
  /** The start of each id. */
  readonly token: string;
  /** A dry run only reads. */
  readonly isDry: boolean;
  /** Hears that the records stand where a restart may remove them. */
  readonly warn: (text: string) => void;
}

/** @throws Failure config where no folder can be written */
export async function localWrites(origin: string, run: WritingRunHere, host: Surroundings): Promise<WritePlace> {
  const name = hashOf(origin);
  const [usual] = lockFolders(host.system);
  if (run.isDry) return new LocalWrites(join(usual, name), name, run, host);
  const locks = await lockFolder(host.system);
  if (locks !== usual) {
    run.warn(`requests are recorded in ${locks}, which does not last: a later run may not know them. ${writableState}`);
    if ((await namesIn(join(usual, name))).some((one) => one.endsWith(suffix)))
      throw new Failure('config', `${usual} cannot be written, and has open requests`, {
        hint: 'Make the folder writable again, then run the same command. Nothing was sent.',
      });
  }
  const folder = join(locks, name);
  await makePrivateFolder(folder, host.system);
  const place = new LocalWrites(folder, name, run, host);
  await place.removeOldLocks();
  return place;
}

class LocalWrites implements WritePlace {
  readonly #folder: string;
  readonly #salt: string;
  readonly #run: WritingRunHere;
  readonly #host: Surroundings;
  readonly #own: OwnRunFile;
  readonly #since: string;
  readonly #others = new Map<string, { readonly record: RunRecord; readonly inode: number }>();
  readonly #inTurn = inSequence();
  /** By the time at which the latest write began, and the latest of those that were answered or shown. */
  readonly #latest = { begun: 0, passed: 0 };

  constructor(folder: string, salt: string, run: WritingRunHere, host: Surroundings) {
    this.#folder = folder;
    this.#salt = salt;
    this.#run = run;
    this.#host = host;
    this.#own = new OwnRunFile(this.#pathOf(run.token), run, host);
    this.#since = new Date(host.clock.now()).toISOString();
  }

  async tryLock(users: readonly UserName[]): Promise<UserLock | LockHolder> {
    const names = [...new Set(users.map((user) => hashesOf(this.#salt, user).folded))].sort();
    return takeAll(names, (folded) => this.#tryLock(folded));
  }

  async #tryLock(folded: string): Promise<UserLock | LockHolder> {
    const about = { command: this.#run.command, since: this.#since, file: this.#run.token };
    const lock = await tryLock(join(this.#folder, `${folded}.lock`), this.#host, about);
    if (lock.release) return lock;
    const { name, isSeen, about: said } = lock.holder;
    const holder = said ? `${said.command}, ${name}, since ${said.since.slice(11, 16)}Z` : name;
    const file = said && (await ifThere('look at a record', stat(this.#pathOf(said.file))));
    const progress = file ? `${file.size} ${file.mtimeMs}` : '';
    return { holder, progress, ...(!isSeen && { remedy: remedy(lock.holder, lock.path) }) };
  }

  async known(users: readonly UserName[]): Promise<readonly (readonly RecordedWrite[])[]> {
    const records = await this.#records();
    return users.map((user) => records.flatMap((record) => record.of(hashesOf(this.#salt, user))));
  }

  async begin({ id, users, asked }: BegunWrite): Promise<void> {
    const time = this.#host.clock.now();
    await this.#own.append({
      begin: numberIn(id),
      time,
      users: users.map((user) => hashesOf(this.#salt, user)),
      asked,
    });
  }

  async end(id: string, what: WriteEnd): Promise<void> {
    const line = { end: numberIn(id), time: this.#host.clock.now(), ...what };
    const [token = ''] = id.split('-');
    if (token === this.#run.token) return this.#own.append(line);
    if (this.#others.get(token)?.record.isGone) await this.#endOfEnded(token, [line]);
  }

  async underWay(): Promise<OtherWrites> {
    const others = await this.#records();
    return { counted: this.#counted(others), latest: { ...this.#latest } };
  }

  async openFirsts(): Promise<readonly FirstWrite[]> {
    const youngest = this.#host.clock.now() - day;
    return (await this.#records()).flatMap((record) =>
      [...record.all].flatMap(([number, entry]) => {
        const write = record.recorded(number, entry);
        if (!entry.asked.isFirst || (openOf(write)?.time ?? -Infinity) <= youngest) return [];
        return [{ ...write, isOf: (user: UserName) => hashesOf(this.#salt, user).exact === entry.users[0]?.exact }];
      }),
    );
  }

  close(): Promise<void> {
    return this.#own.close();
  }

  /** Younger locks of dead processes may be those that somebody waits for. */
  async removeOldLocks(): Promise<void> {
    const { clock, system } = this.#host;
    for (const name of await namesIn(this.#folder)) {
      if (!name.endsWith('.lock')) continue;
      const path = join(this.#folder, name);
      const found = await ifThere(`look at ${path}`, stat(path));
      const isOld = found && found.mtimeMs < clock.now() - day;
      if (isOld && !(await lockHolder(path, system))) await remove(path);
    }
  }

  /** What the files of other runs say by now. @throws Failure config where one is damaged */
  async #records(): Promise<readonly RunRecord[]> {
    // One at a time: nobody sees what a dead run had under way without its end.
    await this.#inTurn(() => this.#readAll());
    return [...this.#others.values()].map(({ record }) => record);
  }

  #counted(others: readonly RunRecord[]): Map<string, Milliseconds> {
    const counted = countedIn(others, this.#host.clock.elapsed());
    for (const [number, settle] of this.#own.counted) counted.set(`${this.#run.token}-${number}`, settle);
    return counted;
  }

  async #readAll(): Promise<void> {
    const { system } = this.#host;
    const names = await namesIn(this.#folder);
    const tokens = names.flatMap((name) => (name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : []));
    for (const token of this.#others.keys()) if (!tokens.includes(token)) this.#others.delete(token);
    for (const token of tokens) {
      if (token === this.#run.token) continue;
      const record = await this.#readOne(token);
      if (!record || record.isGone) continue;
      if (await liveOwner(record.head.owner, await thisOwner(system), system)) continue;
      // It may have got more lines before its run ended.
      const last = await this.#readOne(token);
      if (last) last.isGone = true;
      if (last && !this.#run.isDry) await this.#closeEnded(last);
    }
  }

  async #readOne(token: string): Promise<RunRecord | undefined> {
    const path = this.#pathOf(token);
    const found = await ifThere(`look at ${path}`, stat(path));
    const known = this.#others.get(token);
    const same = known?.inode === found?.ino ? known?.record : undefined;
    if (same && same.size === found?.size) return same;
    const bytes = found && (await readPrivateBytes(path, this.#host.system));
    const record = same ?? (bytes && RunRecord.begin(bytes, token, damagedAt(path)));
    if (!bytes || !record) return undefined;
    record.isGone = known?.record.isGone ?? false;
    record.read(bytes, damagedAt(path), (line, entry) => this.#note(line, entry));
    this.#others.set(token, { record, inode: found.ino });
    return record;
  }

  /** Sets moments on the clock of this run. */
  #note(line: WriteLine, entry: Entry): void {
    const { clock } = this.#host;
    const [latest, { time }] = [this.#latest, entry];
    if ('begin' in line) latest.begun = Math.max(latest.begun, time);
    else entry.endedAt = clock.elapsed() - Math.max(0, clock.now() - line.time);
    if ('end' in line && (line.is === 'answered' || line.is === 'shown')) latest.passed = Math.max(latest.passed, time);
  }

  /** Writes the ends of what a run that has ended had under way, once, with the n of now. */
  async #closeEnded(record: RunRecord): Promise<void> {
    const { clock } = this.#host;
    const cut = [...record.all].flatMap(([number, { end }]) => (end ? [] : [number]));
    if (cut.length === 0 && record.isNeeded(clock.elapsed())) return;
    const n = this.#counted([...this.#others.values()].map((one) => one.record)).size;
    const time = clock.now();
    await this.#endOfEnded(
      record.token,
      cut.map((end) => ({ end, time, is: 'no answer', n })),
    );
  }

  /** Adds ends to the file of a run that has ended, or removes it once nothing in it is pending or open. */
  async #endOfEnded(token: string, lines: readonly EndLine[]): Promise<void> {
    const path = this.#pathOf(token);
    await withLock(`${path}.lock`, this.#host, async () => {
      const record = await this.#readOne(token);
      if (!record) return;
      // Another run may have written the end by now: it is written once.
      for (const line of lines) if (line.is !== 'no answer' || !record.all.get(line.end)?.end) record.apply(line);
      if (!record.isNeeded(this.#host.clock.elapsed())) await remove(path);
      else await writePrivate(path, ...record.lines());
    });
    await this.#readOne(token);
  }

  #pathOf(token: string): string {
    return join(this.#folder, token + suffix);
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await ifThere(`read ${folder}`, readdir(folder), writableState)) ?? [];
}

function numberIn(id: string): number {
  return Number(id.slice(id.lastIndexOf('-') + 1));
}
