/** Finds what is wrong in a list of licenses, and what differs from a roster; a row for each finding. */
import { sizeOf, type License } from '../../api/licensing/license.ts';
import { plainName } from '../../core/fold-name.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { licenseFields, type LicenseFields } from '../../schema/license.ts';
import { readField } from '../../schema/field.ts';
import type { LicenseUser } from '../../store/record/writes.ts';
import { groupBy, isRetired, userKey } from './license-user.ts';

export const findingNames = [
  'several-licenses',
  'similar-name',
  'shared-key',
  'bad-name',
  'bad-size',
  'other-size',
  'missing',
  'unexpected',
] as const;

/** Who should have a license, and of which size where the roster says it. */
export type ExpectedLicense = LicenseUser & Partial<Pick<LicenseFields, 'size_allowance'>>;

export interface FindingRow {
  readonly finding: (typeof findingNames)[number];
  readonly remote_user: string | null;
  readonly app_code: number | null;
  /** The size that `license apply` is to leave or set: the roster's if the finding is about it, else the license's. */
  readonly size_allowance: number | null;
  readonly license_code: string | null;
  readonly license: License | null;
  /** The finding in words, which are the same for all its licenses. */
  readonly detail: string;
  /** The server's URL, where several servers are audited. */
  readonly base_url?: string;
}

/** Counts what one audit has read. */
export class AuditCounts {
  licenses = 0;
  retired = 0;
  /** The applications, as the lines of findings name them. */
  readonly places = new Set<string>();
}

/** A license with the application whose key listed it: a row need not name its own. */
export interface Listed {
  readonly app_code: number | undefined;
  readonly license: License;
}

interface OwnedLicense extends Listed {
  readonly name: string;
  /** One text for the user of the application. */
  readonly user: string;
}

/**
 * Finds several licenses of one user, one key under two users, names and sizes outside the rules; with a roster,
 * users without a license, licenses of nobody expected, and other sizes. Of a retired license only the key is checked.
 * A list that is not whole cannot show that a license is missing.
 * @throws Failure incomplete after the findings of such a list; unavailable where its rows have no user
 */
export async function* auditLicenses(
  licenses: AsyncIterable<Listed>,
  roster: readonly ExpectedLicense[] | undefined,
  counts: AuditCounts,
  base_url?: string,
): AsyncGenerator<FindingRow> {
  const owned: OwnedLicense[] = [];
  let incomplete: Failure | undefined;
  try {
    const shown = new Set<string>();
    for await (const listed of licenses) {
      const entry = ownedBy(listed);
      // Pages that move while they are read show a license twice.
      const identity = `${entry.user}\n${entry.license.key ?? owned.length}`;
      if (shown.has(identity)) continue;
      shown.add(identity);
      owned.push(entry);
      if (!isRetired(entry.license)) yield* brokenFields(entry);
    }
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
    incomplete = cause;
  }
  const active = owned.filter(({ license }) => !isRetired(license));
  const byUser = groupBy(active, ({ user }) => user);
  for (const own of byUser.values())
    for (const entry of own.length > 1 ? own : []) yield row('several-licenses', entry, `${own.length} licenses`);
  const withKey = owned.filter(({ license }) => license.key !== undefined);
  for (const holders of groupBy(withKey, ({ license }) => license.key ?? '').values())
    if (holders.length > 1) yield* sharedKeyRows(holders);
  const firsts = [...byUser.values()].flatMap(([first]) => first ?? []);
  const plainUser = ({ name, app_code = 0 }: OwnedLicense) => userKey({ remote_user: plainName(name), app_code });
  for (const users of groupBy(firsts, plainUser).values()) yield* similar(users);
  if (roster) {
    const retired = new Set(owned.flatMap(({ license, user }) => (isRetired(license) ? [user] : [])));
    yield* compare(byUser, retired, roster, incomplete ? 'part' : 'whole');
    const expected = new Set(roster.map(userKey));
    for (const entry of active) if (!expected.has(entry.user)) yield row('unexpected', entry, 'not in the roster');
  }
  if (incomplete) throw incomplete;
  for (const { app_code } of [...(roster ?? []), ...owned]) counts.places.add(placeOf(app_code, base_url));
  counts.licenses += owned.length;
  counts.retired += owned.length - active.length;
}

