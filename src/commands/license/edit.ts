import { keyOf, textOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import { Failure, usage } from '../../core/failure.ts';
import { matchesGlob } from '../../core/glob.ts';
import { commandLine } from '../../core/shell-word.ts';
import { flagField, optional } from '../../schema/field.ts';
import { licenseCode, licenseFields, matchField, retiredName } from '../../schema/license.ts';
import { openInWords, similarTo } from '../../jobs/license/case-words.ts';
import { changeLicense } from '../../jobs/license/change-license.ts';
import { noWrites, type UserName } from '../../store/record/writes.ts';
import { command } from '../command.ts';
import type { Invocation } from '../context.ts';
import { licensesOf } from './apps.ts';
import { trustOption } from './options.ts';
import { changedFrom, dryChange } from './change-in-plan.ts';
import {
  changeEach,
  changeLocked,
  concludeChanges,
  openChanging,
  orName,
  usersOf,
  type Changing,
  type ChangingParts,
} from './changed.ts';
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
    'Standard error says what changed, as in resized 4 -> 6, and which command reverts it.',
    'Only the fields that you give are changed. --app-code is the new value here; it does not choose a credential.',
    'If the new --remote-user has another license already, nothing is changed (exit code 6).',
    'Without the key, license rename U NEW renames, and license ensure --remote-user U --size-allowance N resizes.',
    'With --match, the licenses of all users whose names match get the new size. Retired licenses stay unchanged. On a terminal the command shows the changes and asks.',
  ],
  args: { license_code: { ...licenseCode, required: false } },
  options: {
    ...optional(licenseFields),
    app_code: { ...licenseFields.app_code, required: false, help: 'The new code of the application' },
    match: { ...matchField, help: "Instead of CODE: each user whose name matches, as in 'physio-*'" },
    ...renamingOptions,
    replace: { kind: 'boolean', help: 'Replace the complete license (PUT instead of PATCH); needs all three fields' },
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

  dryRun: ['rows', 'requests'],

  run({ license_code: code, match, replace, allow_duplicate, trust_list, ...fields }, context) {
    const { size_allowance } = fields;
    if (Object.keys(fields).length === 0)
      throw usage('nothing to change', 'Give --remote-user, --app-code or --size-allowance.');
    if (code === undefined) {
      if (size_allowance === undefined || Object.keys(fields).length > 1)
        throw usage('--match only changes sizes', 'Give --size-allowance N, and nothing else.');
      return editMany(match ?? [], size_allowance, context);
    }
    return editOne(code, fields, { replace, allow_duplicate, trust_list }, context);
  },

  result: 'one or rows',
  fields: changedFields,

  show: { ...changedShow, ...keyAlone },
});

/** The line of who gave a user in place of the key. */
function lineFor(user: string, { remote_user }: EditedFields, { again }: Invocation): string {
  return remote_user === undefined ? again({ match: user }, []) : commandLine('license rename', [user, remote_user]);
}

interface EditHow {
  readonly replace?: boolean | undefined;
  readonly allow_duplicate?: boolean | undefined;
  readonly trust_list?: boolean | undefined;
}

async function editOne(
  code: string,
  fields: EditedFields,
  { replace, allow_duplicate, trust_list }: EditHow,
  context: ChangingParts,
): Promise<ChangedLicense> {
  const account = await context.licensingAccount();
  const api = context.licensing();
  const { remote_user, app_code, size_allowance } = fields;
  const isWhole = remote_user !== undefined && app_code !== undefined && size_allowance !== undefined;
  const whole = replace && isWhole ? { remote_user, app_code, size_allowance } : undefined;
  const request = () => (whole ? api.replace(code, whole) : api.update(code, fields));
  if (context.options.dry_run && context.options.output === 'curl') await request();
  const changing = await openChanging(account, trust_list, context);
  const view = (key: string) =>
    api.view(key).catch((cause: unknown) => orName(cause, key, api, lineFor(key, fields, context)));
  if (context.options.dry_run) {
    const found = await view(code);
    const users = usersOf(found, fields, account.app_code).slice(1);
    if (!allow_duplicate) await refuseSecond(users, ({ key }) => key === code, changing);
    return dryChange({ found, code, fields, status: 'changed' }, request());
  }
  const changed = await changeLocked(
    { code, view, usual: account.app_code, fieldsOf: () => fields },
    changing,
    async (found, users) => {
      const before = changedFrom(found, fields);
      if (users.length > 1 && !allow_duplicate) await refuseSecond(users.slice(1), ({ key }) => key === code, changing);
      const change = { users, found: { ...found, key: code }, fields, method: whole ? 'PUT' : 'PATCH' } as const;
      const license = await changeLicense(change, { ...changing, api });
      const status = Object.keys(before).length === 0 ? 'unchanged' : 'changed';
      return { ...license, before, after: fields, status };
    },
  );
  concludeChanges([changed], changing.run, context);
  return changed;
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
  const changes = { chosen, fieldsOf: () => ({ size_allowance }), status: 'changed', ask: 'Resize' };
  yield* changeEach(changes, await openChanging(account, undefined, context), context);
}

/** @throws Failure rejected where a user has another license, under this name or a similar one, or may have one */
export async function refuseSecond(
  users: readonly UserName[],
  isOwn: (license: License, user: string) => boolean,
  { lookups, store }: Changing,
): Promise<void> {
  for (const user of users) {
    const { remote_user } = user;
    const found = await lookups.lookUp(user, 'all forms');
    if (found.shows === 'incomplete') throw found.failure;
    const other = 'licenses' in found && found.licenses.find((license) => !isOwn(license, remote_user));
    const { open } = found.shows === 'licenses' ? noWrites : await store.known(user);
    if (!other && !open) continue;
    const shown =
      found.shows === 'licenses' ? `${remote_user} has a license already` : other && similarTo(other, remote_user);
    const has = (other && shown) || (open && openInWords(user, open)) || '';
    throw new Failure('rejected', `${has}: nothing was changed`, {
      hint: 'A second license cannot be deleted. If you want it, repeat with --allow-duplicate.',
    });
  }
}
