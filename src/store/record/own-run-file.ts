import { batched } from '../../core/batch.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { nextTurn, type FileHandle } from '../../core/outside.ts';
import { removing } from '../../core/shell-word.ts';
import { remove, storageFailure, writePrivate } from '../disk/files.ts';
import { thisOwner } from '../disk/owner.ts';
import { readPrivateBytes, writableState } from '../disk/private.ts';
import { appendLines, openToAppend, summedLine, type Damaged } from '../disk/records.ts';
import type { Surroundings } from '../lock/lock.ts';
import { headLine, RunRecord, type WriteLine } from './write-lines.ts';
import type { WritingRun } from './writes.ts';

/** How much longer than twice what was needed when it was last written again a file may be. */
const maxGrowth = 262_144;

/** The file of this run; lines that come together share one write and one sync. */
export class OwnRunFile {
  readonly append: (line: WriteLine) => Promise<void>;
  /** Writes that are under way or pending, each with its `settle`. */
  readonly counted = new Map<number, Milliseconds>();
  /** Those, and the ones that are open or not forgotten; a large run has many. */
  readonly #left = new Set<number>();
  readonly #path: string;
  readonly #run: WritingRun;
  readonly #host: Surroundings;
  #handle: FileHandle | undefined;
  #size = 0;
  #needed = 0;
  #failure: Failure | undefined;

  constructor(path: string, { run, command }: WritingRun, host: Surroundings) {
    this.#path = path;
    this.#run = { run, command };
    this.#host = host;
    this.append = batched<WriteLine>((lines) => this.#write(lines), nextTurn);
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    if (this.#handle && this.#left.size === 0 && !this.#failure) await remove(this.#path);
  }

  /** After a failure nothing more is written, since the file may end in a cut line. */
  async #write(lines: readonly WriteLine[]): Promise<void> {
    if (this.#failure) throw this.#failure;
    try {
      this.#handle ??= await this.#rewrite([headLine({ ...this.#run, owner: await thisOwner(this.#host.system) })]);
      const text = lines.map(summedLine).join('');
      if (!(await appendLines(this.#handle, text))) throw damagedAt(this.#path)('its end is cut');
      for (const line of lines) this.#count(line);
      this.#size += text.length;
      if (this.#size > 2 * this.#needed + maxGrowth) await this.#shorten(this.#handle);
    } catch (cause) {
      this.#failure = storageFailure(`cannot write ${this.#path}`, cause, writableState);
      throw this.#failure;
    }
  }

  #count(line: WriteLine): void {
    if ('begin' in line) {
      this.#left.add(line.begin);
      this.counted.set(line.begin, line.asked.settle);
      return;
    }
    if (line.is !== 'no answer' || line.n === 0) this.counted.delete(line.end);
    if (line.is !== 'no answer' && line.is !== 'answered') this.#left.delete(line.end);
  }

  /** Writes it again without what nobody needs to know any more. */
  async #shorten(handle: FileHandle): Promise<void> {
    const damaged = damagedAt(this.#path);
    const bytes = await readPrivateBytes(this.#path, this.#host.system);
    const record = bytes && RunRecord.begin(bytes, '', damaged);
    if (!record) throw damaged('its beginning is lost');
    record.read(bytes, damaged);
    await handle.close();
    this.#handle = await this.#rewrite(record.lines());
  }

  async #rewrite(lines: readonly string[]): Promise<FileHandle> {
    await writePrivate(this.#path, ...lines);
    this.#needed = this.#size = lines.reduce((sum, line) => sum + line.length, 0);
    return openToAppend(this.#path);
  }
}

export function damagedAt(path: string): Damaged {
  return (problem) =>
    new Failure('config', `the record of requests ${path} is damaged: ${problem}`, {
      hint: `Make sure that no chatelaine runs, check the licenses with license audit, and remove it: ${removing(path)}`,
    });
}
