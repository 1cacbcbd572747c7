import { join } from 'node:path';
import { isObject } from '../../core/json.ts';
import { openLineFile, readLineFile } from './line-file.ts';

/** The record of a purge beside its archive: purge.ndjson (docs/archive-format.md, Record of a purge). */
export interface PurgeRecord {
  readonly state: PurgeStage;
  /** The looks and calls that were recorded so far, oldest first. */
  readonly steps: readonly PurgeStep[];
  /** Records that messages may be deleted from now on. */
  begin(start: object): Promise<void>;
  /** Resolves when the step is on disk. */
  append(step: PurgeStep): Promise<void>;
  finish(end: object): Promise<void>;
  close(): Promise<void>;
}

/** `begun`: messages may have been deleted, and the purge did not end. */
export type PurgeStage = 'new' | 'begun' | 'finished';

/** From one archived id to another, both included, and all archived ones between them. */
export type IdSpan = readonly [first: number, last: number];

/** What a look at the topic showed, or how a delete call ended. */
export type PurgeStep = LookStep | CallStep;

/** What a look, right before a delete call or at the end, showed otherwise than the looks before it. */
export interface LookStep {
  /** RFC 3339. */
  readonly look: string;
  /** The lowest id that it reached; null where it read the whole topic. */
  readonly from: number | null;
  readonly there: readonly IdSpan[];
  readonly taken: readonly IdSpan[];
  readonly lost: readonly IdSpan[];
}

/** `whole`: a success that does not say that messages are left; `part`: one that does; `failed`: anything else. */
export type CallEnd = 'whole' | 'part' | 'failed';

export interface CallStep {
  readonly call: CallEnd;
}

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
    steps: file.records.filter(isStep),
    begin: (start) => file.append(start),
    append: (step) => file.append(step),
    finish: (end) => file.append(end),
    close: () => file.close(),
  };
}

function stageOf(records: readonly unknown[]): PurgeStage {
  const last = records.at(-1);
  if (!isObject(last)) return 'new';
  return 'finished' in last ? 'finished' : 'begun';
}

function isStep(record: unknown): record is PurgeStep {
  if (!isObject(record)) return false;
  const { look, from, there, taken, lost, call } = record;
  if (call === 'whole' || call === 'part' || call === 'failed') return true;
  const isFrom = from === null || typeof from === 'number';
  return typeof look === 'string' && isFrom && [there, taken, lost].every(areSpans);
}

function areSpans(value: unknown): value is IdSpan[] {
  return (
    Array.isArray(value) && value.every((span) => Array.isArray(span) && span.every((id) => typeof id === 'number'))
  );
}
