import { keyOf, textOf, type EditedFields, type License, type LicenseHolder } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure, usage } from '../../core/failure.ts';
import { matchesGlob } from '../../core/glob.ts';
import { commandLine } from '../../core/shell-word.ts';
import { flagField, optional } from '../../schema/field.ts';
import { licenseCode, licenseFields, matchField, retiredName } from '../../schema/license.ts';
import { openInWords, similarTo } from '../../jobs/license/case-words.ts';
import { nameGiven, type GivenNames, type SendChange } from '../../jobs/license/given-names.ts';
import { recordedChange } from '../../jobs/license/history.ts';
import { command } from '../command.ts';
import type { Invocation } from '../context.ts';
import { licensesOf } from './apps.ts';
import { trustOption } from './options.ts';
import { changedFrom, changeEach, concludeChanges, namesOf, orName, type ChangingParts } from './changed.ts';
import { changedFields, changedShow, keyAlone, type ChangedLicense } from './show.ts';

export const renamingOptions = {
  allow_duplicate: {
    ...flagField('Give the license to a user who has another one'),
    rare: 'never-two',
  } as const,
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
      const name = nameGiven(found, fields, account.app_code);
      const names = namesOf(account, context);
      const change: SendChange = (before) =>
        replace && isWhole
          ? api.replace(code, { remote_user, app_code, size_allowance }, found, before)
          : api
              .update(code, fields, found, before)
              .catch((cause: unknown) => orName(cause, code, api, lineFor(code, fields, context)));
      const { run, record } = context.record.recorder(account);
      const users = name && !allow_duplicate && !context.options.dry_run ? [name] : [];
      try {
        await names.take(name ? [name] : []);
        await refuseSecond(api, ({ key }) => key === code, users, { claimed: names, trust_list });
        const license = await (found ? recordedChange(found, fields, record, change, names) : names.give(name, change));
        const before = changedFrom(found, fields);
        const status = found && Object.keys(before).length === 0 ? 'unchanged' : 'changed';
        const changed = { ...license, before, after: fields, status };
        concludeChanges([changed], run, context);
        return changed;
      } finally {
        await names.end();
      }
    };
    return editOne();
  },

  result: 'one or rows',
  fields: changedFields,

  show: { ...changedShow, ...keyAlone },
});

/** The line of who gave a user in place of the key. */
function lineFor(user: string, { remote_user }: EditedFields, { again }: Invocation): string {
  return remote_user === undefined ? again({ match: user }, []) : commandLine('license rename', [user, remote_user]);
}

/** Gives the licenses of the users whose names match one size. @throws Failure not_found where there are none */
async function* editMany(match: readonly string[], size_allowance: number, context: ChangingParts) {
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

/** @throws Failure rejected where a user has a license besides those, under this name or a similar one, or may have */
export async function refuseSecond(
  api: LicensingApi,
  isOwn: (license: License, user: string) => boolean,
  users: readonly LicenseHolder[],
  { claimed, trust_list }: { readonly claimed: GivenNames; readonly trust_list?: boolean | undefined },
): Promise<void> {
  const deciding = users.length > 0 ? await claimed.settled() : undefined;
  const looking = deciding ? api.deciding(deciding) : api;
  for (const user of users) {
    if (claimed.isHeld(user)) continue;
    const { exact, near } = await looking.ofUser(user, trust_list ? 'tell' : 'refuse');
    const other = [...exact, ...near].find((license) => !isOwn(license, user.remote_user));
    const answer = exact.length === 0 ? claimed.answerOf(user) : undefined;
    if (!other && !answer) continue;
    const { remote_user, app_code = 0 } = user;
    const shown =
      other && (exact.includes(other) ? `${remote_user} has a license already` : similarTo(other, remote_user));
    const has = shown ?? (answer && openInWords({ remote_user, app_code }, answer)) ?? '';
    throw new Failure('rejected', `${has}: nothing was changed`, {
      hint: 'A second license cannot be deleted. If it is intended, repeat with --allow-duplicate.',
    });
  }
}

/** A license that cannot be looked at can be changed all the same. */
function orUnknown(cause: unknown): undefined {
  if (!(cause instanceof Failure) || cause.isInterruption || cause.kind === 'auth') throw cause;
}
