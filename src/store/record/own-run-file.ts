import { batched } from '../../core/batch.ts';
import { Failure } from '../../core/failure.ts';
import { nextTurn, type FileHandle } from '../../core/outside.ts';
import { removing } from '../../core/shell-word.ts';
import { remove, storageFailure, writePrivate } from '../disk/files.ts';
import { thisOwner } from '../disk/owner.ts';
import { readPrivateBytes, writableState } from '../disk/private.ts';
import { appendLines, openToAppend, summedLine, type Damaged } from '../disk/records.ts';
import type { Surroundings } from '../lock/lock.ts';
import { headLine, linesOf, readRunFile, type WriteLine } from './write-lines.ts';
import type { WritingRun } from './writes.ts';

/** How much longer than twice what is pending or open in it a file may be. */
const maxGrowth = 262_144;

/** The file of this run; lines that come together share one write and one sync. */
export class OwnRunFile {
  readonly append: (line: WriteLine) => Promise<void>;
  readonly #path: string;
  readonly #run: WritingRun;
  readonly #host: Surroundings;
  /** How many bytes the lines of each entry take that is under way, pending or open. */
  readonly #bytes = new Map<number, number>();
  readonly #counted = new Set<number>();
  #handle: FileHandle | undefined;
  #size = 0;
  #needed = 0;
  #failure: Failure | undefined;

  constructor(path: string, run: WritingRun, host: Surroundings) {
    this.#path = path;
    this.#run = run;
    this.#host = host;
    this.append = batched<WriteLine>((lines) => this.#write(lines), nextTurn);
  }

  /** Writes that are under way or pending. */
  counted(): number {
    return this.#counted.size;
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    if (this.#handle && this.#bytes.size === 0 && this.#failure === undefined) await remove(this.#path);
    this.#handle = undefined;
  }

  /** After a failure nothing more is written, since the file may end in a cut line. */
  async #write(lines: readonly WriteLine[]): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      this.#handle ??= await this.#open();
      const texts = lines.map(summedLine);
      if (!(await appendLines(this.#handle, texts.join('')))) throw damagedAt(this.#path)('its end is cut');
      for (const [index, line] of lines.entries()) this.#count(line, texts[index]?.length ?? 0);
      if (this.#size > 2 * this.#needed + maxGrowth) await this.#shorten(this.#handle);
    } catch (cause) {
      this.#failure = storageFailure(`cannot write ${this.#path}`, cause, writableState);
      throw this.#failure;
    }
  }

  #count(line: WriteLine, length: number): void {
    this.#size += length;
    const number = 'begin' in line ? line.begin : line.end;
    const before = this.#bytes.get(number) ?? 0;
    const isPending = 'begin' in line || line.is === 'no answer';
    if (isPending) this.#counted.add(number);
    else this.#counted.delete(number);
    const isNeeded = isPending || line.is === 'answered';
    this.#needed += isNeeded ? length : -before;
    if (isNeeded) this.#bytes.set(number, before + length);
    else this.#bytes.delete(number);
  }

  async #open(): Promise<FileHandle> {
    const owner = await thisOwner(this.#host.system);
    await writePrivate(this.#path, headLine({ ...this.#run, owner }));
    return openToAppend(this.#path);
  }

  /** Writes it again without what nobody needs to know any more. */
  async #shorten(handle: FileHandle): Promise<void> {
    const bytes = await readPrivateBytes(this.#path, this.#host.system);
    const file = bytes && readRunFile(bytes, '', damagedAt(this.#path));
    if (!file) throw damagedAt(this.#path)('its beginning is lost');
    const lines = linesOf(file);
    await writePrivate(this.#path, ...lines);
    await handle.close();
    this.#handle = await openToAppend(this.#path);
    this.#size = lines.reduce((sum, line) => sum + line.length, 0);
  }
}

export function damagedAt(path: string): Damaged {
  return (problem) =>
    new Failure('config', `the record of requests ${path} is damaged: ${problem}`, {
      hint: `Make sure that no chatelaine runs, check the licenses with license audit, and remove it: ${removing(path)}`,
    });
}
