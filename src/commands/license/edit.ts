import { keyOf, textOf, type EditedFields, type License, type LicenseHolder } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure, usage } from '../../core/failure.ts';
import { matchesGlob } from '../../core/glob.ts';
import { commandLine } from '../../core/shell-word.ts';
import { flagField, optional } from '../../schema/field.ts';
import { licenseCode, licenseFields, matchField, retiredName } from '../../schema/license.ts';
import { similarTo } from '../../jobs/license/case-words.ts';
import { recordedChange } from '../../jobs/license/history.ts';
import { command } from '../command.ts';
import type { Invocation } from '../context.ts';
import { licensesOf } from './apps.ts';
import { trustOption } from './options.ts';
import { changedFrom, changeEach, concludeChanges, orName, type ChangingParts } from './changed.ts';
import { changedFields, changedShow, keyAlone, type ChangedLicense } from './show.ts';

export const renamingOptions = {
  allow_duplicate: flagField('Give the license to a user who has another one'),
  ...trustOption,
};

export default command({
  about: [
    'Standard error says what changed, as in resized 4 -> 6, and which command undoes it.',
    'Only the fields that you give are changed. --app-code is the new value here; it does not choose a credential.',
    'If the new --remote-user has another license already, nothing is changed (exit code 6).',
    'Without the key, license rename U NEW renames, and license ensure --remote-user U --size-allowance N resizes.',
    'With --match, the licenses of all users whose names match get the new size. Retired licenses stay unchanged. On a terminal the command shows the changes and asks.',
  ],
  args: { license_code: { ...licenseCode, required: false } },
  options: {
    ...optional(licenseFields),
    app_code: { ...licenseFields.app_code, required: false, help: 'The new code of the application' },
    match: { ...matchField, help: "In place of CODE: each user whose name matches, as in 'physio-*'" },
    ...renamingOptions,
    replace: { kind: 'boolean', help: 'Replace the whole license (PUT in place of PATCH); needs all three fields' },
  },
  examples: [
    'chatelaine license edit 0191A-86552-95939-DF69B --size-allowance 8',
    'chatelaine license view --remote-user physio-7731 -q | chatelaine license edit - --size-allowance 6',
    "chatelaine license edit --match 'physio-77*' --size-allowance 6",
  ],

  rules: [
    { oneOf: ['license_code', 'match'], say: 'give either CODE or --match GLOB' },
    { option: 'replace', needs: ['remote_user', 'app_code', 'size_allowance'] },
  ],

  dryRun: ['requests'],

  run({ license_code: code, match, replace, allow_duplicate, trust_list, ...fields }, context) {
    const { remote_user, app_code, size_allowance } = fields;
    const isWhole = remote_user !== undefined && app_code !== undefined && size_allowance !== undefined;
    if (Object.keys(fields).length === 0)
      throw usage('nothing to change', 'Give --remote-user, --app-code or --size-allowance.');
    if (code === undefined) {
      if (size_allowance === undefined || Object.keys(fields).length > 1)
        throw usage('--match changes sizes alone', 'Give --size-allowance N, and nothing else.');
      return editMany(match ?? [], size_allowance, context);
    }
    const editOne = async (): Promise<ChangedLicense> => {
      const account = await context.licensingAccount();
      const api = context.licensing();
      // The request alone is what a dry run shows.
      const found = context.options.dry_run ? undefined : await api.view(code).catch(orUnknown);
      const isRenamed = remote_user !== undefined && !(found && textOf(found, 'remote_user') === remote_user);
      if (isRenamed && !allow_duplicate && !context.options.dry_run)
        await refuseSecond(api, ({ key }) => key === code, {
          remote_user,
          app_code: app_code ?? account.app_code,
          trust_list,
        });
      const change = () =>
        replace && isWhole
          ? api.replace(code, { remote_user, app_code, size_allowance }, found)
          : api
              .update(code, fields, found)
              .catch((cause: unknown) => orName(cause, code, api, lineFor(code, fields, context)));
      const { run, record } = context.record.recorder(account);
      const license = found ? await recordedChange(found, fields, record, change) : await change();
      const before = changedFrom(found, fields);
      const status = found && Object.keys(before).length === 0 ? 'unchanged' : 'changed';
      const changed = { ...license, before, after: fields, status };
      concludeChanges([changed], run, context);
      return changed;
    };
    return editOne();
  },

  result: 'one or rows',
  fields: changedFields,

  show: { ...changedShow, ...keyAlone },
});

/** The line of who gave a user in place of the key. */
function lineFor(user: string, { remote_user }: EditedFields, { again }: Pick<Invocation, 'again'>): string {
  return remote_user === undefined ? again({ match: user }, []) : commandLine('license rename', [user, remote_user]);
}

/** Gives the licenses of the users whose names match one size. @throws Failure not_found where there are none */
async function* editMany(
  match: readonly string[],
  size_allowance: number,
  context: ChangingParts,
): AsyncGenerator<ChangedLicense> {
  const account = await context.licensingAccount();
  const chosen = new Map<string, License>();
  for await (const license of licensesOf({ all_apps: false }, 'whole', context)) {
    const user = textOf(license, 'remote_user') ?? '';
    if (matchesGlob(match, user) && !retiredName.test(user)) chosen.set(keyOf(license), license);
  }
  if (chosen.size === 0)
    throw new Failure('not_found', `no user matches ${match.map((glob) => `'${glob}'`).join(', ')}`);
  const change = { chosen, fieldsOf: () => ({ size_allowance }), status: 'changed', ask: 'Resize' };
  yield* changeEach(change, account, context);
}

/** @throws Failure rejected where the user has a license besides those, under this name or a similar one */
export async function refuseSecond(
  api: Pick<LicensingApi, 'ofUser'>,
  isOwn: (license: License) => boolean,
  { trust_list, ...user }: LicenseHolder & { readonly trust_list?: boolean | undefined },
): Promise<void> {
  const { exact, near } = await api.ofUser(user, trust_list ? 'tell' : 'refuse');
  const other = [...exact, ...near].find((license) => !isOwn(license));
  if (!other) return;
  const has = exact.includes(other) ? `${user.remote_user} has a license already` : similarTo(other, user.remote_user);
  throw new Failure('rejected', `${has}: nothing was changed`, {
    hint: 'A second license cannot be deleted. If it is intended, repeat with --allow-duplicate.',
  });
}

/** A license that cannot be looked at can be changed all the same. */
function orUnknown(cause: unknown): undefined {
  if (!(cause instanceof Failure) || cause.isInterruption || cause.kind === 'auth') throw cause;
}
