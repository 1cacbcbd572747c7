import { sizeOf, textOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import { writeJson } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import type { HistoryEntry, LicenseEvent } from '../../store/record/history.ts';
import type { LicenseUser, WritingRun } from '../../store/record/writes.ts';
import type { Case } from './case.ts';
import { changeInWords } from './case-words.ts';

/** The history of this computer, as far as giving and changing licenses needs it. */
export interface LicenseHistory {
  /** Appends an event; `run`: the run that caused it, if it was another one. False if it cannot be written. */
  record(event: LicenseEvent, run?: WritingRun): Promise<boolean>;
  past(kind: 'remote_user', holding?: string): Promise<readonly HistoryEntry[]>;
}

export function changeOf(found: License, asked: EditedFields): Omit<LicenseEvent, 'event'> {
  const user = textOf(found, 'remote_user') ?? '';
  const [app, size] = [textOf(found, 'app_code'), textOf(found, 'size_allowance')];
  const before = app === undefined ? undefined : Number(app);
  return {
    app_code: asked.app_code ?? before,
    app_code_before: asked.app_code === before ? undefined : asked.app_code && before,
    remote_user: asked.remote_user ?? user,
    remote_user_before: asked.remote_user === undefined || asked.remote_user === user ? undefined : user,
    size_allowance: asked.size_allowance ?? (size === undefined ? undefined : Number(size)),
    size_allowance_before: size === undefined ? undefined : Number(size),
    license_code_end: found.key?.slice(-4),
  };
}

/**
 * Appends a creation in the name of the ended run that sent the POST and did not learn its result. Returns whether the
 * record may forget the POST: only once the history has the creation, since a list may hide the license again.
 */
export async function completeHistory(
  { run, command }: WritingRun,
  { remote_user, app_code }: LicenseUser,
  shown: License,
  { record }: LicenseHistory,
): Promise<boolean> {
  // A restored ledger counts as a write of no run, and the history has nothing to say of it.
  if (run === '') return true;
  const license_code_end = shown.key?.slice(-4);
  const event = { event: 'created', remote_user, app_code, size_allowance: sizeOf(shown), license_code_end } as const;
  return record(event, { run, command });
}

/** Looks up the creation that the history of this computer or of the ledger has for a user; used only before a POST. */
export type Creations = (app_code: number, user: string) => Promise<HistoryEntry | undefined>;

/** Adds to a case the creation that the history has, where no lookup shows a license. */
export async function recall(one: Case, creations: Creations): Promise<Case> {
  const { asked, sent, seen } = one;
  if (sent || seen?.result.shows === 'licenses') return one;
  const known = await creations(asked.app_code, asked.remote_user);
  return known ? { ...one, known } : one;
}

export interface PastChange extends HistoryEntry {
  /** Whether the request was processed; false: it may have been. */
  readonly isKnown: boolean;
  readonly isNew: boolean;
}

/** The changes, oldest first. The two entries of a change become one; refused and repeated ones are left out. */
export function changesOf(entries: readonly HistoryEntry[]): PastChange[] {
  const changes = new Map<string, PastChange>();
  for (const entry of entries) {
    const { event, run, origin, app_code, remote_user, license_code_end, size_allowance } = entry;
    const isNew = event === 'created' || event === 'unknown';
    const place = JSON.stringify([event === 'created' || run, origin, app_code, remote_user, license_code_end]);
    const key = isNew ? `${event} ${place}` : `changed ${place} ${size_allowance ?? ''}`;
    if (event === 'refused') changes.delete(key);
    else if (event !== 'created' || !changes.has(key))
      changes.set(key, { ...entry, isNew, isKnown: event === 'created' || event === 'changed' });
  }
  return [...changes.values()];
}

/** A change in words: `created`, `resized 3 -> 5`, `renamed from ada`, `retired`, or `unknown: ` before these. */
export function changeText(change: PastChange): string {
  const { isNew, isKnown } = change;
  const { remote_user_before: name, size_allowance: size, size_allowance_before: before } = change;
  if (isNew) return isKnown ? 'created' : 'unknown: a license was requested';
  const doubt = isKnown ? '' : 'unknown: ';
  if (isRetirement(change)) return `${doubt}retired${name === undefined ? '' : ` ${name}`}`;
  const renamed = name !== undefined && `renamed from ${name}`;
  const resized = size !== undefined && size !== before && `resized ${changeInWords(before, size)}`;
  const moved = change.app_code_before !== undefined && `moved from application ${change.app_code_before}`;
  return doubt + [renamed, resized, moved].filter(Boolean).join(', ');
}

function isRetirement({ command, remote_user_before: name }: PastChange): boolean {
  return command === 'license retire' || (command === 'license apply' && name !== undefined);
}

/** Says which of the users who are to get a license had one that was renamed or retired since. */
export async function formerUsers(
  users: readonly (LicenseUser & { readonly origin: string })[],
  { past }: Pick<LicenseHistory, 'past'>,
): Promise<readonly string[]> {
  const former = new Map<string, PastChange>();
  for (const change of changesOf(await past('remote_user', '"remote_user_before"'))) {
    const { origin, app_code, remote_user, remote_user_before: before } = change;
    former.delete(writeJson([origin, app_code, remote_user]));
    if (before !== undefined && change.isKnown) former.set(writeJson([origin, app_code, before]), change);
  }
  return users.flatMap(({ origin, app_code, remote_user }) => {
    const change = former.get(writeJson([origin, app_code, remote_user]));
    if (!change) return [];
    const now = `'${remote_user}' is '${change.remote_user}' since ${change.time.slice(0, 10)}`;
    const back = `run ${change.run} retired that license, and ${commandLine('license undo', [change.run])} gives it back`;
    return [isRetirement(change) ? `${now}: ${back}` : now];
  });
}
