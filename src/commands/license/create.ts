import { giveLicense } from '../../jobs/license/roster-run.ts';
import { optional } from '../../schema/field.ts';
import { licenseFields, licenseRules, licenseExtras } from '../../schema/license.ts';
import { command } from '../command.ts';
import { openGiving, settleOptions } from './options.ts';
import { keyAlone, licenseShow, severalFailure } from './show.ts';

export default command({
  about: [
    licenseRules,
    'Each run creates another license. If the user has one already, the command warns, and on a terminal it asks. license ensure and license apply give each user ' +
      'one license.',
    'If the response is lost, the command waits for --settle and lists the licenses of that user. One new license of this size is the one that it requested. If ' +
      'there is none, it sends the request again (--retries). Otherwise it exits with 9 and says what to check.',
  ],
  options: { ...licenseFields, ...optional({ app_code: licenseFields.app_code }), ...settleOptions },
  examples: [
    'chatelaine license create --remote-user ada --size-allowance 4',
    'chatelaine license create --remote-user ada --size-allowance 4 -q',
    'chatelaine license create --remote-user ada --size-allowance 4 --dry-run -o curl',
  ],

  dryRun: ['requests'],

  result: 'one',

  async *run(values, context) {
    const { options, warn, confirm } = context;
    const { api, fields, giving } = await openGiving(values, 'another license', context);
    // A dry run shows this request and nothing else.
    if (options.dry_run) await api.create(fields);
    const agree = async (reason: string): Promise<void> => {
      if (giving.rules.asks) await confirm(`${reason}. Continue?`);
      else warn(reason);
    };
    const { license, failure } = await giveLicense(fields, { ...giving, agree });
    yield { ...license, status: 'created' };
    const end = failure ?? severalFailure([...giving.several.values()]);
    if (end) throw end;
  },

  fields: licenseExtras,

  show: {
    ...licenseShow,
    ...keyAlone,
  },
});
