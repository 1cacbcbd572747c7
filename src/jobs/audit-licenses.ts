import { findKey, type License } from '../api/license-key.ts';
import { Failure } from '../core/failure.ts';
import { licenseFields, type LicenseFields } from '../spec/license.ts';
import { readField } from '../spec/field.ts';
import { rowKey } from './roster-journal.ts';

export type Finding = 'several-licenses' | 'shared-key' | 'bad-name' | 'bad-size' | 'missing' | 'unexpected';

export interface FindingRow {
  readonly finding: Finding;
  readonly remote_user: string | null;
  readonly app_code: number | null;
  /** The license that the finding is of; null where one is missing. */
  readonly license: License | null;
  readonly detail: string;
}

/**
 * What is wrong with the licenses: several of one user in one application, one key under two users, names and sizes outside the
 * rules; with a roster, users without a license and licenses of nobody expected (contract, section 1).
 */
export async function* auditLicenses(
  licenses: AsyncIterable<License>,
  roster: readonly Pick<LicenseFields, 'remote_user' | 'app_code'>[] | undefined,
): AsyncGenerator<FindingRow> {
  const byUser = new Map<string, License[]>();
  const byKey = new Map<string, License[]>();
  for await (const license of licenses) {
    gather(byUser, userKey(license), license);
    gather(byKey, keyText(license), license);
    yield* ownFaults(license);
  }
  for (const group of byUser.values()) if (group.length > 1) yield* several(group);
  for (const group of byKey.values()) if (new Set(group.map(userKey)).size > 1) yield* shared(group);
  if (roster) yield* compare(byUser, roster);
}

function gather(groups: Map<string, License[]>, key: string | undefined, license: License): void {
  if (key === undefined) return;
  const group = groups.get(key);
  if (group) group.push(license);
  else groups.set(key, [license]);
}

function userKey(license: License): string | undefined {
  const { remote_user, app_code } = license;
  return remote_user === undefined
    ? undefined
    : rowKey({ remote_user: textOf(remote_user), app_code: Number(app_code) });
}

function keyText(license: License): string | undefined {
  const name = findKey(license);
  return name === undefined ? undefined : textOf(license[name]);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function* ownFaults(license: License): Generator<FindingRow> {
  const { remote_user, size_allowance } = license;
  const name = remote_user === undefined ? 'the server does not say' : fault('remote_user', remote_user);
  if (name !== undefined) yield row('bad-name', license, name);
  const size = size_allowance === undefined ? 'the server does not say' : fault('size_allowance', size_allowance);
  if (size !== undefined) yield row('bad-size', license, size);
}

/** The rule that a value breaks. */
function fault(name: 'remote_user' | 'size_allowance', value: unknown): string | undefined {
  try {
    readField(name, licenseFields[name], textOf(value));
    return undefined;
  } catch (cause) {
    if (cause instanceof Failure) return cause.message;
    throw cause;
  }
}

function row(finding: Finding, license: License, detail: string): FindingRow {
  const { remote_user, app_code } = license;
  return {
    finding,
    remote_user: remote_user === undefined ? null : textOf(remote_user),
    app_code: app_code === undefined ? null : Number(app_code),
    license,
    detail,
  };
}

function* several(group: readonly License[]): Generator<FindingRow> {
  for (const [index, license] of group.entries())
    yield row('several-licenses', license, `license ${index + 1} of ${group.length}`);
}

function* shared(group: readonly License[]): Generator<FindingRow> {
  const users = [...new Set(group.map(({ remote_user }) => textOf(remote_user)))];
  for (const license of group)
    yield row('shared-key', license, `one key of ${users.map((user) => `'${user}'`).join(' and ')}`);
}

function* compare(
  byUser: ReadonlyMap<string, readonly License[]>,
  roster: readonly Pick<LicenseFields, 'remote_user' | 'app_code'>[],
): Generator<FindingRow> {
  const expected = new Set(roster.map(rowKey));
  for (const { remote_user, app_code } of roster) {
    if (!byUser.has(rowKey({ remote_user, app_code })))
      yield { finding: 'missing', remote_user, app_code, license: null, detail: 'in the roster, without a license' };
  }
  for (const [user, group] of byUser) {
    if (!expected.has(user)) for (const license of group) yield row('unexpected', license, 'not in the roster');
  }
}
