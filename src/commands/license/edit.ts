import { textOf, type LicenseHolder } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure, usage } from '../../core/failure.ts';
import { optional } from '../../schema/field.ts';
import { licenseCode, licenseFields, licenseExtras } from '../../schema/license.ts';
import { similarTo } from '../../jobs/license/decide.ts';
import { recordedChange } from '../../jobs/license/recorded-change.ts';
import { command } from '../command.ts';
import { refuseReadOnly } from '../../store/account/credentials.ts';
import { beforeFields, changedFrom, changedShow, changeNote, type ChangedLicense } from './put-back.ts';
import { keyAlone } from './show.ts';

export default command({
  about: [
    'The license is looked at first: standard error says what changed, as in resized 4 -> 6, with the command that undoes it.',
    'Only what you give is changed. --app-code is the new value here, and does not choose a credential.',
    'A new --remote-user is looked up first: one who has another license is exit code 6.',
    'license view --remote-user U shows the key of a user; license ensure --remote-user U --size-allowance N resizes without it.',
  ],
  args: { license_code: licenseCode },
  options: {
    ...optional(licenseFields),
    app_code: { ...licenseFields.app_code, required: false, help: 'The new code of the application' },
    allow_duplicate: { kind: 'boolean', help: 'Give the license to a user who has another one' },
    replace: { kind: 'boolean', help: 'Replace the whole license (PUT in place of PATCH); needs all three fields' },
  },
  examples: [
    'chatelaine license edit 0191A-86552-95939-DF69B --size-allowance 8',
    'chatelaine license view --remote-user physio-7731 -q | chatelaine license edit - --size-allowance 6',
  ],

  dryRun: ['requests'],

  async run({ license_code, replace, allow_duplicate, ...fields }, context): Promise<ChangedLicense> {
    if (Object.keys(fields).length === 0)
      throw usage('nothing to change', 'Give --remote-user, --app-code or --size-allowance.');
    const { remote_user, app_code, size_allowance } = fields;
    const isWhole = remote_user !== undefined && app_code !== undefined && size_allowance !== undefined;
    if (replace && !isWhole) throw usage('--replace needs --remote-user, --app-code and --size-allowance');
    const account = await context.licensingAccount();
    refuseReadOnly(account);
    const api = context.licensing();
    // The request alone is what a dry run shows.
    const found = context.options.dry_run ? undefined : await api.view(license_code).catch(orUnknown);
    const isRenamed = remote_user !== undefined && !(found && textOf(found, 'remote_user') === remote_user);
    if (isRenamed && !allow_duplicate && !context.options.dry_run)
      await refuseSecond(api, license_code, { remote_user, app_code: app_code ?? account.app_code });
    const change = () =>
      replace && isWhole
        ? api.replace(license_code, { remote_user, app_code, size_allowance })
        : api.update(license_code, fields);
    const { run, record } = context.recorder(account);
    const license = found ? await recordedChange(found, fields, record, change) : await change();
    const before = changedFrom(found, fields);
    if (Object.keys(before).length > 0) context.conclude(changeNote(before, fields, run, context));
    return { ...license, before };
  },

  fields: [...licenseExtras, ...beforeFields],

  show: { ...changedShow, ...keyAlone },
});

/** @throws Failure rejected where the user has a license besides that one, under this name or a similar one */
async function refuseSecond(api: Pick<LicensingApi, 'ofUser'>, code: string, user: LicenseHolder): Promise<void> {
  const { exact, near } = await api.ofUser(user);
  const [other] = [...exact, ...near].filter(({ key }) => key !== code);
  if (!other) return;
  const has = exact.includes(other) ? `${user.remote_user} has a license already` : similarTo(other, user.remote_user);
  throw new Failure('rejected', `${has}: nothing was changed`, {
    hint: 'A second license of a user stays. If it is meant, repeat with --allow-duplicate.',
  });
}

/** A license that cannot be looked at can be changed all the same. */
function orUnknown(cause: unknown): undefined {
  if (!(cause instanceof Failure) || cause.isInterruption || cause.kind === 'auth') throw cause;
}
