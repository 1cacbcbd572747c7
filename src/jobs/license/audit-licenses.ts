import type { License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { licenseFields, type LicenseFields } from '../../schema/license.ts';
import { readField } from '../../schema/field.ts';
import { rowKey } from '../roster/roster-journal.ts';

export type Finding = 'several-licenses' | 'shared-key' | 'bad-name' | 'bad-size' | 'missing' | 'unexpected';

export interface FindingRow {
  readonly finding: Finding;
  readonly remote_user: string | null;
  readonly app_code: number | null;
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
 * What is wrong with the licenses: several of one user in one application, one key under two users, names and sizes outside the
 * rules; with a roster, users without a license and licenses of nobody expected (contract, section 1).
 * @throws Failure unavailable where the list does not tell whose the licenses are
 */
export async function* auditLicenses(
  licenses: AsyncIterable<Listed>,
  roster: Iterable<Pick<LicenseFields, 'remote_user' | 'app_code'>> | undefined,
): AsyncGenerator<FindingRow> {
  const byUser = new Map<string, Listed[]>();
  const byKey = new Map<string, Listed[]>();
  for await (const listed of licenses) {
    const user = userKey(listed);
    const { key } = listed.license;
    // Pages that move while they are read show a license twice.
    if (key !== undefined && byKey.get(key)?.some((known) => userKey(known) === user)) continue;
    gather(byUser, user, listed);
    if (key !== undefined) gather(byKey, key, listed);
    yield* ownFaults(listed);
  }
  for (const group of byUser.values()) if (group.length > 1) yield* several(group);
  for (const group of byKey.values()) if (group.length > 1) yield* shared(group);
  if (roster) yield* compare(byUser, roster);
}

function gather(groups: Map<string, Listed[]>, key: string, listed: Listed): void {
  const group = groups.get(key);
  if (group) group.push(listed);
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

function row(finding: Finding, listed: Listed, detail: string): FindingRow {
  const { remote_user } = listed.license.fields;
  return {
    finding,
    remote_user: remote_user === null ? null : textOf(remote_user),
    app_code: codeOf(listed) ?? null,
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

function* compare(
  byUser: ReadonlyMap<string, readonly Listed[]>,
  roster: Iterable<Pick<LicenseFields, 'remote_user' | 'app_code'>>,
): Generator<FindingRow> {
  const expected = new Set<string>();
  for (const { remote_user, app_code } of roster) {
    expected.add(rowKey({ remote_user, app_code }));
    if (!byUser.has(rowKey({ remote_user, app_code })))
      yield { finding: 'missing', remote_user, app_code, license: null, detail: 'in the roster, without a license' };
  }
  for (const [user, group] of byUser) {
    if (!expected.has(user)) for (const listed of group) yield row('unexpected', listed, 'not in the roster');
  }
}
