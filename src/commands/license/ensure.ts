import { ensureLicense } from '../../jobs/license/ensure-license.ts';
import { licenseFields, licenseRules, soughtUser } from '../../schema/license.ts';
import { optional } from '../../schema/field.ts';
import { command } from '../command.ts';
import { appCodeOf, refuseReadOnly, settleOptions, settlingOf } from './options.ts';
import { createdKey, licenseShow } from './show.ts';

export default command({
  name: 'license ensure',
  summary: 'Give a user one license, and print its key',
  about: [
    'Looks first: a license of the asked size stays as it is, one of another size is resized, and only where there is none one is ' +
      'created. Prints the key alone, unless -o is json, ndjson or yaml.',
    'Safe to repeat, and safe beside other processes on this machine; across machines let your CI run one at a time (a concurrency ' +
      'group). A user never gets two licenses, as long as the server carries a request out within --settle, or not at all.',
    licenseRules,
  ],
  options: {
    ...licenseFields,
    remote_user: soughtUser,
    ...optional({ app_code: licenseFields.app_code }),
    ...settleOptions,
  },
  examples: ['chatelaine license ensure --remote-user ada --size-allowance 4'],

  async run({ settle, ...typed }, context) {
    const app_code = await appCodeOf(context, typed.app_code);
    const account = await context.licensingAccount(typed);
    refuseReadOnly(account);
    const identity = context.identityOf(account);
    const claims = context.options.dry_run ? unclaimed : await context.claims('license ensure', identity, app_code);
    const ensuring = { ...settlingOf(context, settle), warn: (text: string) => context.warn(text) };
    return ensureLicense(context.licensing(typed), { ...typed, app_code }, claims, ensuring);
  },

  show: { ...licenseShow, quiet: createdKey, alwaysQuiet: true },
});

/** A dry run writes nothing, claims included. */
const unclaimed = { take: () => Promise.resolve(new Set<string>()), free: () => Promise.resolve() };
