import type { License } from '../../api/licensing/license.ts';
import { usage } from '../../core/failure.ts';
import type { GivenNames } from '../../jobs/license/given-names.ts';
import { textField, type Values } from '../../schema/field.ts';
import { licenseFields, soughtUser } from '../../schema/license.ts';
import { oncePerUser } from '../../store/roster/read-roster.ts';
import { command } from '../command.ts';
import { readSheet, rosterOptions, sheetRules } from '../roster.ts';
import { changeEach, openChanges, userOf } from './changed.ts';
import { refuseSecond, renamingOptions } from './edit.ts';
import { changedFields, changedShow, keyAlone } from './show.ts';

export default command({
  about: [
    'The keys stay the same. If the new name has a license already, nothing is renamed (exit code 6); nor is a name given that another run has claimed (7). After a crash, run the same command again: it resumes.',
  ],
  args: {
    remote_user: { ...soughtUser, required: false, help: 'The current name' },
    new_remote_user: {
      ...licenseFields.remote_user,
      required: false,
      stdin: false,
      placeholder: 'NEW',
      help: 'The new name',
    },
  },
  options: {
    ...renamingOptions,
    from: textField('FILE', 'In place of U and NEW: a sheet with columns remote_user and new_remote_user'),
    ...rosterOptions,
  },
  examples: [
    'chatelaine license rename physio-7731 physio-7800',
    'chatelaine license rename --from names.csv --dry-run',
  ],

  rules: [{ option: 'from', excludes: ['remote_user', 'new_remote_user'] }, ...sheetRules],

  dryRun: ['requests'],

  async *rows({ remote_user: user, new_remote_user, allow_duplicate, trust_list, from, ...how }, context) {
    if (from === undefined && (user === undefined || new_remote_user === undefined))
      throw usage('give U and NEW, or --from FILE');
    const typed = [{ remote_user: user ?? '', new_remote_user: new_remote_user ?? '' }];
    const rows = from === undefined ? typed : (await readSheet(from, how, renamings, context)).rows;
    const names = new Map(rows.map((row) => [row.remote_user, row.new_remote_user]));
    refuseChains(names);
    const account = await context.licensingAccount();
    const to = from === undefined ? (new_remote_user ?? '') : JSON.stringify([...names]);
    const changes = await openChanges('license rename', { users: [...names.keys()], to }, account, context);
    const fieldsOf = (name: string) => ({ remote_user: names.get(name) ?? name });
    /** The license that is to get that name, or has it since an interrupted run. */
    const isOwn = ({ key = '' }: License, name: string): boolean => {
      const listed = changes.chosen.get(key);
      return listed !== undefined && fieldsOf(userOf(listed)).remote_user === name;
    };
    const { app_code } = account;
    const check = async (claimed: GivenNames): Promise<void> => {
      const users = allow_duplicate ? [] : [...names.values()].map((remote_user) => ({ remote_user, app_code }));
      await refuseSecond(context.licensing(), isOwn, users, { claimed, trust_list });
    };
    const asking = from === undefined ? {} : { ask: 'Rename' };
    yield* changeEach({ ...changes, fieldsOf, status: 'changed', check, ...asking }, account, context);
  },

  fields: changedFields,

  show: { ...changedShow, ...keyAlone },
});

const renameFields = { remote_user: soughtUser, new_remote_user: { ...soughtUser, help: 'The new name' } } as const;

const renamings = {
  fields: renameFields,
  ...oncePerUser,
  completion: async () => (row: Values<typeof renameFields>) => row,
} as const;

/** Which of two users a license is of would depend on the order. @throws Failure usage */
function refuseChains(names: ReadonlyMap<string, string>): void {
  const seen = new Set<string>();
  for (const [name, next] of names) {
    if (name !== next && names.has(next)) throw usage(`'${next}' is a new name, and is renamed too`);
    if (seen.has(next)) throw usage(`'${next}' is the new name of two users`);
    seen.add(next);
  }
}
