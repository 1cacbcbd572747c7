import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { ArchivedMessage } from './part.ts';

const archiveChanges = ['edited', 'moved', 'deleted'] as const;

/** What a later look at the server showed of an archived message (docs/archive-format.md, Changes). */
export interface ArchiveChange {
  readonly id: number;
  readonly change: (typeof archiveChanges)[number];
  /** When it was seen, RFC 3339 UTC. */
  readonly seen: string;
  /** The message as the server showed it then. */
  readonly message?: ArchivedMessage | undefined;
}

/** The changes that lines of changes.ndjson describe. @throws Failure config for a line of another shape */
export function changesIn(records: readonly unknown[], path: string): readonly ArchiveChange[] {
  return records.map((record, index) => {
    if (isChange(record)) return record;
    throw new Failure('config', `${path}:${index + 1}: not a change of an archived message`, {
      hint: 'Put the file back from a copy, or remove that line.',
    });
  });
}

function isChange(record: unknown): record is ArchiveChange {
  if (!isObject(record)) return false;
  const { id, change, seen } = record;
  return typeof id === 'number' && typeof seen === 'string' && archiveChanges.some((known) => known === change);
}
