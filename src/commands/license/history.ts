import { changesOf, changeText } from '../../jobs/license/history.ts';
import { textField } from '../../schema/field.ts';
import { command } from '../command.ts';
import { readTime } from '../typed-time.ts';

export default command({
  about: [
    'What runs of this account on this computer did for licenses: when, by whom, and the last four characters of each key; the oldest first. ' +
      'Nothing of it is sent anywhere. license undo works from it, and it shows which licenses are retired.',
    'A change whose end is not recorded is unknown: the run was killed, or its answer was lost. license undo puts back what a run changed.',
  ],
  options: {
    remote_user: textField('U', 'Only this user, under the old name or the new one'),
    since: textField('TIME', 'Only from this time on: 7d, monday, 2026-03-01'),
    run: textField('ID', 'Only the run of this name, which each run prints'),
  },
  examples: ['chatelaine license history --remote-user physio-7731', 'chatelaine license history --since 7d -o csv'],

  async *run({ remote_user, since, run }, context) {
    const from = since === undefined ? -Infinity : readTime('--since', since, context);
    for (const change of changesOf(await context.history())) {
      const { time, command: name, remote_user_before: before, app_code = null, license_code_end: end = null } = change;
      if (Date.parse(time) < from || (run !== undefined && change.run !== run.toUpperCase())) continue;
      if (remote_user !== undefined && ![change.remote_user, before].includes(remote_user)) continue;
      const { account, computer, origin, remote_user: user } = change;
      const who = { run: change.run, account, computer, command: name };
      yield { time, ...who, origin, app_code, remote_user: user, change: changeText(change), license_code_end: end };
    }
  },

  fields: ['origin'],

  show: {
    columns: ['time', 'run', 'account', 'computer', 'command', 'app_code', 'remote_user', 'change', 'license_code_end'],
    untruncated: ['remote_user'],
    layout: { change: { priority: 2, minWidth: 14 }, run: { priority: 1 }, license_code_end: { priority: 1 } },
    none: 'no run of this computer changed a license',
  },
});
