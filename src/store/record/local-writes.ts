/**
 * The writes of all runs of this machine (docs/exactly-once.md, A record a server): a folder for each origin, in it a
 * file for each run, to which that run alone appends until it has ended, and the locks of users.
 */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { foldName } from '../../core/fold-name.ts';
import { readdir, stat } from '../../core/outside.ts';
import { ifThere, orFailure, remove } from '../disk/files.ts';
import { remedy } from '../disk/owner.ts';
import { makePrivateFolder, readPrivateBytes, writableState } from '../disk/private.ts';
import { lockHolder, tryLock, type Surroundings } from '../lock/lock.ts';
import { lockFolder, lockFolders } from '../lock/lock-folder.ts';
import { OtherRuns, runSuffix } from './other-runs.ts';
import { damagedAt, OwnRunFile } from './own-run-file.ts';
import { countedIn, openIn, openOf, pendingIn, readRunFile, type UserHashes } from './write-lines.ts';
import type {
  BegunWrite,
  KnownWrites,
  LockHolder,
  OpenFirst,
  OtherWrites,
  UserLock,
  UserName,
  WriteEnd,
  WritePlace,
  WritingRun,
} from './writes.ts';

const day: Milliseconds = 86_400_000;

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
  if (run.isDry) return new LocalWrites({ folder: join(usual, name), other: undefined, name, run, host });
  const locks = await lockFolder(host.system);
  const isUsual = locks === usual;
  if (!isUsual)
    run.warn(`requests are recorded in ${locks}, which does not last: a later run may not know them. ${writableState}`);
  const folder = join(locks, name);
  await makePrivateFolder(folder, host.system);
  const place = new LocalWrites({ folder, other: isUsual ? undefined : join(usual, name), name, run, host });
  await place.removeOldLocks();
  return place;
}

interface LocalRun {
  readonly folder: string;
  /** The usual folder, where it cannot be written. */
  readonly other: string | undefined;
  readonly name: string;
  readonly run: WritingRunHere;
  readonly host: Surroundings;
}

class LocalWrites implements WritePlace {
  readonly #run: LocalRun;
  readonly #others: OtherRuns;
  readonly #own: OwnRunFile;
  readonly #since: string;

  constructor(run: LocalRun) {
    this.#run = run;
    const { folder, host } = run;
    const { token, run: name, command, isDry } = run.run;
    this.#own = new OwnRunFile(join(folder, token + runSuffix), { run: name, command }, host);
    const countOwn = (): number => this.#own.counted();
    this.#others = new OtherRuns({ folder, token, isDry, host, countOwn });
    this.#since = new Date(run.host.clock.now()).toISOString();
  }

