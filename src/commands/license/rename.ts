import type { License } from '../../api/licensing/license.ts';
import { licenseFields, soughtUser } from '../../schema/license.ts';
import { command } from '../command.ts';
import { changeEach, openChanges } from './changed.ts';
import { duplicateOption, refuseSecond } from './edit.ts';
import { changedFields, changedShow, keyAlone } from './show.ts';

export default command({
  about: [
    'The keys stay the same. If the new name has a license already, nothing is renamed (exit code 6). After a crash, run the same command again: it resumes.',
  ],
  args: {
    remote_user: { ...soughtUser, help: 'The current name' },
    new_remote_user: { ...licenseFields.remote_user, stdin: false, placeholder: 'NEW', help: 'The new name' },
  },
  options: duplicateOption,
  examples: ['chatelaine license rename physio-7731 physio-7800'],

  dryRun: ['requests'],

  async *rows({ remote_user: user, new_remote_user: remote_user, allow_duplicate }, context) {
    const account = await context.licensingAccount();
    const changes = await openChanges('license rename', { users: [user], to: remote_user }, account, context);
    const isOwn = ({ key = '' }: License) => changes.chosen.has(key);
    if (!allow_duplicate) await refuseSecond(context.licensing(), isOwn, { remote_user, app_code: account.app_code });
    yield* changeEach({ ...changes, fieldsOf: () => ({ remote_user }), status: 'changed' }, account, context);
  },

  fields: changedFields,

  show: { ...changedShow, ...keyAlone },
});
