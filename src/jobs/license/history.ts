import type { HistoryEntry } from '../../store/record/history.ts';
import { changeInWords } from './decide.ts';

/** What happened to one license. */
export interface PastChange extends Omit<HistoryEntry, 'event'> {
  /** Whether the request was carried out; false: it may have been. */
  readonly isKnown: boolean;
  readonly isNew: boolean;
}

/**
 * Entries of a history as what happened, the oldest first: what is written before a change and after it is one, what a server refused is
 * none, and a license that a resumed run reports again is created once.
 */
export function changesOf(entries: readonly HistoryEntry[]): PastChange[] {
  const changes = new Map<string, PastChange>();
  for (const { event, ...entry } of entries) {
    const { run, origin, app_code, remote_user, license_code_end, size_allowance } = entry;
    const isNew = event === 'created' || event === 'unknown';
    const place = JSON.stringify([event === 'created' || run, origin, app_code, remote_user, license_code_end]);
    const key = isNew ? `${event} ${place}` : `changed ${place} ${size_allowance ?? ''}`;
    if (event === 'refused') changes.delete(key);
    else if (event !== 'created' || !changes.has(key))
      changes.set(key, { ...entry, isNew, isKnown: event === 'created' || event === 'changed' });
  }
  return [...changes.values()];
}

/** What happened, in words: `created`, `resized 3 -> 5`, `renamed from ada`, `retired`, each with what is not known. */
export function changeText(change: PastChange): string {
  const {
    command,
    isNew,
    isKnown,
    remote_user_before: name,
    size_allowance: size,
    size_allowance_before: before,
  } = change;
  if (isNew) return isKnown ? 'created' : 'unknown: a license was asked for';
  const isRetired = command === 'license retire' || (command === 'license apply' && name !== undefined);
  const parts = [
    ...(isRetired
      ? [`retired${name === undefined ? '' : ` ${name}`}`]
      : name === undefined
        ? []
        : [`renamed from ${name}`]),
    ...(size === undefined || size === before || isRetired ? [] : [`resized ${changeInWords(before, size)}`]),
  ];
  return `${isKnown ? '' : 'unknown: '}${parts.join(', ')}`;
}
