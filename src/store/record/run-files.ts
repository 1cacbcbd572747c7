/**
 * The records of all runs of this machine (docs/exactly-once.md, A record a server): a folder for each origin, in it a
 * file for each run, to which that run alone appends until it has ended, and the locks of users.
 */
import { join } from 'node:path';
import { once } from '../../core/batch.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { constants, stat, type FileHandle } from '../../core/outside.ts';
import { removing, shellWord } from '../../core/shell-word.ts';
import type { System } from '../../core/system.ts';
import { ifThere, openFile, orFailure, readBytes, remove, withFile, writePrivate } from '../disk/files.ts';
import { isOwner, liveOwner, remedy, thisOwner, type Owner } from '../disk/owner.ts';
import { isOwnFolder, makePrivateFolder, stateFiles, writableState } from '../disk/private.ts';
import { appendSynced, lineIn, summedLine } from '../disk/records.ts';
import { draftLocks, isHeld, lockFolder, lockFolders, tryLock, withLock } from '../lock/lock.ts';
import type { LockDraft, Surroundings } from '../lock/lock.ts';
import { hashOf, RunRecord, type EndLine, type WriteLine } from './run-record.ts';
import type { LockHolder, WritePlace } from './run-record.ts';
import type { UserLock, LicenseUser, WritingRun } from './writes.ts';

type TimedLine = WriteLine & { readonly time: Milliseconds };

interface ReadFile {
  readonly record: RunRecord;
  readonly owner: Owner;
  /** How many bytes were read, up to the end of a line. */
  readonly size: number;
}

const version = 1;
const suffix = '.run';

const day: Milliseconds = 86_400_000;

/** `token`: the start of each id of this run. @throws Failure config where no folder can be written */
export async function openRunFiles(
  origin: string,
  token: string,
  run: WritingRun,
  host: Surroundings,
  warn: (text: string) => void,
): Promise<WritePlace> {
  const salt = hashOf(origin);
  const locks = await lockFolder(host.system);
  const [usual, temporary] = lockFolders(host.system);
  const folder = join(locks, salt);
  await makePrivateFolder(folder, host.system);
  if (locks !== usual) {
    warn(`requests are recorded in ${locks}, which does not last: a later run may not know them. ${writableState}`);
    if (await hasRuns(join(usual, salt), host.system))
      throw new Failure('config', `${usual} cannot be written, and has open requests`, {
        hint: 'Make the folder writable again, then run the same command. Nothing was sent.',
      });
  } else if ((await isOwnFolder(temporary, host.system)) && (await hasRuns(join(temporary, salt), host.system)))
    throw new Failure('config', `${temporary} has open requests of a run that could not write ${usual}`, {
      hint: `Nothing was sent. When no such run goes on: mv ${shellWord(join(temporary, salt))}/* ${shellWord(folder)}`,
    });
  await removeOldLocks(folder, host);
  return new RunFiles(folder, salt, token, run, host);
}

/** Whether a run of that server goes on in a folder, or left requests open. */
async function hasRuns(folder: string, system: System): Promise<boolean> {
  for (const name of await stateFiles(folder))
    if (name.endsWith(suffix) || (name.endsWith('.lock') && (await isHeld(join(folder, name), system)))) return true;
  return false;
}

/** Removes locks of dead processes that are older than a day; somebody may be waiting for a younger one. */
async function removeOldLocks(folder: string, { clock, system }: Surroundings): Promise<void> {
  for (const name of await stateFiles(folder)) {
    if (!name.endsWith('.lock')) continue;
    const path = join(folder, name);
    const found = await ifThere(`look at ${path}`, stat(path));
    const isOld = found && found.mtimeMs < clock.now() - day;
    if (isOld && !(await isHeld(path, system))) await remove(path);
  }
}

class RunFiles implements WritePlace {
  readonly salt: string;
  readonly #folder: string;
  readonly #token: string;
  readonly #run: WritingRun;
  readonly #host: Surroundings;
  /** The file that each lock of this run is a hard link to. */
  readonly #draft: () => Promise<LockDraft>;
  readonly #others = new Map<string, ReadFile>();
  #handle: FileHandle | undefined;
  /** Set once a line failed, and may be cut: no other follows, and users stay locked until this process ends. */
  #failure: Failure | undefined;

  constructor(folder: string, salt: string, token: string, run: WritingRun, host: Surroundings) {
    this.#folder = folder;
    this.salt = salt;
    this.#token = token;
    this.#run = run;
    this.#host = host;
    const about = { command: run.command, since: new Date(host.clock.now()).toISOString(), file: token };
    this.#draft = once(() => draftLocks(join(folder, `${token}.lock`), host.system, about));
  }

