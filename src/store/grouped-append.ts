import { nextTurn, type FileHandle } from '../core/outside.ts';
import { recordLine } from './disk/records.ts';

export type WriteLines = (file: FileHandle, lines: string) => void | Promise<void>;

interface GroupedAppend {
  readonly append: (record: unknown) => Promise<void>;
  /** Resolves when nothing is being written; a failure was reported to those who appended. */
  readonly settled: () => Promise<void>;
}

/**
 * Appends records in groups: those of one turn of the event loop, and those that arrive while the previous group is synced, share one write
 * and one sync. So a worker's record of an answer and the one before its next request share a sync. After a failure nothing more is
 * written, since the file may end in a cut line.
 * @param failure what a failed write means
 */
export function groupedAppend(
  file: FileHandle,
  write: WriteLines,
  failure: (cause: unknown) => unknown,
): GroupedAppend {
  let gathering: { lines: string; readonly written: Promise<void> } | undefined;
  let last: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    await nextTurn();
    const lines = gathering?.lines ?? '';
    gathering = undefined;
    try {
      await write(file, lines);
      await file.datasync();
    } catch (cause) {
      throw failure(cause);
    }
  };
  const append = (record: unknown): Promise<void> => {
    const line = recordLine(record);
    if (gathering) gathering.lines += line;
    else gathering = { lines: line, written: (last = last.then(flush)) };
    return gathering.written;
  };
  return { append, settled: () => last.catch(() => undefined) };
}
