import { createLicense } from '../../jobs/license/create-license.ts';
import { optional } from '../../schema/field.ts';
import { licenseFields, licenseRules } from '../../schema/license.ts';
import { command } from '../command.ts';
import { appCodeOf, settleOptions, settlingOf } from './options.ts';
import { createdKey, licenseShow } from './show.ts';

export default command({
  name: 'license create',
  summary: 'Create the license key of one end user',
  about: [
    licenseRules,
    'Run twice, this makes two licenses; license ensure and license apply make one.',
    'Where the answer is lost, the licenses of that user are listed after --settle. Exactly one of the asked size is the new one; ' +
      'if there is none, it is asked for again; anything else ends with exit code 9 and says what to look at.',
  ],
  options: { ...licenseFields, ...optional({ app_code: licenseFields.app_code }), ...settleOptions },
  examples: [
    'chatelaine license create --remote-user ada --size-allowance 4',
    'chatelaine license create --remote-user ada --size-allowance 4 -q',
  ],

  async run({ settle, ...typed }, context) {
    const app_code = await appCodeOf(context, typed.app_code);
    const license = await createLicense(context.licensing(typed), { ...typed, app_code }, settlingOf(context, settle));
    if (license.key === undefined) {
      context.warn(
        `the license was created, but none of its fields is known to be its key: ${Object.keys(license.fields).join(', ')}; name it with --key-field at auth login`,
      );
    }
    return license;
  },

  show: { ...licenseShow, quiet: createdKey },
});
