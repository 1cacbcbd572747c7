import type { License } from '../../api/licensing/license.ts';
import { usage } from '../../core/failure.ts';
import type { LicenseUser } from '../../store/record/writes.ts';
import { textField, type Values } from '../../schema/field.ts';
import { licenseFields, soughtUser } from '../../schema/license.ts';
import { oncePerUser } from '../../store/roster/read-roster.ts';
import { command } from '../command.ts';
import { readSheet, rosterOptions, sheetRules } from '../roster.ts';
import { userOf } from './change-in-plan.ts';
import { changeEach, licensesOfUsers, openChanging, refuseSecond, renamingOptions } from './changed.ts';
import { changedFields, changedShow, keyAlone } from './show.ts';

export default command({
  about: [
    'The keys stay the same. If the new name already has a license, nothing is renamed (exit code 6). After a crash, run the same command again: it continues; of several licenses of U, with --allow-duplicate.',
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
    from: textField('FILE', 'Instead of U and NEW: a sheet with columns remote_user and new_remote_user'),
    ...rosterOptions,
  },
  examples: [
    'chatelaine license rename physio-7731 physio-7800',
    'chatelaine license rename --from names.csv --dry-run',
  ],

  rules: [{ option: 'from', excludes: ['remote_user', 'new_remote_user'] }, ...sheetRules],

  dryRun: ['rows', 'requests'],

  async *rows({ remote_user: user, new_remote_user, allow_duplicate, trust_list, from, ...how }, context) {
    if (from === undefined && (user === undefined || new_remote_user === undefined))
      throw usage('give U and NEW, or --from FILE');
    const typed = [{ remote_user: user ?? '', new_remote_user: new_remote_user ?? '' }];
    const rows = from === undefined ? typed : (await readSheet(from, how, renamings, context)).rows;
    const names = new Map(rows.map((row) => [row.remote_user, row.new_remote_user]));
    refuseChains(names);
    const changing = await openChanging(await context.licensingAccount(), trust_list, context);
    const isGiven = (name: string, next: string): boolean => names.get(name) === next;
    const chosen = await licensesOfUsers([...names.keys()], isGiven, changing);
    const fieldsOf = (license: License) => ({ remote_user: names.get(userOf(license)) ?? userOf(license) });
    /** True for the license that is to get that name, or has it already. */
    const isOwn = ({ key = '' }: License, name: string): boolean => {
      const listed = chosen.get(key);
      return listed !== undefined && fieldsOf(listed).remote_user === name;
    };
    const check = (given: LicenseUser): Promise<void> => refuseSecond(given, isOwn, changing);
    // If one of several users cannot be renamed, nothing is changed.
    if (!allow_duplicate && names.size > 1)
      for (const name of names.values()) await check({ remote_user: name, app_code: changing.app_code });
    const agreeing = { ...(from !== undefined && { ask: 'Rename' }), check: allow_duplicate ? undefined : check };
    yield* changeEach({ chosen, fieldsOf, status: 'changed', ...agreeing }, changing, context);
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

/** Refuses chains, since their result would depend on the order of the renames. @throws Failure usage */
function refuseChains(names: ReadonlyMap<string, string>): void {
  const seen = new Set<string>();
  for (const [name, next] of names) {
    if (name !== next && names.has(next)) throw usage(`'${next}' is a new name, and is renamed too`);
    if (seen.has(next)) throw usage(`'${next}' is the new name of two users`);
    seen.add(next);
  }
}
