import { Failure, usage } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { licenseCode, licenseFields, licenseFilters, retiredName } from '../../schema/license.ts';
import { command } from '../command.ts';
import { refuseReadOnly } from '../../store/account/credentials.ts';
import { changedFields, changedShow, changeEach, openChanges, type ChangingParts } from './changed.ts';

export default command({
  about: [
    'For a user who left: the API cannot delete a license, so its user becomes left-YEAR-MONTH-NAME-KEY, with the last four characters of the key, which nobody will have, and its size ' +
      'the smallest. The key itself is not withdrawn by that. Take the user out of the roster too, or license apply creates a new license.',
    'On a terminal the users are shown, and it asks. What each license was is on disk before its request: the same command resumes after ' +
      'a crash, and a license that is retired already is left as it is. One whose user has changed meanwhile is refused.',
  ],
  args: { license_code: { ...licenseCode, required: false, many: true } },
  options: { remote_user: { ...licenseFilters.remote_user, help: 'In place of CODE: every license of that user' } },
  examples: ['chatelaine license retire --remote-user physio-7740'],

  dryRun: ['requests'],

  async *run({ license_code, remote_user: users }, context) {
    if ((license_code === undefined) === (users === undefined)) throw usage('give either CODE or --remote-user U');
    const account = await context.licensingAccount();
    refuseReadOnly(account);
    const input = users ? { users } : { codes: [...new Set(license_code)] };
    const changes = await openChanges('license retire', input, account, context);
    const fieldsOf = (user: string, code: string) => ({
      remote_user: leftName(user, code, context),
      size_allowance: smallest,
    });
    yield* changeEach({ ...changes, fieldsOf, status: 'retired', ask: 'Retire' }, account, context);
  },

  fields: changedFields,

  show: changedShow,
});

const smallest = licenseFields.size_allowance.min;

/**
 * A name that no other license has, such as another one of that user. A name that is one already stays: a license can be retired twice.
 * @throws Failure rejected where it would be too long
 */
function leftName(user: string, code: string, { now, interactive }: ChangingParts): string {
  if (retiredName.test(user)) return user;
  const name = `left-${new Date(now()).toISOString().slice(0, 7)}-${user}-${code.slice(-4)}`;
  if (name.length < licenseFields.remote_user.below) return name;
  const shorter = { remote_user: 'left-NAME', size_allowance: smallest };
  throw new Failure('rejected', `'${name}' is too long for the name of a user`, {
    hint: `Give it a shorter one: ${commandLine('license edit', [interactive() ? code : 'CODE'], shorter)}`,
    retryable: false,
  });
}
