import { batched } from '../../core/batch.ts';
import { Failure } from '../../core/failure.ts';
import { nextTurn, type FileHandle } from '../../core/outside.ts';
import { removing } from '../../core/shell-word.ts';
import { remove, storageFailure, writePrivate } from '../disk/files.ts';
import { thisOwner } from '../disk/owner.ts';
import { writableState } from '../disk/private.ts';
import { appendLines, openToAppend, summedLine, type Damaged } from '../disk/records.ts';
import type { Surroundings } from '../lock/lock.ts';
import { RunRecord, type WriteLine } from './write-lines.ts';
import type { WritingRun } from './writes.ts';

/** How much longer than twice what was needed when it was last written again a file may be. */
const maxGrowth = 262_144;

/** The file of this run; lines that come together share one write and one sync. */
export class OwnRunFile {
  readonly append: (line: WriteLine) => Promise<void>;
  readonly #path: string;
  readonly #run: WritingRun & { readonly token: string };
  readonly #host: Surroundings;
  #opened: { readonly handle: FileHandle; readonly record: RunRecord } | undefined;
  #needed = 0;
  #failure: Failure | undefined;

  constructor(path: string, run: WritingRun & { readonly token: string }, host: Surroundings) {
    this.#path = path;
    this.#run = run;
    this.#host = host;
    this.append = batched<WriteLine>((lines) => this.#write(lines), nextTurn);
  }

  /** What is written in it; undefined before the first line. */
  get record(): RunRecord | undefined {
    return this.#opened?.record;
  }

  async close(): Promise<void> {
    await this.#opened?.handle.close();
    if (this.#opened?.record.all.size === 0 && !this.#failure) await remove(this.#path);
  }

  /** After a failure nothing more is written, since the file may end in a cut line. */
  async #write(lines: readonly WriteLine[]): Promise<void> {
    if (this.#failure) throw this.#failure;
    try {
      const { handle, record } = (this.#opened ??= await this.#open());
      const text = lines.map(summedLine).join('');
      if (!(await appendLines(handle, text))) throw damagedAt(this.#path)('its end is cut');
      for (const line of lines) record.apply(line);
      record.size += text.length;
      if (record.size <= 2 * this.#needed + maxGrowth) return;
      // Written again without what nobody needs to know any more.
      await handle.close();
      this.#opened = await this.#writeAll(record);
    } catch (cause) {
      this.#failure = storageFailure(`cannot write ${this.#path}`, cause, writableState);
      throw this.#failure;
    }
  }

  async #open() {
    const { token, run, command } = this.#run;
    return this.#writeAll(new RunRecord(token, { run, command, owner: await thisOwner(this.#host.system) }, 0));
  }

  async #writeAll(record: RunRecord) {
    const lines = record.lines();
    await writePrivate(this.#path, ...lines);
    this.#needed = record.size = lines.reduce((sum, line) => sum + line.length, 0);
    return { handle: await openToAppend(this.#path), record };
  }
}

export function damagedAt(path: string): Damaged {
  return (problem) =>
    new Failure('config', `the record of requests ${path} is damaged: ${problem}`, {
      hint: `Make sure that no chatelaine runs, check the licenses with license audit, and remove it: ${removing(path)}`,
    });
}
