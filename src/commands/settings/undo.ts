import { Failure } from '../../core/failure.ts';
import { presentSettings } from '../../jobs/settings/present-settings.ts';
import { isUndoOf, settingChanges, undoOf } from '../../jobs/settings/undo-settings.ts';
import { refuseOtherServer, runToUndo } from '../../jobs/work/past-runs.ts';
import { command } from '../command.ts';
import { refuseUnasked, runArgument } from '../history.ts';
import { askAbout } from '../license/plan-lines.ts';
import { agreeToLoss, changeAndTell, changedSettings } from './set.ts';

export default command({
  about: [
    'Restores the settings that a run changed: RUN, or the last run on this computer that is no undo and is not undone. A setting that was changed since is named and left ' +
      'alone (exit code 8), and so is one whose old value the server did not tell. Passwords and e-mail addresses are not recorded, and cannot be restored.',
    'An undo is a run too, and can be undone. On a terminal the command shows the plan and asks; elsewhere give RUN and --yes.',
  ],
  args: { run: runArgument },
  examples: ['chatelaine settings undo --dry-run'],

  dryRun: ['requests'],

  async *rows({ run: named }, context) {
    refuseUnasked(named, 'settings set printed it.', context);
    const all = settingChanges(await context.record.past('setting'));
    const changes = runToUndo(all, named, 'setting', isUndoOf);
    const { email, ...account } = await context.chatAccount();
    refuseOtherServer(changes, context.accounts.identityOf(account));
    const [other] = changes.filter((change) => change.email !== email);
    if (other)
      throw new Failure(
        'config',
        `run ${other.run} changed settings of ${other.email}, and the credential is of ${email}`,
        {
          hint: 'Name the profile of that account with --profile.',
        },
      );
    const names = changes.map(({ setting }) => setting);
    const present = await presentSettings(context.chat(), names);
    const undos = changes.map((change) => undoOf(change, present));
    const needed = undos.filter(({ is }) => is === 'needed').map(({ assignment }) => assignment);
    const lines = undos.map(
      ({ assignment, is, becomes }) => [is === 'needed' ? 'put back' : 'leave', assignment.name, becomes] as const,
    );
    if (needed.length > 0) {
      const question = `Put ${needed.length === 1 ? 'this setting' : `${needed.length} settings`} back?`;
      if (!context.options.dry_run) await askAbout([[lines]], question, context);
      await agreeToLoss(needed, context);
      for await (const row of changeAndTell(needed, context))
        yield row.status === 'set' ? { ...row, status: 'undone' } : row;
    }
    for (const { assignment, is } of undos)
      if (is === 'done') yield { name: assignment.name, value: assignment.value, status: 'unchanged' };
    const left = undos.filter(({ is }) => is === 'refused');
    if (left.length === 0) return;
    const why = left.map(({ assignment, becomes }) => `${assignment.name} is left alone: ${becomes}`).join('\n');
    throw new Failure('incomplete', why, { hint: 'Set what you want with chatelaine settings set.', retryable: false });
  },

  ...changedSettings,
});
