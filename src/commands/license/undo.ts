import { hasKeyEnd, keyOf, sizeOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import { quantity } from '../../core/duration.ts';
import { Failure, usage } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { changeInWords } from '../../jobs/license/case-words.ts';
import { changesOf, type PastChange } from '../../jobs/license/history.ts';
import type { Lookups } from '../../jobs/license/lookups.ts';
import { each } from '../../jobs/work/each.ts';
import type { PlannedChange } from '../../output/presentation.ts';
import { textField } from '../../schema/field.ts';
import type { LicenseUser } from '../../store/record/writes.ts';
import { command } from '../command.ts';
import { askAbout, isAsAsked, withUndo } from './change-in-plan.ts';
import { changeOne, openChanging, refuseSecond } from './changed.ts';
import { trustOption } from './options.ts';
import { changedFields, changedShow, firstOf, type ChangedLicense } from './show.ts';

export default command({
  about: [
    'Restores the sizes, names and retired licenses that a run changed: RUN, or the latest run that is neither an undo nor undone. The command finds a license ' +
      'by the user, the size and the last four characters of the key that the run left. It names and skips a license that somebody has changed since (exit code 8). ' +
      'It restores a name only if nobody has it now.',
    'A created license cannot be undone: the command names it, and the command that retires it. An undo is a run too, and can be undone.',
    'On a terminal the command shows the plan and asks; elsewhere give RUN and --yes.',
  ],
  args: { run: textField('RUN', 'Name of the run, as it printed it (default: the latest that is not undone)') },
  options: trustOption,
  examples: ['chatelaine license undo --dry-run'],

  dryRun: ['rows', 'requests'],

  async *rows({ run: named, trust_list }, context) {
    const { options, terminal, conclude } = context;
    // Nobody can be asked, so a script has to name the run and to agree in advance.
    if (!options.dry_run && !terminal.canAsk() && (named === undefined || !options.yes))
      throw usage('without a terminal RUN and --yes are needed', 'Find the run with: chatelaine license history');
    const changes = runToUndo(changesOf(await context.record.past('remote_user')), named);
    const [first] = changes;
    const account = await context.licensingAccount({ row_app_code: first?.app_code_before ?? first?.app_code });
    const origin = context.accounts.identityOf(account);
    const other = changes.find((change) => change.origin !== origin);
    if (other) {
      const text = `run ${other.run} was on ${other.url ?? other.origin}, and the credential is for ${origin}`;
      throw new Failure('config', text, { hint: 'Name the profile of that server with --profile.' });
    }
    const licensing = (app_code: number | undefined) => context.licensing({ row_app_code: app_code });
    const changed = changes.filter(({ isNew }) => !isNew);
    const changing = await openChanging(account, trust_list, context, licensing);
    const steps: UndoStep[] = [];
    for (const change of changed) steps.push({ change, undo: await undoOf(change, changed, changing.lookups) });
    const created = changes.filter(({ isNew, isKnown }) => isNew && isKnown);
    const needed = steps.filter((step) => plannedUndo(step).kind === 'put back').length;
    const question = `Put ${needed === 1 ? 'this license' : `${needed} licenses`} back?`;
    if (!options.dry_run && needed > 0) await askAbout(steps.map(plannedUndo), question, context);
    const undoOne = async (step: UndoStep): Promise<ChangedLicense> => {
      const { change, undo } = step;
      if (typeof undo === 'string') throw refusal(change, undo);
      const { license: listed, fields } = undo;
      const api = licensing(change.app_code);
      const isOwn = (one: License) => one.key === listed.key || isOfSameUser(one, change, changed);
      const check = (given: LicenseUser) => refuseSecond(given, isOwn, changing, checkIt);
      const asked = { api, code: keyOf(listed), listed, fieldsOf: () => fields, status: 'undone', check };
      const row = await changeOne(asked, changing, context);
      return row.planned ? { ...row, planned: plannedUndo(step) } : row;
    };
    const undone = each(steps, ({ change }) => change.remote_user, undoOne);
    yield* withUndo(undone, changing.run, context);
    if (created.length > 0) conclude(createdNote(created.map(({ remote_user }) => remote_user)));
  },

  fields: changedFields,

  show: { ...changedShow, none: 'nothing that the run did can be undone' },
});

/** A change of one license. `undo`: the license with the fields that restore it, if any, or why it is skipped. */
interface UndoStep {
  readonly change: PastChange;
  readonly undo: { readonly license: License; readonly fields: EditedFields } | string;
}

/**
 * The changes of the named run, oldest first, or of the latest run that is neither an undo nor undone.
 * @throws Failure not_found
 */
function runToUndo(changes: readonly PastChange[], named: string | undefined): readonly PastChange[] {
  const isUndo = ({ command }: PastChange): boolean => command.endsWith(' undo');
  const isOpen = (change: PastChange, at: number): boolean =>
    !isUndo(change) && !changes.slice(at + 1).some((later) => isUndo(later) && isUndoOf(later, change));
  const run = named?.toUpperCase() ?? changes.findLast(isOpen)?.run;
  const ofRun = changes.filter((change) => change.run === run);
  // Two runs may have the same name: if their commands differ, neither is chosen.
  if (ofRun.length > 0 && ofRun[0]?.command === ofRun.at(-1)?.command) return ofRun;
  const none =
    changes.length > 0 ? 'every run of this computer is undone' : 'no run of this computer changed a license';
  throw new Failure('not_found', named === undefined ? none : `no run is named ${named.toUpperCase()}`, {
    hint: `Runs on other computers are in their own histories. Check with: ${commandLine('license history', [])}`,
  });
}

/** True if `later` restored what a license was before `change`. */
function isUndoOf(later: PastChange, change: PastChange): boolean {
  const { license_code_end: end, origin, size_allowance, size_allowance_before = size_allowance } = change;
  const isSame = later.license_code_end === end && later.origin === origin && later.isKnown && !change.isNew;
  return isSame && later.remote_user === userBefore(change) && later.size_allowance === size_allowance_before;
}

/** Whether the run took that license from the user, too: a user who had several gets all of them back. */
function isOfSameUser(license: License, change: PastChange, changes: readonly PastChange[]): boolean {
  const { license_code_end: end, app_code } = change;
  const others = changes.filter((other) => userBefore(other) === userBefore(change) && other.app_code === app_code);
  return others.some(({ license_code_end: other }) => other !== end && hasKeyEnd(license, other));
}

function userBefore({ remote_user, remote_user_before }: PastChange): string {
  return remote_user_before ?? remote_user;
}

/** Finds the license as the run left it, by user, size and end of its key, or says why not. @throws of a lookup */
async function undoOf(change: PastChange, changes: readonly PastChange[], lookups: Lookups): Promise<UndoStep['undo']> {
  const { app_code = 0, app_code_before: app, remote_user, size_allowance, license_code_end: end } = change;
  const { size_allowance_before: size } = change;
  const user = userBefore(change);
  const find = async (name: string, asSize = size_allowance): Promise<readonly License[]> =>
    (await lookups.licensesOf({ remote_user: name, app_code })).filter(
      (one) => (asSize === undefined || sizeOf(one) === asSize) && (end === undefined || one.key?.endsWith(end)),
    );
  if (app !== undefined) return `it was moved from application ${app}`;
  const fields = {
    ...(user !== remote_user && { remote_user: user }),
    ...(size !== undefined && size !== size_allowance && { size_allowance: size }),
  };
  const [left, ...others] = await find(remote_user);
  if (!left || others.length > 0) {
    const [before, ...more] = await find(user, size);
    if (before && more.length === 0 && !left) return { license: before, fields };
    return `${left ? 'several' : 'no'} licenses of ${remote_user} are as the run left them`;
  }
  const now = user === remote_user ? [] : await lookups.licensesOf({ remote_user: user, app_code });
  return now.every((one) => isOfSameUser(one, change, changes))
    ? { license: left, fields }
    : `'${user}' has another license now`;
}

/** A plan's line: `put back`, the user, and `resized 5 -> 3, renamed from left-…`; or why a license is skipped. */
function plannedUndo({ change, undo }: UndoStep): PlannedChange {
  const { app_code, remote_user, size_allowance } = change;
  if (typeof undo === 'string') return { kind: 'leave', user: remote_user, becomes: undo, app_code };
  const { remote_user: name, size_allowance: size } = undo.fields;
  if (isAsAsked(undo.license, undo.fields))
    return { kind: 'leave', user: userBefore(change), becomes: 'is as it was before the run', app_code };
  const resized = size !== undefined && `resized ${changeInWords(size_allowance, size)}`;
  const parts = [resized, name !== undefined && `renamed from ${remote_user}`].filter(Boolean);
  return { kind: 'put back', user: name ?? remote_user, becomes: parts.join(', '), app_code };
}

/** The failure for a license that is not as the run left it. */
function refusal({ remote_user }: PastChange, why: string): Failure {
  return new Failure('incomplete', `the license of ${remote_user} was not changed: ${why}`, {
    hint: checkIt,
    retryable: false,
  });
}

const checkIt = 'license edit CODE changes it. To check it: chatelaine license list --remote-user USER';

function createdNote(users: readonly string[]): string {
  const retire = commandLine('license retire', ['--remote-user', 'USER']);
  return `The run created ${quantity(users.length, 'license')}, which cannot be undone: ${firstOf(users.toSorted())}. To retire one: ${retire}`;
}
