import type { Milliseconds } from '../../core/duration.ts';
import type { Failure } from '../../core/failure.ts';
import { appendFileSync, constants, type FileHandle } from '../../core/outside.ts';
import { openFile, remove, storageFailure, writePrivate } from '../disk/files.ts';
import type { Owner } from '../disk/owner.ts';
import { recordLine } from '../disk/records.ts';
import { suffix, version, type CarriedOver, type RecordHead, type RecordLine } from './request-record.ts';

/** A killed process loses nothing that is written; what a power cut may lose, the journal of the job has. */
const syncEvery: Milliseconds = 1000;

/** The file to which this process appends. It is made with its first hold, and removed where nothing was sent. */
export function ownFile(base: string, owner: Owner, remember: Milliseconds, elapsed: () => Milliseconds) {
  const path = `${base}.${owner.token}${suffix}`;
  let isMade = false;
  let isEmpty = true;
  let opened: Promise<FileHandle> | undefined;
  let failure: Failure | undefined;
  let synced: Milliseconds = -Infinity;
  let closing: Promise<void> | undefined;
  const append = async (text: string, sync: 'now' | 'soon' | 'never'): Promise<void> => {
    // The file may end in a cut line.
    if (failure) throw failure;
    try {
      const file = await (opened ??= openFile(path, constants.O_WRONLY | constants.O_APPEND));
      appendFileSync(file.fd, text);
      if (sync === 'never' || (sync === 'soon' && elapsed() - synced < syncEvery)) return;
      synced = elapsed();
      await file.datasync();
    } catch (cause) {
      failure ??= storageFailure(`cannot write ${path}`, cause);
      await closeFile();
      throw failure;
    }
  };
  const closeFile = async (): Promise<void> => {
    const file = await opened?.catch(() => undefined);
    opened = undefined;
    await file?.close().catch(() => undefined);
  };
  const close = async (): Promise<void> => {
    await closeFile();
    if (!isEmpty) return;
    isMade = false;
    await remove(path);
  };
  return {
    /** Holds the users, on disk when this resolves; its caller has the lock. */
    async hold(hold: number, users: readonly string[], known: readonly CarriedOver[]): Promise<void> {
      await closing;
      const line = recordLine({ event: 'held', hold, users, known } satisfies RecordLine);
      isEmpty &&= known.length === 0;
      const head: RecordHead = { requests: version, owner, remember };
      await (isMade ? append(line, 'now') : writePrivate(path, recordLine(head), line));
      isMade = true;
    },
    append(lines: readonly Exclude<RecordLine, { event: 'held' }>[]): Promise<void> {
      const isRelease = lines.every(({ event }) => event === 'freed');
      isEmpty &&= isRelease;
      // A release that a power cut takes leaves users to an owner that is gone, which only costs a wait.
      return append(lines.map(recordLine).join(''), isRelease ? 'never' : 'soon');
    },
    /** No user is held any more; the next hold waits for the end of this. */
    close: (): Promise<void> => (closing = close()),
    /** At the end of the process. Until then somebody has to know this: Node 26 throws where an open file is lost. */
    forget: (): void => void (opened = undefined),
  };
}
