import { retiredFields } from '../../jobs/license/retire.ts';
import { licenseCode, licenseFilters } from '../../schema/license.ts';
import { command } from '../command.ts';
import { changeEach, openChanges } from './changed.ts';
import { changedFields, changedShow } from './show.ts';

export default command({
  about: [
    'The API cannot delete a license. So the command renames the user of the license to left-YEAR-MONTH-NAME-KEY, where KEY is the last four characters of the ' +
      'key, and sets the smallest size. The key itself is not revoked. Take the user out of the roster too, or license apply creates a new license.',
    'On a terminal the command shows the users and asks. It records each license on disk before it changes it: after a crash, the same command resumes. It skips ' +
      'retired licenses, and refuses a license whose user has changed meanwhile.',
  ],
  args: { license_code: { ...licenseCode, required: false, many: true } },
  options: { remote_user: { ...licenseFilters.remote_user, help: 'In place of CODE: every license of that user' } },
  examples: ['chatelaine license retire --remote-user physio-7740'],

  rules: [{ oneOf: ['license_code', 'remote_user'], say: 'give either CODE or --remote-user U' }],

  dryRun: ['requests'],

  async *rows({ license_code, remote_user: users }, context) {
    const account = await context.licensingAccount();
    const input = users ? { users } : { codes: [...new Set(license_code)] };
    const changes = await openChanges('license retire', input, account, context);
    const fieldsOf = (user: string, code: string) => retiredFields(user, code, context.clock.now());
    yield* changeEach({ ...changes, fieldsOf, status: 'retired', ask: 'Retire' }, account, context);
    if (!context.options.dry_run)
      context.conclude('remove the user from your roster too, or license apply creates a new license');
  },

  fields: changedFields,

  show: changedShow,
});
