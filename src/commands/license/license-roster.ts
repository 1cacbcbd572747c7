import { refuseOtherApplication } from '../../api/licensing/application.ts';
import { sizeOf, type License } from '../../api/licensing/license.ts';
import { quantity } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { ExpectedLicense } from '../../jobs/license/audit-licenses.ts';
import { severalWarning } from '../../jobs/license/case-words.ts';
import { fewUsers, userKey } from '../../jobs/license/license-user.ts';
import type { LicenseUser } from '../../store/record/writes.ts';
import type { ReviewedPlan } from '../../jobs/license/reviewed-plan.ts';
import type { Values } from '../../schema/field.ts';
import { licenseColumns, licenseExtras, rosterFields, type LicenseFields } from '../../schema/license.ts';
import { oncePerUser, type CheckedRoster, type RosterRules } from '../../store/roster/read-roster.ts';
import type { Accounts, Services, Time } from '../context.ts';
import { apiOfEachApp, readSheet, type RosterParts, type RosterValues } from '../roster.ts';
import { appCodeOf, openLookups } from './options.ts';
import { firstOf, withOurs } from './show.ts';
import type { Target } from './apply-plan.ts';

/** The options for reading a file of users, and values for what its rows leave out. */
type UserValues = RosterValues & { readonly keep_columns?: boolean } & {
  readonly [K in 'app_code' | 'size_allowance']?: LicenseFields[K] | undefined;
};

const userFields = { ...rosterFields, size_allowance: { ...rosterFields.size_allowance, required: false } };

type UserRow = Values<typeof userFields>;

type UserRules = Pick<RosterRules<typeof userFields, ExpectedLicense>, 'noun' | 'nameOf' | 'keyOf' | 'alone'>;

/** Reads the users of a file, each with its application. @throws Failure usage; config for an unknown application */
export async function readUsers(
  file: string,
  { keep_columns, app_code, size_allowance, ...how }: UserValues,
  { fields = userFields, ...rules }: UserRules & { readonly fields?: typeof userFields },
  context: Accounts & RosterParts,
  beside?: readonly string[],
): Promise<CheckedRoster<ExpectedLicense>> {
  const completion = async (rows: readonly UserRow[]) => {
    // The run needs a code of its own only if a row has none.
    const own = rows.some((row) => row.app_code === undefined) ? await appCodeOf(context, app_code) : 0;
    return ({ remote_user, ...row }: UserRow): ExpectedLicense => {
      const size = row.size_allowance ?? size_allowance;
      // The fields are in the order of the result, not of the file.
      return { remote_user, app_code: row.app_code ?? own, ...(size !== undefined && { size_allowance: size }) };
    };
  };
  return readSheet(file, how, { fields, ...rules, completion }, context, keep_columns ? beside : undefined);
}

/** Reads a roster, in which each row has a size, or gets the run's. @throws as `readUsers` */
export async function readLicenseRoster(file: string, values: UserValues, context: Accounts & RosterParts) {
  const own = values.size_allowance === undefined ? { fields: rosterFields } : { alone: 'remote_user' };
  const beside = [...licenseColumns, 'status', 'license', 'error', 'change', 'size_allowance_before'];
  const { rows, ...roster } = await readUsers(file, values, { ...own, ...oncePerUser }, context, beside);
  return { ...roster, rows: rows.map(withSize) };
}

/** Names each field, since a spread rest would give each row its own shape in V8, which takes 250 bytes. */
function withSize({ remote_user, app_code, size_allowance = 0 }: ExpectedLicense): LicenseFields {
  return { remote_user, app_code, size_allowance };
}

/**
 * The license of each row's user, in the order of the sheet; nothing is changed.
 * @throws Failure not_found after the rows, naming users who have none; auth for a key of another application;
 * incomplete where that is not known, or where what the server lists is no key
 */
