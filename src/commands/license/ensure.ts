import { notePlanned, Planned } from '../../api/http/call.ts';
import { keyOf } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { wholeFormats } from '../../output/formats.ts';
import { giveLicense } from '../../jobs/license/roster-run.ts';
import { changeInWords } from '../../jobs/license/case-words.ts';
import { licenseFields, licenseRules, soughtUser } from '../../schema/license.ts';
import { alternatives, optional } from '../../schema/field.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { command } from '../command.ts';
import { dryChange } from './change-in-plan.ts';
import { ensuringOptions, openGiving } from './options.ts';
import { changedFields, changedShow, severalFailure } from './show.ts';

export default command({
  about: [
    'A license of this size stays unchanged, one of another size is resized, and if the user has none, one is ' +
      `created. Prints only the key, unless -o is ${alternatives(wholeFormats)}; ` +
      'standard error says whether the license was created, ' +
      'resized or is unchanged.',
    'You can repeat it, and run it in parallel in one account on one machine. Across accounts and machines, share a ledger (ledger init), or let your ' +
      'CI run one job at a time (a concurrency group). A user never gets two licenses as long as the server processes each request within --settle, or never does.',
    'Nothing is created if the list of licenses is incomplete (exit code 8), or if it has a similar name, as Ada for ada (exit code 6, unless --allow-similar is given). ' +
      'If the user of a new license then has several, the exit code is 11.',
    licenseRules,
  ],
  options: {
    ...licenseFields,
    remote_user: soughtUser,
    ...optional({ app_code: licenseFields.app_code }),
    ...ensuringOptions,
  },
  examples: ['chatelaine license ensure --remote-user ada --size-allowance 4'],

  dryRun: ['rows', 'requests'],

  result: 'one',

  async *run(values, context) {
    const { options, say } = context;
    const { api, fields, giving } = await openGiving(values, 'one license', context);
    const { remote_user, app_code, size_allowance } = fields;
    const isOfJob = options.dry_run && !options.typed.has('dry_run');
    // A job with CHATELAINE_DRY_RUN needs the key to continue: a license that would be resized is read instead.
    const update: LicensingApi['update'] = async (edit) => {
      if (!isOfJob) await notePlanned(api.update(edit));
      return api.view(edit.code);
    };
    const looking = options.dry_run ? { ...api, update } : api;
    const given = await giveLicense(fields, { ...giving, licensing: () => looking }).catch((cause: unknown) => {
      if (!(cause instanceof Planned)) throw cause;
      return undefined;
    });
    if (!given && isOfJob) {
      say(`would be created: the license of ${remote_user} in application ${app_code}`);
      throw new Failure('differences', `the user ${remote_user} has no license`);
    }
    if (!given) {
      const planned = { kind: 'create', user: remote_user, becomes: `size ${size_allowance}` } as const;
      yield { key: undefined, fields: { ...fields }, before: {}, status: 'would be created', planned };
      return;
    }
    const { status, license, size_allowance_before: size_before, failure } = given;
    if (options.dry_run && !isOfJob && status === 'resized') {
      yield dryChange(license, keyOf(license), { size_allowance }, status);
      return;
    }
    const change = status === 'resized' ? ` ${changeInWords(size_before, size_allowance)}` : '';
    const done = isOfJob && status !== 'unchanged' ? `would be ${status}` : status;
    if (!failure) context.conclude(`${done}${change}: the license of ${remote_user} in application ${app_code}`);
    yield { ...license, before: { size_allowance: size_before ?? undefined }, status };
    const end = failure ?? severalFailure([...giving.several.values()]);
    if (end) throw end;
  },

  fields: changedFields,

  show: { ...changedShow, text: keyOf },
});