  async tryLock(users: readonly UserName[]): Promise<UserLock | LockHolder> {
    const { folder, run, host } = this.#run;
    const names = [...new Set(users.map((user) => this.#hashesOf(user).folded))].sort();
    const taken: (() => Promise<void>)[] = [];
    const release = async (): Promise<void> => {
      for (const give of taken.splice(0).reverse()) await give();
    };
    const about = { command: run.command, since: this.#since, file: run.token };
    try {
      for (const folded of names) {
        const lock = await tryLock(join(folder, `${folded}.lock`), host, about);
        if ('release' in lock) taken.push(lock.release);
        else {
          await release();
          const { name, isSeen, about: said } = lock.holder;
          const holder = said ? `${said.command}, ${name}, since ${said.since.slice(11, 16)}Z` : name;
          const progress = await this.#progressOf(said?.file);
          return { holder, progress, ...(!isSeen && { remedy: remedy(lock.holder, lock.path) }) };
        }
      }
      await this.#refuseOther(users);
      return { release };
    } catch (cause) {
      await release();
      throw cause;
    }
  }

  async known(users: readonly UserName[]): Promise<readonly KnownWrites[]> {
    await this.#others.read();
    const files = this.#others.files();
    const now = this.#run.host.clock.elapsed();
    return users.map((user) => {
      const hashes = this.#hashesOf(user);
      const pending = files.flatMap((file) => pendingIn(file, hashes, now));
      const open = files.flatMap((file) => openIn(file, hashes));
      return {
        pending: pending.sort((one, other) => one.ended - other.ended),
        open: open.sort((one, other) => one.time - other.time).at(-1),
      };
    });
  }

  async begin({ id, users, asked }: BegunWrite): Promise<void> {
    const time = this.#run.host.clock.now();
    await this.#own.append({ begin: numberIn(id), time, users: users.map((user) => this.#hashesOf(user)), asked });
  }

  async end(id: string, what: WriteEnd): Promise<void> {
    const line = { end: numberIn(id), time: this.#run.host.clock.now(), ...what };
    const [token = ''] = id.split('-');
    if (token === this.#run.run.token) return this.#own.append(line);
    if (this.#others.hasEnded(token)) await this.#others.endOfEnded(token, [line]);
  }

  async underWay(): Promise<OtherWrites> {
    await this.#others.read();
    const now = this.#run.host.clock.elapsed();
    const counted = this.#others.files().flatMap((file) => countedIn(file, now));
    return { counted, latest: this.#others.latest };
  }

  async openFirsts(): Promise<readonly OpenFirst[]> {
    await this.#others.read();
    const youngest = this.#run.host.clock.now() - day;
    return this.#others.files().flatMap((file) =>
      [...file.entries.all()].flatMap(([number, entry]) => {
        const open = entry.asked.isFirst ? openOf(`${file.token}-${number}`, file.head, entry) : undefined;
        if (!open || open.time <= youngest) return [];
        const { app_code } = entry.asked;
        return [{ ...open, app_code, isOf: (user: UserName) => this.#hashesOf(user).exact === entry.users[0]?.exact }];
      }),
    );
  }

  close(): Promise<void> {
    return this.#own.close();
  }

  /** Younger locks of dead processes may be those that somebody waits for. */
  async removeOldLocks(): Promise<void> {
    const { folder, host } = this.#run;
    for (const name of await orFailure(`read ${folder}`, readdir(folder), writableState)) {
      const path = join(folder, name);
      const isOld = name.endsWith('.lock') && ((await timeOf(path)) ?? Infinity) < host.clock.now() - day;
      if (isOld && !(await lockHolder(path, host.system))) await remove(path);
    }
  }

  #hashesOf({ app_code, remote_user }: UserName): UserHashes {
    const { name } = this.#run;
    return {
      exact: hashOf(`${name} ${app_code} ${remote_user}`),
      folded: hashOf(`${name} ${app_code} folded ${foldName(remote_user)}`),
    };
  }

  async #progressOf(file: string | undefined): Promise<string> {
    if (file === undefined) return '';
    const found = await ifThere('look at a record', stat(join(this.#run.folder, file + runSuffix)));
    return found ? `${found.size} ${found.mtimeMs}` : '';
  }

  /** While the usual folder cannot be written, a user with an entry there gets nothing. @throws Failure config */
  async #refuseOther(users: readonly UserName[]): Promise<void> {
    const { other, host } = this.#run;
    for (const name of other === undefined
      ? []
      : ((await ifThere(`read ${other}`, readdir(other), writableState)) ?? [])) {
      const path = join(other ?? '', name);
      const bytes = name.endsWith(runSuffix) ? await readPrivateBytes(path, host.system) : undefined;
      const file = bytes && readRunFile(bytes, '', damagedAt(path));
      for (const { exact, folded } of file ? users.map((user) => this.#hashesOf(user)) : [])
        if (file && (!file.entries.of(exact).next().done || !file.entries.of(folded).next().done))
          throw new Failure('config', `${other} cannot be written, and has an open request for this user`, {
            hint: 'Make the folder writable again, then run the same command. Nothing was sent.',
          });
    }
  }
}

function numberIn(id: string): number {
  return Number(id.slice(id.lastIndexOf('-') + 1));
}

async function timeOf(path: string): Promise<Milliseconds | undefined> {
  return (await ifThere(`look at ${path}`, stat(path)))?.mtimeMs;
}

/** Made of its bytes: a slice of the whole hash would keep all of it in memory. */
function hashOf(text: string): string {
  return hash('sha256', text, 'buffer').toString('hex', 0, 10);
}
