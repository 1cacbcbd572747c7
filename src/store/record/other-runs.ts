/** The files of other runs of this machine, as far as they were read. */
import { join } from 'node:path';
import { inSequence } from '../../core/batch.ts';
import { readdir, stat } from '../../core/outside.ts';
import { ifThere, remove, writePrivate } from '../disk/files.ts';
import { liveOwner, thisOwner, type Owner } from '../disk/owner.ts';
import { readPrivateBytes, writableState } from '../disk/private.ts';
import { withLock, type Surroundings } from '../lock/lock.ts';
import { damagedAt } from './own-run-file.ts';
import {
  countedIn,
  Entries,
  isForgotten,
  isNews,
  linesOf,
  readLines,
  readRunFile,
  type ReadLine,
  type RunFile,
  type WriteLine,
} from './write-lines.ts';
import type { Latest } from './writes.ts';

export const runSuffix = '.run';

/** The file of another run, as far as it was read. */
interface OtherFile extends RunFile {
  readonly inode: number;
  readonly size: number;
  /** The last entry that was seen to begin: what is read again once the file was written again has no new number. */
  readonly highest: number;
  readonly isGone: boolean;
}

interface OtherRunsHere {
  readonly folder: string;
  /** The start of this run's own file. */
  readonly token: string;
  readonly isDry: boolean;
  readonly host: Surroundings;
  /** How many writes of this run are under way or pending. */
  readonly countOwn: () => number;
}

export class OtherRuns {
  readonly #run: OtherRunsHere;
  readonly #files = new Map<string, OtherFile>();
  readonly #inTurn = inSequence();
  #owner: Promise<Owner> | undefined;
  #begun = 0;
  #passed = 0;

  constructor(run: OtherRunsHere) {
    this.#run = run;
  }

  files(): readonly OtherFile[] {
    return [...this.#files.values()];
  }

  get latest(): Latest {
    return { begun: this.#begun, passed: this.#passed };
  }

  hasEnded(token: string): boolean {
    return this.#files.get(token)?.isGone === true;
  }

  /** Reads what the files of other runs have more. @throws Failure config where one is damaged */
  read(): Promise<void> {
    // One at a time: nobody sees what a dead run had under way without its end.
    return this.#inTurn(() => this.#readAll());
  }

  async #readAll(): Promise<void> {
    const { folder, token: own, isDry, host } = this.#run;
    const names = (await ifThere(`read ${folder}`, readdir(folder), writableState)) ?? [];
    const tokens = names.flatMap((name) => (name.endsWith(runSuffix) ? [name.slice(0, -runSuffix.length)] : []));
    for (const token of this.#files.keys()) if (!tokens.includes(token)) this.#files.delete(token);
    for (const token of tokens) {
      if (token === own) continue;
      const file = await this.#readOne(token);
      if (!file || file.isGone || (await liveOwner(file.head.owner, await this.#me(), host.system))) continue;
      // It may have got more lines before its run ended.
      const last = await this.#readOne(token);
      if (last) this.#files.set(token, { ...last, isGone: true });
      if (!isDry) await this.#closeEnded(token);
    }
  }

  async #readOne(token: string): Promise<OtherFile | undefined> {
    const { folder, host } = this.#run;
    const path = join(folder, token + runSuffix);
    const found = await ifThere(`look at ${path}`, stat(path));
    const known = this.#files.get(token);
    const isSame = known !== undefined && known.inode === found?.ino;
    if (isSame && known.size === found.size) return known;
    const bytes = found && (await readPrivateBytes(path, host.system));
    if (!bytes) return undefined;
    const damaged = damagedAt(path);
    const read = isSame
      ? { ...known, ...readLines(bytes, known.size, known.entries, damaged) }
      : readRunFile(bytes, token, damaged);
    if (!read) return undefined;
    const { head, entries, size, lines } = read;
    const highest = this.#count(lines, known?.highest ?? 0);
    const file = { token, head, entries, size, inode: found.ino, highest, isGone: known?.isGone ?? false };
    this.#files.set(token, file);
    return file;
  }

  /** Numbers what is seen to begin and to pass, and sets moments on the clock of this run. */
  #count(lines: readonly ReadLine[], known: number): number {
    const { clock } = this.#run.host;
    let highest = known;
    for (const { line, entry } of lines) {
      if ('begin' in line && line.begin > highest) {
        highest = line.begin;
        this.#begun += 1;
        entry.place = this.#begun;
      }
      if (!('end' in line)) continue;
      entry.endedAt = clock.elapsed() - Math.max(0, clock.now() - line.time);
      if (line.is === 'answered' || line.is === 'shown') this.#passed = Math.max(this.#passed, entry.place);
    }
    return highest;
  }

  #me(): Promise<Owner> {
    return (this.#owner ??= thisOwner(this.#run.host.system));
  }

  /** Writes the ends of what a run that has ended had under way, once, with the n of now. */
  async #closeEnded(token: string): Promise<void> {
    const { entries = new Entries() } = this.#files.get(token) ?? {};
    const { clock } = this.#run.host;
    const all = [...entries.all()];
    const cut = all.flatMap(([number, { end }]) => (end ? [] : [number]));
    const isNeeded = all.some(([, entry]) => !isForgotten(entry, clock.elapsed()));
    if (cut.length === 0 && isNeeded) return;
    const counted = [...this.#files.values()].flatMap((file) => countedIn(file, clock.elapsed()));
    const n = counted.length + this.#run.countOwn();
    const time = clock.now();
    await this.endOfEnded(
      token,
      cut.map((end) => ({ end, time, is: 'no answer', n })),
    );
  }

  /** Adds ends to the file of a run that has ended, or removes it once nothing in it is pending or open. */
  async endOfEnded(token: string, lines: readonly WriteLine[]): Promise<void> {
    const { folder, host } = this.#run;
    const path = join(folder, token + runSuffix);
    await withLock(`${path}.lock`, host, async () => {
      const file = await this.#readOne(token);
      if (!file) return;
      for (const line of lines) if ('end' in line && isNews(file.entries.get(line.end), line)) file.entries.after(line);
      const isNeeded = [...file.entries.all()].some(([, entry]) => !isForgotten(entry, host.clock.elapsed()));
      if (!isNeeded) await remove(path);
      else await writePrivate(path, ...linesOf(file));
    });
    await this.#readOne(token);
  }
}
