import { usage } from '../../core/failure.ts';
import { optional } from '../../schema/field.ts';
import { licenseCode, licenseFields, licenseExtras } from '../../schema/license.ts';
import { command } from '../command.ts';
import { keyAlone, licenseShow } from './show.ts';

export default command({
  about: [
    'Only what you give is changed. --app-code is the new value here, and does not choose a credential.',
    'license view --remote-user U shows the key of a user; license ensure --remote-user U --size-allowance N resizes without it.',
  ],
  args: { license_code: licenseCode },
  options: {
    ...optional(licenseFields),
    app_code: { ...licenseFields.app_code, required: false, help: 'The new code of the application' },
    replace: { kind: 'boolean', help: 'Replace the whole license (PUT in place of PATCH); needs all three fields' },
  },
  examples: [
    'chatelaine license edit 0191A-86552-95939-DF69B --size-allowance 8',
    'chatelaine license view --remote-user physio-7731 -q | chatelaine license edit - --size-allowance 6',
  ],

  dryRun: ['requests'],

  async run({ license_code, replace, ...fields }, { licensing }) {
    if (Object.keys(fields).length === 0)
      throw usage('nothing to change', 'Give --remote-user, --app-code or --size-allowance.');
    if (!replace) return licensing().update(license_code, fields);
    const { remote_user, app_code, size_allowance } = fields;
    if (remote_user === undefined || app_code === undefined || size_allowance === undefined) {
      throw usage('--replace needs --remote-user, --app-code and --size-allowance');
    }
    return licensing().replace(license_code, { remote_user, app_code, size_allowance });
  },

  fields: licenseExtras,

  show: { ...licenseShow, ...keyAlone },
});
