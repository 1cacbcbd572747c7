import { join } from 'node:path';
import { isObject } from '../../core/json.ts';
import { openLineFile, readLineFile } from './line-file.ts';

/** The record of a purge beside its archive: purge.ndjson (docs/archive-format.md, Layout). */
export interface PurgeRecord {
  readonly state: PurgeStage;
  /** Records that messages may be deleted from now on. */
  begin(start: object): Promise<void>;
  finish(end: object): Promise<void>;
  close(): Promise<void>;
}

/** `begun`: messages may have been deleted, and the purge did not end. */
export type PurgeStage = 'new' | 'begun' | 'finished';

const fileOf = (folder: string): string => join(folder, 'purge.ndjson');

/** The state of the purge in that folder; undefined where there is none. @throws Failure config where the record is damaged */
export async function readPurge(folder: string): Promise<PurgeStage | undefined> {
  const { records } = await readLineFile(fileOf(folder));
  return records.length === 0 ? undefined : stageOf(records);
}

/** Opens the record of an archive that this process holds. @throws Failure config where it is damaged */
export async function openPurge(folder: string): Promise<PurgeRecord> {
  const file = await openLineFile(fileOf(folder));
  return {
    state: stageOf(file.records),
    begin: (start) => file.append(start),
    finish: (end) => file.append(end),
    close: () => file.close(),
  };
}

function stageOf(records: readonly unknown[]): PurgeStage {
  const last = records.at(-1);
  if (!isObject(last)) return 'new';
  return 'finished' in last ? 'finished' : 'begun';
}
