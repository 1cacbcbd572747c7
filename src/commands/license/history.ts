import { orWarn } from '../../core/failure.ts';
import { changesOf, changeText } from '../../jobs/license/history.ts';
import { textField } from '../../schema/field.ts';
import type { HistoryEntry } from '../../store/record/history.ts';
import { command } from '../command.ts';
import type { Accounts, Ledgers } from '../context.ts';
import { readTime } from '../typed-time.ts';

export default command({
  about: [
    'What runs of this account on this computer did for licenses: when, by whom, and the last four characters of each key; the oldest first. ' +
      'Nothing of it is sent anywhere. license undo works from it, and it shows which licenses are retired.',
    'A change whose end is not recorded is unknown: the run was killed, or its answer was lost. license undo puts back what a run changed.',
    'With --remote-user and a ledger, also what other machines were answered for this user whose license no list has shown.',
  ],
  options: {
    remote_user: textField('U', 'Only this user, under the old name or the new one'),
    since: textField('TIME', 'Only from this time on: 7d, monday, 2026-03-01'),
    run: textField('ID', 'Only the run of this name, which each run prints'),
  },
  examples: ['chatelaine license history --remote-user physio-7731', 'chatelaine license history --since 7d -o csv'],

  async *run({ remote_user, since, run }, context) {
    const from = since === undefined ? -Infinity : readTime('--since', since, context);
    const own = await context.history();
    const open = remote_user === undefined ? [] : await orWarn(openAnswers(remote_user, context), context.warn);
    const others = open?.filter((one) => !own.some((entry) => entry.license_code_end === one.license_code_end)) ?? [];
    const changes = [...changesOf(own), ...changesOf(others)];
    if (others.length > 0) changes.sort((one, other) => Date.parse(one.time) - Date.parse(other.time));
    for (const change of changes) {
      const { time, command: name, remote_user_before: before, app_code = null, license_code_end: end = null } = change;
      if (Date.parse(time) < from || (run !== undefined && change.run !== run.toUpperCase())) continue;
      if (remote_user !== undefined && ![change.remote_user, before].includes(remote_user)) continue;
      const { account, computer, origin, remote_user: user } = change;
      const who = {
        run: change.run || null,
        account: account || null,
        computer: computer || null,
        command: name || null,
      };
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

/** What other machines were answered, by the ledger, whose license no list has shown; it does not keep who asked. */
async function openAnswers(
  remote_user: string,
  { anyLedger, licensingAccount, identityOf }: Pick<Ledgers, 'anyLedger'> & Accounts,
): Promise<HistoryEntry[]> {
  const ledger = await anyLedger();
  if (!ledger) return [];
  const account = await licensingAccount();
  const origin = identityOf(account);
  const { app_code } = account;
  const answers = await ledger.openAnswers(`${origin} ${app_code ?? ''}`, [remote_user]);
  return [...answers.values()].map(({ time, key_end: license_code_end }) => {
    const who = { run: '', account: '', computer: '', command: '', origin, app_code, remote_user };
    return { ...who, event: 'unknown', time: new Date(time).toISOString(), license_code_end };
  });
}
