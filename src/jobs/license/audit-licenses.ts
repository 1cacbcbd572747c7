import type { License } from '../../api/licensing/license.ts';
import { plainName } from '../../api/licensing/user-licenses.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { licenseFields, type LicenseFields } from '../../schema/license.ts';
import { readField } from '../../schema/field.ts';
import { userKey as rowKey } from './claim-users.ts';
import { sizeOf } from './decide.ts';

export type Finding =
  | 'several-licenses'
  | 'similar-name'
  | 'shared-key'
  | 'bad-name'
  | 'bad-size'
  | 'other-size'
  | 'missing'
  | 'unexpected';

/** Who should have a license, and of which size where the roster says it. */
export type ExpectedLicense = Pick<LicenseFields, 'remote_user' | 'app_code'> &
  Partial<Pick<LicenseFields, 'size_allowance'>>;

export interface FindingRow {
  readonly finding: Finding;
  readonly remote_user: string | null;
  readonly app_code: number | null;
  /** That of the roster where the finding is about it, else that of the license: what `license apply` is to leave or set. */
  readonly size_allowance: number | null;
  /** The license that the finding is of; null where one is missing. */
  readonly license: License | null;
  readonly detail: string;
}

/** A license with the application whose key listed it: a row need not name its own. */
export interface Listed {
  readonly app_code: number | undefined;
  readonly license: License;
}

/**
 * Finds several licenses of one user in one application, one key under two users, names and sizes outside the rules; with a roster,
 * users without a license, licenses of nobody expected, and licenses of another size. A list that is not whole is audited as far as it
 * came: it cannot show that a license is missing.
 * @returns how many licenses were looked at
 * @throws Failure incomplete after the findings where the list is not whole; unavailable where its rows have no user
 */
export async function* auditLicenses(
  licenses: AsyncIterable<Listed>,
  roster: Iterable<ExpectedLicense> | undefined,
): AsyncGenerator<FindingRow, number> {
  const byUser = new Map<string, Listed[]>();
  const byKey = new Map<string, Listed[]>();
  let looked = 0;
  let gap: Failure | undefined;
  try {
    for await (const listed of licenses) {
      const user = userKey(listed);
      const { key } = listed.license;
      // Pages that move while they are read show a license twice.
      if (key !== undefined && byKey.get(key)?.some((known) => userKey(known) === user)) continue;
      looked += 1;
      group(byUser, user, listed);
      if (key !== undefined) group(byKey, key, listed);
      yield* ownFaults(listed);
    }
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
    gap = cause;
  }
  for (const listed of byUser.values()) if (listed.length > 1) yield* several(listed);
  for (const listed of byKey.values()) if (listed.length > 1) yield* shared(listed);
  yield* similar(byUser);
  if (roster) yield* compare(byUser, roster, gap ? 'part' : 'whole');
  if (gap) throw gap;
  return looked;
}

function group(groups: Map<string, Listed[]>, key: string, listed: Listed): void {
  const known = groups.get(key);
  if (known) known.push(listed);
  else groups.set(key, [listed]);
}

function userKey({ app_code, license }: Listed): string {
  if (license.fields['remote_user'] === undefined)
    throw new Failure('unavailable', 'the list does not tell whose the licenses are: there is nothing to compare', {
      hint: 'Look users up one by one: chatelaine license view --remote-user U.',
      retryable: false,
    });
  return rowKey({ remote_user: textOf(license.fields['remote_user']), app_code: codeOf({ app_code, license }) ?? 0 });
}

function codeOf({ app_code, license }: Listed): number | undefined {
  const own = license.fields['app_code'];
  return own === undefined || own === null ? app_code : Number(own);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : writeJson(value);
}

function* ownFaults(listed: Listed): Generator<FindingRow> {
  for (const name of ['remote_user', 'size_allowance'] as const) {
    const broken = fault(name, listed.license.fields[name]);
    if (broken !== undefined) yield row(name === 'remote_user' ? 'bad-name' : 'bad-size', listed, broken);
  }
}

/** The rule that a value breaks. */
function fault(name: 'remote_user' | 'size_allowance', value: unknown): string | undefined {
  if (value === undefined || value === null) return `${name}: the server does not say`;
  try {
    readField(name, licenseFields[name], textOf(value));
    return undefined;
  } catch (cause) {
    if (cause instanceof Failure) return cause.message;
    throw cause;
  }
}

function row(finding: Finding, listed: Listed, detail: string, size = sizeOf(listed.license)): FindingRow {
  const { remote_user } = listed.license.fields;
  return {
    finding,
    remote_user: remote_user === null ? null : textOf(remote_user),
    app_code: codeOf(listed) ?? null,
    size_allowance: size ?? null,
    license: listed.license,
    detail,
  };
}

function* several(group: readonly Listed[]): Generator<FindingRow> {
  for (const [index, listed] of group.entries())
    yield row('several-licenses', listed, `license ${index + 1} of ${group.length}`);
}

function* shared(group: readonly Listed[]): Generator<FindingRow> {
  const names = new Set(group.map(({ license }) => textOf(license.fields['remote_user'])));
  const users = group.map((listed) => {
    const name = `'${textOf(listed.license.fields['remote_user'])}'`;
    return names.size > 1 ? name : `${name} in application ${codeOf(listed) ?? '?'}`;
  });
  for (const listed of group) yield row('shared-key', listed, `one key of ${users.join(' and ')}`);
}

/** Users whose names differ so little that they are probably one. */
function* similar(byUser: ReadonlyMap<string, readonly Listed[]>): Generator<FindingRow> {
  const groups = new Map<string, Listed[]>();
  for (const [listed] of byUser.values()) {
    if (!listed) continue;
    const remote_user = plainName(textOf(listed.license.fields['remote_user']));
    group(groups, rowKey({ remote_user, app_code: codeOf(listed) ?? 0 }), listed);
  }
  for (const [first, ...others] of groups.values())
    for (const other of first ? others : [])
      yield row('similar-name', other, `like '${textOf(first?.license.fields['remote_user'])}'`);
}

function* compare(
  byUser: ReadonlyMap<string, readonly Listed[]>,
  roster: Iterable<ExpectedLicense>,
  extent: 'whole' | 'part',
): Generator<FindingRow> {
  const expected = new Set<string>();
  for (const { remote_user, app_code, size_allowance } of roster) {
    const user = rowKey({ remote_user, app_code });
    expected.add(user);
    const own = byUser.get(user);
    if (own && size_allowance !== undefined) yield* otherSizes(own, size_allowance);
    if (!own && extent === 'whole')
      yield {
        finding: 'missing',
        remote_user,
        app_code,
        size_allowance: size_allowance ?? null,
        license: null,
        detail: 'in the roster, without a license',
      };
  }
  for (const [user, own] of byUser) {
    if (!expected.has(user)) for (const listed of own) yield row('unexpected', listed, 'not in the roster');
  }
}

/** Of several licenses one of the right size is enough: that there are several is a finding of its own. */
function* otherSizes(own: readonly Listed[], size: number): Generator<FindingRow> {
  const shown = ({ license }: Listed): string => textOf(license.fields['size_allowance'] ?? null);
  if (own.some((listed) => shown(listed) === String(size))) return;
  for (const listed of own)
    yield row('other-size', listed, `size_allowance is ${shown(listed)}, and ${size} in the roster`, size);
}
