import { sizeOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { changeInWords } from './case-words.ts';
import type { PastChange } from './history.ts';
import type { Lookups } from './lookups.ts';

/** What a run did to one license, and how it is undone. */
export interface UndoStep {
  readonly change: PastChange;
  readonly undo:
    | { readonly is: 'needed'; readonly license: License; readonly fields: EditedFields }
    | { readonly is: 'done'; readonly license: License }
    | { readonly is: 'refused'; readonly why: string };
}

/**
 * The changes of one run, oldest first: of the one of that name, else of the last that is no undo and not undone.
 * @throws Failure not_found
 */
export function runToUndo(changes: readonly PastChange[], named: string | undefined): readonly PastChange[] {
  const isUndo = ({ command }: PastChange): boolean => command.endsWith(' undo');
  const isOpen = (change: PastChange, at: number): boolean =>
    !isUndo(change) && !changes.slice(at + 1).some((later) => isUndo(later) && isUndoOf(later, change));
  const run = named?.toUpperCase() ?? changes.findLast(isOpen)?.run;
  const ofRun = changes.filter((change) => change.run === run);
  // Two runs may have one name: the later one is meant.
  if (ofRun.length > 0 && ofRun[0]?.command === ofRun.at(-1)?.command) return ofRun;
  const none =
    changes.length > 0 ? 'every run of this computer is undone' : 'no run of this computer changed a license';
  throw new Failure('not_found', named === undefined ? none : `no run is named ${named.toUpperCase()}`, {
    hint: `Runs on other computers are in their own histories. Check with: ${commandLine('license history', [])}`,
  });
}

/** Whether a change put a license back to what it was before another one. */
function isUndoOf(later: PastChange, change: PastChange): boolean {
  const { license_code_end: end, origin, size_allowance, size_allowance_before = size_allowance } = change;
  const isSame = later.license_code_end === end && later.origin === origin && later.isKnown && !change.isNew;
  return isSame && later.remote_user === userBefore(change) && later.size_allowance === size_allowance_before;
}

/**
 * Finds each license as the run left it: by user, size and key end. One that was changed since is left alone.
 * @throws Failure of a lookup
 */
export async function planUndo(changes: readonly PastChange[], lookups: Pick<Lookups, 'lookUp'>): Promise<UndoStep[]> {
  const steps: UndoStep[] = [];
  for (const change of changes) steps.push({ change, undo: await undoOf(change, lookups) });
  return steps;
}

function userBefore({ remote_user, remote_user_before }: PastChange): string {
  return remote_user_before ?? remote_user;
}

async function undoOf(change: PastChange, lookups: Pick<Lookups, 'lookUp'>): Promise<UndoStep['undo']> {
  const { app_code = 0, app_code_before: app, remote_user, size_allowance, license_code_end: end } = change;
  const { size_allowance_before: size } = change;
  const user = userBefore(change);
  const licensesOf = async (name: string): Promise<readonly License[]> => {
    const found = await lookups.lookUp({ remote_user: name, app_code }, 'given');
    if (found.shows === 'incomplete') throw found.failure;
    return found.shows === 'licenses' ? found.licenses : [];
  };
  const find = async (name: string, asSize = size_allowance): Promise<readonly License[]> =>
    (await licensesOf(name)).filter(
      (one) => (asSize === undefined || sizeOf(one) === asSize) && (end === undefined || one.key?.endsWith(end)),
    );
  if (app !== undefined) return { is: 'refused', why: `it was moved from application ${app}` };
  const [left, ...others] = await find(remote_user);
  if (!left || others.length > 0) {
    const [before, ...more] = await find(user, size);
    if (before && more.length === 0 && !left) return { is: 'done', license: before };
    const count = left ? others.length + 1 : 'no';
    return { is: 'refused', why: `${count} licenses of ${remote_user} are as the run left them` };
  }
  if (user !== remote_user && (await licensesOf(user)).length > 0)
    return { is: 'refused', why: `'${user}' has another license now` };
  const fields = {
    ...(user !== remote_user && { remote_user: user }),
    ...(size !== undefined && size !== size_allowance && { size_allowance: size }),
  };
  return Object.keys(fields).length === 0 ? { is: 'done', license: left } : { is: 'needed', license: left, fields };
}

/** What undoing does, in words: `put back`, the user, and `resized 5 -> 3, renamed from left-2026-11-ada-1C27`. */
export function undoText({
  change,
  undo,
}: UndoStep): readonly [kind: 'leave' | 'put back', user: string, becomes: string] {
  const { remote_user, size_allowance } = change;
  if (undo.is === 'refused') return ['leave', remote_user, undo.why];
  if (undo.is === 'done') return ['leave', userBefore(change), 'is as it was before the run'];
  const { remote_user: name, size_allowance: size } = undo.fields;
  const parts = [
    ...(size === undefined ? [] : [`resized ${changeInWords(size_allowance, size)}`]),
    ...(name === undefined ? [] : [`renamed from ${remote_user}`]),
  ];
  return ['put back', name ?? remote_user, parts.join(', ')];
}

/** @throws Failure incomplete where a license is not as the run left it */
export function undoOrRefuse({ change, undo }: UndoStep): Exclude<UndoStep['undo'], { readonly is: 'refused' }> {
  if (undo.is !== 'refused') return undo;
  throw new Failure('incomplete', `the license of ${change.remote_user} was not changed: ${undo.why}`, {
    hint: 'Check it with chatelaine license list --remote-user, and change it with chatelaine license edit.',
    retryable: false,
  });
}