/** @throws Failure unavailable where the license does not name its user */
function ownedBy({ license, ...listed }: Listed): OwnedLicense {
  const { remote_user, app_code: own } = license.fields;
  if (remote_user === undefined)
    throw new Failure('unavailable', 'the list does not say whose the licenses are: there is nothing to compare', {
      hint: 'Look users up one by one: chatelaine license view --remote-user U.',
      retryable: false,
    });
  const name = shownText(remote_user);
  const app_code = own === undefined || own === null ? listed.app_code : Number(own);
  return { license, name, app_code, user: userKey({ remote_user: name, app_code: app_code ?? 0 }) };
}

function shownText(value: unknown): string {
  return typeof value === 'string' ? value : writeJson(value);
}

function* brokenFields(entry: OwnedLicense): Generator<FindingRow> {
  for (const name of ['remote_user', 'size_allowance'] as const) {
    const broken = faultIn(name, entry.license.fields[name]);
    if (broken !== undefined) yield row(name === 'remote_user' ? 'bad-name' : 'bad-size', entry, broken);
  }
}

export function placeOf(app_code: number | string | null | undefined, base_url?: string): string {
  return `application ${app_code ?? '?'}${base_url === undefined ? '' : ` of ${base_url}`}`;
}

export function faultIn(name: 'remote_user' | 'size_allowance', value: unknown): string | undefined {
  if (value === undefined || value === null) return `${name}: the server does not say`;
  try {
    readField(name, licenseFields[name], shownText(value));
    return undefined;
  } catch (cause) {
    if (cause instanceof Failure) return cause.message;
    throw cause;
  }
}

function row(
  finding: FindingRow['finding'],
  { license, name, app_code }: OwnedLicense,
  detail: string,
  size_allowance: number | null = sizeOf(license) ?? null,
): FindingRow {
  const { remote_user } = license.fields;
  const user = { remote_user: remote_user === null ? null : name, app_code: app_code ?? null };
  return { finding, ...user, size_allowance, license_code: license.key ?? null, license, detail };
}

function* sharedKeyRows(listed: readonly OwnedLicense[]): Generator<FindingRow> {
  const holders = [...listed].sort(inOrder);
  const isOfOne = new Set(holders.map(({ name }) => name)).size === 1;
  const users = holders.map(({ name, app_code }) => `'${name}'${isOfOne ? ` in application ${app_code ?? '?'}` : ''}`);
  for (const entry of holders) yield row('shared-key', entry, `one key of ${users.join(' and ')}`);
}

/** Sorts by name: a server may list in another order the next day, and accepted findings must stay the same. */
function inOrder({ name }: OwnedLicense, other: OwnedLicense): number {
  return name < other.name ? -1 : Number(name > other.name);
}

/** Finds users whose names differ so little that they are probably one user. */
function* similar(users: readonly OwnedLicense[]): Generator<FindingRow> {
  const [first, ...others] = [...users].sort(inOrder);
  for (const other of others) yield row('similar-name', other, `like '${first?.name ?? ''}'`);
}

function* compare(
  byUser: ReadonlyMap<string, readonly OwnedLicense[]>,
  retired: ReadonlySet<string>,
  roster: Iterable<ExpectedLicense>,
  extent: 'whole' | 'part',
): Generator<FindingRow> {
  for (const { remote_user, app_code, size_allowance = null } of roster) {
    const user = userKey({ remote_user, app_code });
    const own = byUser.get(user) ?? [];
    // Of several licenses one of the right size is enough: that there are several is a finding of its own.
    const sizes = own.map(({ license }) => shownText(license.fields['size_allowance'] ?? null));
    const others = size_allowance === null || sizes.includes(String(size_allowance)) ? [] : own;
    for (const [index, entry] of others.entries()) {
      const detail = `size_allowance is ${sizes[index] ?? ''}, and ${size_allowance ?? ''} in the roster`;
      yield row('other-size', entry, detail, size_allowance);
    }
    const none = { license_code: null, license: null, detail: 'in the roster, without a license' };
    if (own.length === 0 && !retired.has(user) && extent === 'whole')
      yield { finding: 'missing', remote_user, app_code, size_allowance, ...none };
  }
}
