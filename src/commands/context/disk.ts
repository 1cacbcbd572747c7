import type { LostLines, OpenArchive } from '../../store/archive/archive.ts';
import type { Journal, JournalHeader } from '../../store/journal.ts';

/** The user's files, and the files that jobs leave behind. */
export interface Disk {
  /** The text of a file; `-` is standard input. @throws Failure usage */
  read(file: string): Promise<string>;
  /** The bytes of a file; `-` is standard input. @throws Failure usage */
  readBytes(file: string): Promise<Buffer>;
  /** The journal of a job, held by this process alone; without a file it is named by the job's header. */
  journal(header: JournalHeader, file?: string): Promise<Journal>;
  /** Whether an earlier run left the journal of that job. */
  hasJournal(header: JournalHeader): Promise<boolean>;
  /** The archive in that folder, or a new one, held by this process alone. Lines that parts.ndjson lost are refused by default. */
  archive(folder: string, lostLines?: LostLines): Promise<OpenArchive>;
  /** The folders of configuration and state. */
  files(): { readonly config: string; readonly state: string };
}