  async tryLock(_user: LicenseUser, folded: string): Promise<UserLock | LockHolder> {
    const path = join(this.#folder, `${folded}.lock`);
    const lock = await tryLock(path, this.#host, await this.#draft());
    const { release } = lock;
    if (release) return { release: async () => (this.#failure ? undefined : release()) };
    const { name, isSeen, about: said } = lock.holder;
    const holder = said ? `${said.command}, ${name}, since ${said.since.slice(11, 16)}Z` : name;
    const file = said && (await ifThere('look at a record', stat(this.#pathOf(said.file))));
    const progress = file ? `${file.size} ${file.mtimeMs}` : '';
    return { holder, progress, ...(!isSeen && { remedy: remedy(lock.holder, lock.path) }) };
  }

  /** @throws Failure config where a file is damaged */
  async read(): Promise<readonly RunRecord[]> {
    const { system } = this.#host;
    const names = await stateFiles(this.#folder);
    const tokens = names.flatMap((name) => (name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : []));
    for (const token of this.#others.keys()) if (!tokens.includes(token)) this.#others.delete(token);
    for (const token of tokens) {
      if (token === this.#token) continue;
      const file = await this.#readOne(token);
      if (!file || file.record.isGone) continue;
      if (await liveOwner(file.owner, await thisOwner(system), system)) continue;
      // The file may have got more lines before its run ended.
      const last = await this.#readOne(token);
      if (last) last.record.isGone = true;
    }
    return [...this.#others.values()].map(({ record }) => record);
  }

  /** Reads the lines that a run has added. A cut last line counts for nothing, since its request was never sent. */
  async #readOne(token: string): Promise<ReadFile | undefined> {
    const path = this.#pathOf(token);
    const found = await ifThere(`look at ${path}`, stat(path));
    const known = this.#others.get(token);
    if (known && known.size === found?.size) return known;
    const bytes = found && (await readBytes(path));
    const file = bytes && (known ?? this.#begin(bytes, token));
    if (!file) return undefined;
    const { clock } = this.#host;
    let { size } = file;
    for (let end = bytes.indexOf(10, size); end >= 0; end = bytes.indexOf(10, size)) {
      const { json, isSummed, isWhole } = lineIn(bytes.toString('utf8', size, end));
      const line = json?.value;
      if (!isSummed || !isWhole || !isWriteLine(line))
        throw damagedAt(path, `the line at byte ${size} is not what was written`);
      file.record.apply(line, line.time, clock.elapsed() - Math.max(0, clock.now() - line.time));
      size = end + 1;
    }
    const read = { ...file, size };
    this.#others.set(token, read);
    return read;
  }

  /** Reads the first line of a file; undefined where a crash cut it, before anything was sent. */
  #begin(bytes: Buffer, token: string): ReadFile | undefined {
    const size = bytes.indexOf(10) + 1;
    if (size === 0) return undefined;
    const { json, isWhole } = lineIn(bytes.toString('utf8', 0, size - 1));
    const head = json?.value;
    if (!isWhole || !isHead(head)) throw damagedAt(this.#pathOf(token), 'it does not begin as a record of writes');
    return { record: new RunRecord(token, head), owner: head.owner, size };
  }

  /** Appends lines; the caller joins those that come together, and calls in turn. */
  async append(lines: readonly WriteLine[]): Promise<void> {
    const time = this.#host.clock.now();
    if (this.#failure) throw this.#failure;
    const text = lines.map((line) => summedLine({ ...line, time })).join('');
    const appending = async (): Promise<void> => appendSynced((this.#handle ??= await this.#open()), text);
    await orFailure(`write ${this.#own}`, appending(), writableState).catch((cause: unknown) => {
      if (cause instanceof Failure) this.#failure = cause;
      throw cause;
    });
  }

  /** Adds ends under a lock, since other runs may add theirs; a write that was under way is ended only once. */
  async endOfEnded({ token }: RunRecord, ends: readonly EndLine[]): Promise<void> {
    const path = this.#pathOf(token);
    await withLock(`${path}.lock`, this.#host, async () => {
      const file = await this.#readOne(token);
      if (!file) return;
      const { record, size } = file;
      const { clock } = this.#host;
      const [time, now] = [clock.now(), clock.elapsed()];
      const lines = ends.filter((line) => line.is !== 'no answer' || !record.all.get(line.end)?.end);
      // The file counts as not read until the lines are on disk.
      this.#others.delete(token);
      for (const line of lines) record.apply(line, time, now);
      if (!record.isNeeded(now)) return remove(path);
      const text = lines.map((line) => summedLine({ ...line, time })).join('');
      const adding = withFile(openFile(path, constants.O_WRONLY | constants.O_APPEND), async (opened) => {
        await opened.truncate(size);
        await appendSynced(opened, text);
      });
      await orFailure(`write ${path}`, adding, writableState);
      this.#others.set(token, { ...file, size: size + Buffer.byteLength(text) });
    });
  }

  async close(needed: ReadonlySet<number>): Promise<void> {
    await this.#handle?.close();
    await remove(join(this.#folder, `${this.#token}.lock`));
    if (this.#handle && needed.size === 0) await remove(this.#own);
  }

  async #open(): Promise<FileHandle> {
    const { run, command } = this.#run;
    const { owner } = await this.#draft();
    await writePrivate(this.#own, summedLine({ record: version, run, command, owner }));
    return openFile(this.#own, constants.O_WRONLY | constants.O_APPEND);
  }

  get #own(): string {
    return this.#pathOf(this.#token);
  }

  #pathOf(token: string): string {
    return join(this.#folder, token + suffix);
  }
}

function isHead(value: unknown): value is WritingRun & { readonly owner: Owner } {
  return isObject(value) && value['record'] === version && isOwner(value['owner']);
}

/** Tells a line of a write from others by one member: its sum shows that the line is what was written. */
function isWriteLine(value: unknown): value is TimedLine {
  return isObject(value) && (typeof value['begin'] === 'number' || typeof value['end'] === 'number');
}

function damagedAt(path: string, problem: string): Failure {
  return new Failure('config', `the record of requests ${path} is damaged: ${problem}`, {
    hint: `Make sure that no chatelaine runs, check the licenses with license audit, and remove it: ${removing(path)}`,
  });
}
