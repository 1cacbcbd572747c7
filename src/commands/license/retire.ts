import type { License } from '../../api/licensing/license.ts';
import { retiredFields } from '../../jobs/license/retire.ts';
import { textField } from '../../schema/field.ts';
import { licenseCode, licenseFilters, retiredName, soughtUser, type LicenseFields } from '../../schema/license.ts';
import { oncePerUser } from '../../store/roster/read-roster.ts';
import { command } from '../command.ts';
import { readSheet, rosterOptions, sheetRules } from '../roster.ts';
import { userOf } from './change-in-plan.ts';
import { changeEach, licensesOfUsers, openChanging } from './changed.ts';
import { trustOption } from './options.ts';
import { changedFields, changedShow } from './show.ts';

export default command({
  about: [
    'The API cannot delete a license. So the command renames the user of the license to left-YEAR-MONTH-NAME-KEY, where KEY is the last four characters of the ' +
      'key, and sets the smallest size. The key itself is not revoked. Remove the user from the roster too, or license apply creates a new license.',
    'On a terminal the command shows the users and asks. It records each change on disk before it is sent: after a crash, run the same command again. It skips ' +
      'retired licenses, and refuses a license whose user has changed meanwhile.',
  ],
  args: { license_code: { ...licenseCode, many: true } },
  options: {
    remote_user: { ...licenseFilters.remote_user, help: 'Instead of CODE: every license of that user' },
    from: textField('FILE', 'Instead of CODE: the users in a sheet or a list of names; - is standard input'),
    ...rosterOptions,
    ...trustOption,
  },
  examples: ['chatelaine license retire --remote-user physio-7740', 'chatelaine license retire --from left.csv'],

  rules: [
    { oneOf: ['license_code', 'remote_user', 'from'], say: 'give either CODE, --remote-user U or --from FILE' },
    ...sheetRules,
  ],

  dryRun: ['rows', 'requests'],

  async *rows({ license_code, remote_user, from, trust_list, ...how }, context) {
    const rows = from === undefined ? undefined : (await readSheet(from, how, leavers, context)).rows;
    const users = rows?.map((row) => row.remote_user) ?? remote_user;
    const changing = await openChanging(await context.licensingAccount(), trust_list, context);
    const isGiven = (_user: string, name: string): boolean => retiredName.test(name);
    const chosen = users
      ? await licensesOfUsers(users, isGiven, changing)
      : new Map([...new Set(license_code)].map((code) => [code, undefined] as const));
    const fieldsOf = (license: License, code: string) => retiredFields(userOf(license), code, context.clock.now());
    yield* changeEach({ chosen, fieldsOf, status: 'retired', ask: 'Retire' }, changing, context);
  },

  fields: changedFields,

  show: changedShow,
});

const leavers = {
  fields: { remote_user: soughtUser },
  alone: 'remote_user',
  ...oncePerUser,
  completion: async () => (row: Pick<LicenseFields, 'remote_user'>) => row,
} as const;
