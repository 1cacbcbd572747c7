import { quantity } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { keyOf } from '../../api/licensing/license.ts';
import { changesOf } from '../../jobs/license/history.ts';
import { planUndo, runToUndo, undoOrRefuse, undoText, type UndoStep } from '../../jobs/license/undo-run.ts';
import { each } from '../../jobs/work/each.ts';
import type { PlannedChange } from '../../output/presentation.ts';
import { command } from '../command.ts';
import { refuseUnasked, runArgument } from '../history.ts';
import { askAbout, withUndo } from './change-in-plan.ts';
import { changeOne, openChanging, refuseSecond } from './changed.ts';
import { trustOption } from './options.ts';
import { changedFields, changedShow, type ChangedLicense } from './show.ts';

export default command({
  about: [
    'Restores the sizes, names and retired licenses that a run changed: RUN, or the latest run that is neither an undo nor undone. The command finds a license ' +
      'by the user, the size and the last four characters of the key that the run left. It names and skips a license that somebody has changed since (exit code 8). ' +
      'It restores a name only if nobody has it now.',
    'A created license cannot be undone: the command names it, and the command that retires it. An undo is a run too, and can be undone.',
    'On a terminal the command shows the plan and asks; elsewhere give RUN and --yes.',
  ],
  args: { run: runArgument },
  options: trustOption,
  examples: ['chatelaine license undo --dry-run'],

  dryRun: ['rows', 'requests'],

  async *rows({ run: named, trust_list }, context) {
    const { options, conclude } = context;
    refuseUnasked(named, 'Find the run with: chatelaine license history', context);
    const changes = runToUndo(changesOf(await context.record.past('remote_user')), named);
    const account = await context.licensingAccount({
      row_app_code: changes[0]?.app_code_before ?? changes[0]?.app_code,
    });
    const origin = context.accounts.identityOf(account);
    const other = changes.find((change) => change.origin !== origin);
    if (other)
      throw new Failure(
        'config',
        `run ${other.run} was on ${other.url ?? other.origin}, and the credential is for ${origin}`,
        {
          hint: 'Name the profile of that server with --profile.',
        },
      );
    const licensing = (app_code: number | undefined) => context.licensing({ row_app_code: app_code });
    const changed = changes.filter(({ isNew }) => !isNew);
    const changing = await openChanging(account, trust_list, context, licensing);
    const steps = await planUndo(changed, changing.lookups);
    const created = changes.filter(({ isNew, isKnown }) => isNew && isKnown);
    const needed = steps.filter(({ undo }) => undo.is === 'needed').length;
    const question = `Put ${needed === 1 ? 'this license' : `${needed} licenses`} back?`;
    if (!options.dry_run && needed > 0) await askAbout(steps.map(plannedUndo), question, context);
    const undoOne = async (step: UndoStep): Promise<ChangedLicense> => {
      const undo = undoOrRefuse(step);
      if (undo.is === 'done') return { ...undo.license, before: {}, status: 'unchanged' };
      const { license: listed, fields } = undo;
      const row = await changeOne(
        {
          api: licensing(step.change.app_code),
          code: keyOf(listed),
          listed,
          fieldsOf: () => fields,
          status: 'undone',
          check: (given) => refuseSecond(given, ({ key }) => key === listed.key, changing),
        },
        changing,
        context,
      );
      return options.dry_run ? { ...row, planned: plannedUndo(step) } : row;
    };
    const undone = each(steps, ({ change }) => change.remote_user, undoOne);
    yield* withUndo(undone, changing.run, context);
    if (created.length > 0) conclude(createdNote(created.map(({ remote_user }) => remote_user)));
  },

  fields: changedFields,

  show: { ...changedShow, none: 'nothing that the run did can be undone' },
});

function plannedUndo(step: UndoStep): PlannedChange {
  const [kind, user, becomes] = undoText(step);
  return { kind, user, becomes, app_code: step.change.app_code };
}

const maxNamed = 20;

function createdNote(users: readonly string[]): string {
  const more = users.length > maxNamed ? `, and ${users.length - maxNamed} more` : '';
  const named = users.toSorted().slice(0, maxNamed).join(', ');
  const retire = commandLine('license retire', ['--remote-user', 'USER']);
  return `The run created ${quantity(users.length, 'license')}, which cannot be undone: ${named}${more}. To retire one: ${retire}`;
}
