import { keyOf, textOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import { Failure, usage } from '../../core/failure.ts';
import { matchesGlob } from '../../core/glob.ts';
import { optional } from '../../schema/field.ts';
import { licenseCode, licenseFields, matchField, retiredName } from '../../schema/license.ts';
import type { LicenseUser } from '../../store/record/writes.ts';
import { command } from '../command.ts';
import { licensesOf } from './apps.ts';
import { concludeChanges } from './change-in-plan.ts';
import { changeEach, changeOne, openChanging, refuseSecond, renamingOptions, type ChangingParts } from './changed.ts';
import { changedFields, changedShow, keyAlone, type ChangedLicense } from './show.ts';

export default command({
  about: [
    'Standard error says what changed, as in resized 4 -> 6, and which command reverts it.',
    'Only the fields that you give are changed. --app-code is the new value here; it does not choose a credential.',
    'If the new --remote-user already has another license, nothing is changed (exit code 6).',
    'Without the key, license rename U NEW renames, and license ensure --remote-user U --size-allowance N resizes.',
    'With --match, the licenses of all users whose names match get the new size. Retired licenses stay unchanged. On a terminal the command shows the changes and asks.',
  ],
  args: { license_code: licenseCode },
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

type EditHow = { readonly [K in 'replace' | keyof typeof renamingOptions]?: boolean | undefined };

async function editOne(
  code: string,
  fields: EditedFields,
  { replace, allow_duplicate, trust_list }: EditHow,
  context: ChangingParts,
): Promise<ChangedLicense> {
  const account = await context.licensingAccount();
  const [api, method] = [context.licensing(), replace ? 'PUT' : 'PATCH'] as const;
  // With -o curl the request is shown without reading the license.
  if (context.options.dry_run && context.options.output === 'curl') await api.update({ code, fields, method });
  const changing = await openChanging(account, trust_list, context);
  const check = (given: LicenseUser) => refuseSecond(given, ({ key }) => key === code, changing);
  const how = { status: 'changed', method, check: allow_duplicate ? undefined : check };
  const changed = await changeOne({ api, code, fieldsOf: () => fields, ...how }, changing, context);
  concludeChanges([changed], changing.run, context);
  return changed;
}

/** Sets the size of every license whose user's name matches. @throws Failure not_found where none matches */
async function* editMany(match: readonly string[], size_allowance: number, context: ChangingParts) {
  const changing = await openChanging(await context.licensingAccount(), undefined, context);
  const chosen = new Map<string, License>();
  for await (const license of licensesOf({ all_apps: false }, 'whole', context)) {
    const user = textOf(license, 'remote_user') ?? '';
    if (matchesGlob(match, user) && !retiredName.test(user)) chosen.set(keyOf(license), license);
  }
  if (chosen.size === 0)
    throw new Failure('not_found', `no user matches ${match.map((glob) => `'${glob}'`).join(', ')}`);
  const changes = { chosen, fieldsOf: () => ({ size_allowance }), status: 'changed', ask: 'Resize' };
  yield* changeEach(changes, changing, context);
}
