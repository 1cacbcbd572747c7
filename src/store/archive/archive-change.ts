import { isObject } from '../../core/json.ts';
import { isMessage, type ArchivedMessage } from './part.ts';

/**
 * Why a message is no longer visible to the account: it is older than what the plan of the organization shows; nothing of its channel is
 * visible; or nobody can tell: it was deleted, or moved out of sight (docs/archive-format.md, Changes).
 */
export const reasonsGone = ['limit', 'no-access', 'unknown'] as const;
export type ReasonGone = (typeof reasonsGone)[number];

/** What a later look at the server showed of an archived message (docs/archive-format.md, Changes). */
export type ArchiveChange = MessageShown | MessageGone;

/** The message as the server showed it then: edited, moved, or as it was, after it had been gone. */
export interface MessageShown {
  readonly id: number;
  readonly change: 'edited' | 'moved' | 'back';
  /** When it was seen, RFC 3339 UTC. */
  readonly seen: string;
  readonly message: ArchivedMessage;
}

export interface MessageGone {
  readonly id: number;
  readonly change: 'gone';
  readonly seen: string;
  readonly why: ReasonGone;
  readonly message?: undefined;
}

/** The change that a line of changes.ndjson describes; undefined for a line of another shape. */
export function changeIn(record: unknown): ArchiveChange | undefined {
  if (!isObject(record)) return undefined;
  const { id, change, seen, why, message } = record;
  if (!isId(id) || typeof seen !== 'string') return undefined;
  // Archives that were made before reasons were recorded say `deleted` of whatever was not shown.
  if (change === 'deleted') return { id, change: 'gone', seen, why: 'unknown' };
  if (change === 'gone') return { id, change, seen, why: reasonsGone.find((known) => known === why) ?? 'unknown' };
  const isShown = change === 'edited' || change === 'moved' || change === 'back';
  return isShown && isMessage(message) ? { id, change, seen, message } : undefined;
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
