import { orWarn } from '../../core/failure.ts';
import { changesOf, changeText } from '../../jobs/license/history.ts';
import { textField } from '../../schema/field.ts';
import type { HistoryEntry } from '../../store/record/history.ts';
import { uncut, whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import { historyOptions, readActFilter, whoOf } from '../history.ts';
import { searchFor, searchOptions } from './show.ts';

export default command({
  about: [
    'Shows what runs of this account on this computer did to licenses, the oldest first: when, by whom, and the last four characters of each key. It also shows ' +
      'which licenses are retired. The history stays on this computer; only a ledger gets it too, without names. license undo uses it.',
    'unknown means that no outcome is recorded: the run was killed, or the response was lost.',
    '--profile shows only the application of that profile. The history has only the last four characters of a key: --code compares those.',
    'With --remote-user and a ledger, it also shows what runs on other computers did for this user. The ledger keeps no names: the other name of a rename is ' +
      'shown as ?.',
  ],
  options: {
    remote_user: textField('U', 'Only this user, under the old name or the new one'),
    ...searchOptions,
    ...historyOptions,
  },
  examples: ['chatelaine license history --remote-user physio-7731', 'chatelaine license history --since 7d -o csv'],

  async *rows({ remote_user, match, code, ...asked }, context) {
    const { isUser, isKeyEnd } = searchFor(match, code);
    const own = await context.record.past('remote_user');
    const past = remote_user === undefined ? undefined : context.ledgers.any().then((one) => one?.entries(remote_user));
    const inLedger = past && (await orWarn(past, context.warn));
    const others = inLedger?.filter((one) => !own.some((entry) => isSame(one, entry))) ?? [];
    const entries = [...own, ...others];
    const isAsked = await readActFilter(asked, 'licensing', own, context);
    if (others.length > 0) entries.sort((one, two) => Date.parse(one.time) - Date.parse(two.time));
    for (const change of changesOf(entries)) {
      const { remote_user: user, remote_user_before: before = user, license_code_end: end = null } = change;
      if (!isAsked(change) || !isUser(user, before) || !isKeyEnd(end ?? '')) continue;
      if (remote_user !== undefined && ![user, before].includes(remote_user)) continue;
      const { app_code = null } = change;
      yield {
        ...whoOf(change),
        app_code,
        remote_user: user,
        change: changeText(change),
        license_code_end: end,
      };
    }
  },

  show: {
    columns: [
      { name: 'time', keep: 3 },
      { name: 'run', keep: 3 },
      ...uncut('account', 'computer', 'command'),
      // Without it, rows of two servers look alike.
      { name: 'origin', width: Infinity, keep: 2 },
      'app_code',
      ...whole('remote_user'),
      { name: 'change', width: 14 },
      { name: 'license_code_end', keep: 1 },
    ],
    others: 'known',
    none: 'no run on this computer made such a change',
  },
});

/** True if the ledger's entry is a copy of this computer's; the ledger has no names to compare. */
function isSame(told: HistoryEntry, own: HistoryEntry): boolean {
  if (told.license_code_end !== own.license_code_end) return false;
  return told.run === own.run && told.time === own.time && told.event === own.event;
}