export async function* licensesOfSheet(
  file: string,
  values: UserValues,
  context: Services & Accounts & RosterParts & Time,
): AsyncGenerator<License> {
  // A user may be in several rows.
  const rules = { noun: oncePerUser.noun, nameOf: oncePerUser.nameOf, alone: 'remote_user' };
  const { rows, others } = await readUsers(file, values, rules, context, [...licenseColumns, ...licenseExtras]);
  const licensing = apiOfEachApp(context, values.app_code);
  const users = [...new Map(rows.map((row) => [userKey(row), row])).values()];
  const lookups = openLookups(licensing, { app_code: values.app_code }, context);
  const resultOf = users.length > fewUsers ? await lookups.list(users) : undefined;
  const found = new Map<string, readonly License[]>();
  const licensesOf = (user: LicenseUser): readonly License[] => found.get(userKey(user)) ?? [];
  let problem: Failure | undefined;
  for (const user of users) {
    const result = resultOf?.(user) ?? (await lookups.of(user.app_code).lookUp(user.remote_user, 'given'));
    if (result.shows === 'licenses') found.set(userKey(user), result.licenses);
    if (result.shows === 'incomplete') problem ??= result.failure;
    if (licensesOf(user).length > 1) context.warn(severalWarning(user));
  }
  const shape = users.flatMap(licensesOf)[0]?.fields ?? {};
  const blank = Object.fromEntries(Object.keys(shape).map((name) => [name, null]));
  for (const [index, { remote_user, app_code: code, size_allowance }] of rows.entries()) {
    const licenses = licensesOf({ remote_user, app_code: code });
    const license = licenses.find((one) => sizeOf(one) === size_allowance) ?? licenses[0];
    const failure = license && (await lookups.whyNoKey({ remote_user, app_code: code }, license));
    problem ??= failure?.as(failure.kind, `'${remote_user}': ${failure.message}`);
    const shown = failure ? undefined : license;
    const fields = shown?.fields ?? {
      ...blank,
      remote_user,
      app_code: code,
      ...(license && { size_allowance: sizeOf(license) ?? null }),
    };
    yield { key: shown ? shown.key : '', fields: withOurs(fields, { ...others[index] }) };
  }
  if (problem) throw problem;
  const without = users.filter((user) => licensesOf(user).length === 0).map(({ remote_user }) => remote_user);
  if (without.length === 0) return;
  if (without.length === users.length)
    for (const code of new Set(users.map((user) => user.app_code))) await refuseOtherApplication(licensing(code), code);
  const have = without.length === 1 ? 'has' : 'have';
  const text = `${without.length} of ${quantity(users.length, 'user')} ${have} no license: ${firstOf(without)}`;
  throw new Failure('not_found', text, {
    hint: 'license apply with the same file and options creates what is missing.',
  });
}

/** Adds to a result's row the other columns of its user's row in the roster. */
export function keptColumns({ rows, others }: CheckedRoster<LicenseFields>) {
  const kept = new Map(rows.map((row, index) => [userKey(row), others[index]]));
  return <R extends LicenseUser>(row: R): R => (others.length === 0 ? row : { ...row, ...kept.get(userKey(row)) });
}

export function rosterOf({ rows }: ReviewedPlan): CheckedRoster<LicenseFields> {
  const own = rows.flatMap(({ change, remote_user, app_code, size_allowance }, index) =>
    change === 'retire' ? [] : [{ row: { remote_user, app_code, size_allowance }, line: index + 2 }],
  );
  return { rows: own.map(({ row }) => row), lines: own.map(({ line }) => line), others: [] };
}

/** @throws Failure config where the plan was made for another server */
export function refuseOtherTargets(targets: readonly Target[], plan: ReviewedPlan, file: string): void {
  const servers = new Map(plan.targets.map(({ app_code, server }) => [app_code, server]));
  const other = targets.find(({ app_code, origin }) => servers.get(app_code) !== origin);
  if (!other) return;
  const server = servers.get(other.app_code) ?? '?';
  throw new Failure('config', `${file} is a plan for ${server}, and the credential is for ${other.origin}`, {
    hint: 'Name the profile of that server with --profile.',
  });
}

/** Texts that spreadsheets write for numbers and failed formulas, and exports for empty cells, dates and sums. */
const suspiciousNames = [
  /^'/,
  /^\d([.,]\d+)?E\+?\d+$|^\d+\.0$|^#[A-Z/0]+[!?]?$|^#{2,}$|^(TRUE|FALSE|\[object Object\])$/,
  /^[[(<{]?([-+]?inf(inity)?|null|nil|none|nan|nat|undefined|n\/?a|n\.a\.?|k\. ?a\.?|blank|empty|leer|vide)[\])>}]?$|^\\N$|^[-.?*_]+$/i,
  /^\d{4}([-/.])\d{1,2}\1\d{1,2}([T ]\d.*)?$|^\d{1,2}([-/.])\d{1,2}\3(\d{4}|\d\d)( \d.*)?$|^\d{1,2}:\d\d(:\d\d)?$/,
  /^\d{1,2}[-. ][A-Z][a-z]{2}\.?([- ]\d{2,4})?$|^[A-Z][a-z]{2}-\d{2}$/,
  /^((Grand |GRAND |Sub-?|SUB-?|Sous-)?([Tt]otals?|TOTALS?)|Sum|SUM|(Zwischens|S|Gesamts)umme|(ZWISCHENS|S|GESAMTS)UMME|Somm[ae]|SOMM[AE]|Suma|Gesamt(ergebnis)?|GESAMT(ERGEBNIS)?|Teilergebnis)(?<!^totals?):?$/,
];

export function warnOfNames(
  { rows, lines }: Pick<CheckedRoster<LicenseFields>, 'rows' | 'lines'>,
  place: string,
  warn: (text: string) => void,
): void {
  const isSuspicious = (name: string): boolean => suspiciousNames.some((one) => one.test(name));
  const found = rows.flatMap(({ remote_user }, index) =>
    isSuspicious(remote_user) ? [`'${remote_user}' (line ${lines[index] ?? '?'})`] : [],
  );
  if (found.length === 0) return;
  const [names, texts] = found.length === 1 ? ['the name of a user', 'such a text'] : ['names of users', 'such texts'];
  warn(`${place}: ${firstOf(found, 3)} may not be ${names}: spreadsheets write ${texts}`);
}
