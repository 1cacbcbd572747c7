import { sizeOf, type License } from '../../api/licensing/license.ts';
import { plainName } from '../../core/fold-name.ts';
import { Failure, usage } from '../../core/failure.ts';
import { licenseFields, type LicenseFields } from '../../schema/license.ts';
import { readField } from '../../schema/field.ts';
import { userKey, type LicenseUser } from './license-user.ts';
import {
  keepLicenses,
  ownedBy,
  shownText,
  type GroupedLicenses,
  type Listed,
  type OwnedLicense,
} from './kept-licenses.ts';

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

type FindingName = (typeof findingNames)[number];

/** Who should have a license, and of which size where the roster says it. */
export type ExpectedLicense = LicenseUser & Partial<Pick<LicenseFields, 'size_allowance'>>;

export interface FindingRow {
  readonly finding: FindingName;
  readonly remote_user: string | null;
  readonly app_code: number | null;
  /** The roster's where the finding is about it, else the license's: what `license apply` is to leave or set. */
  readonly size_allowance: number | null;
  readonly license_code: string | null;
  readonly license: License | null;
  readonly detail: string;
  /** What is found, in words that are the same for all licenses of the finding. */
  readonly fact: string;
  /** Of the server, where several are audited. */
  readonly base_url?: string;
}

export interface AuditCounts {
  readonly licenses: number;
  readonly retired: number;
  /** The applications, as the lines of findings name them. */
  readonly places: ReadonlySet<string>;
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
  isRetired: (license: License) => boolean,
): AsyncGenerator<FindingRow, AuditCounts> {
  const kept = keepLicenses();
  const byName = kept.groupedBy(plainUser);
  const byKey = kept.groupedBy(({ license }) => license.key ?? '');
  const apps = new Set<number | undefined>(roster?.map(({ app_code }) => app_code));
  const left = new Set<string>();
  let retired = 0;
  let incomplete: Failure | undefined;
  try {
    for await (const listed of licenses) {
      const entry = ownedBy(listed);
      const { user, license } = entry;
      // Pages that move while they are read show a license twice.
      if (license.key !== undefined && byKey.of(license.key, user).length > 0) continue;
      const index = kept.add(listed);
      apps.add(entry.app_code);
      if (license.key !== undefined) byKey.add(index, entry);
      if (isRetired(license)) {
        retired += 1;
        if (roster) left.add(user);
        continue;
      }
      byName.add(index, entry);
      for (const name of ['remote_user', 'size_allowance'] as const) {
        const broken = faultIn(name, license.fields[name]);
        if (broken !== undefined) yield row(name === 'remote_user' ? 'bad-name' : 'bad-size', entry, broken);
      }
    }
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
    incomplete = cause;
  }
  for (const group of byName.several())
    for (const own of group.filter(({ length }) => length > 1))
      for (const [index, entry] of own.entries()) {
        // Short enough for a narrow terminal, where the column of sizes is left out.
        const detail = `${index + 1} of ${own.length}, size ${shownText(entry.license.fields['size_allowance'] ?? null)}`;
        yield { ...row('several-licenses', entry, detail), fact: `${own.length} licenses` };
      }
  for (const holders of byKey.several()) yield* sharedKeyRows(holders.flat());
  for (const group of byName.several()) yield* similar(group.flatMap(([first]) => first ?? []));
  if (roster) {
    yield* compare(byName, left, roster, incomplete ? 'part' : 'whole');
    const expected = new Set(roster.map(userKey));
    for (const entry of kept.all())
      if (!expected.has(entry.user) && !isRetired(entry.license)) yield row('unexpected', entry, notInRoster);
  }
  if (incomplete) throw incomplete;
  return { licenses: kept.count(), retired, places: new Set([...apps].map((app_code) => placeOf(app_code))) };
}

export function placeOf(app_code: number | string | null | undefined, base_url?: string): string {
  return `application ${app_code ?? '?'}${base_url === undefined ? '' : ` of ${base_url}`}`;
}

/** One text for users whose names differ so little that they are probably one. */
function plainUser({ name, app_code = 0 }: Pick<OwnedLicense, 'name' | 'app_code'>): string {
  return userKey({ remote_user: plainName(name), app_code });
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
  finding: FindingName,
  { license, name, app_code }: OwnedLicense,
  detail: string,
  size_allowance: number | null = sizeOf(license) ?? null,
): FindingRow {
  const { remote_user } = license.fields;
  const user = { remote_user: remote_user === null ? null : name, app_code: app_code ?? null };
  return { finding, ...user, size_allowance, license_code: license.key ?? null, license, detail, fact: detail };
}

function* sharedKeyRows(listed: readonly OwnedLicense[]): Generator<FindingRow> {
  const holders = [...listed].sort(inOrder);
  const isOfOne = new Set(holders.map(({ name }) => name)).size === 1;
  const users = holders.map(({ name, app_code }) => `'${name}'${isOfOne ? ` in application ${app_code ?? '?'}` : ''}`);
  for (const entry of holders) yield row('shared-key', entry, `one key of ${users.join(' and ')}`);
}

/** The order of a list is another one the next day, and what is accepted stays. */
function inOrder({ name }: OwnedLicense, other: OwnedLicense): number {
  return name < other.name ? -1 : Number(name > other.name);
}

function* similar(users: readonly OwnedLicense[]): Generator<FindingRow> {
  const [first, ...others] = [...users].sort(inOrder);
  for (const other of others) yield row('similar-name', other, `like '${first?.name ?? ''}'`);
}

export const notInRoster = 'not in the roster';
const withoutLicense = 'in the roster, without a license';

function* compare(
  byName: GroupedLicenses,
  retired: ReadonlySet<string>,
  roster: Iterable<ExpectedLicense>,
  extent: 'whole' | 'part',
): Generator<FindingRow> {
  for (const { remote_user, app_code, size_allowance = null } of roster) {
    const user = userKey({ remote_user, app_code });
    const own = byName.of(plainUser({ name: remote_user, app_code }), user);
    if (size_allowance !== null) yield* otherSizes(own, size_allowance);
    const none = { license_code: null, license: null, detail: withoutLicense, fact: withoutLicense };
    if (own.length === 0 && !retired.has(user) && extent === 'whole')
      yield { finding: 'missing', remote_user, app_code, size_allowance, ...none };
  }
}

/** Of several licenses one of the right size is enough: that there are several is a finding of its own. */
function* otherSizes(own: readonly OwnedLicense[], size: number): Generator<FindingRow> {
  const shown = ({ license }: OwnedLicense): string => shownText(license.fields['size_allowance'] ?? null);
  if (own.some((entry) => shown(entry) === String(size))) return;
  for (const entry of own)
    yield row('other-size', entry, `size_allowance is ${shown(entry)}, and ${size} in the roster`, size);
}

/** One line for a finding, without a key: two findings of one line are one fact. */
export function findingLine(found: Omit<FindingRow, 'license' | 'license_code' | 'detail' | 'size_allowance'>): string {
  const { finding, remote_user, app_code, base_url, fact } = found;
  const line = `${finding}: ${remote_user ?? 'no user'} in ${placeOf(app_code, base_url)}: ${fact}`;
  return line.replace(/[\p{C}\p{Zl}\p{Zp}#]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16) ?? ''}}`);
}

/**
 * Reads accepted findings: lines of `findingLine`, each with a reason after ` #`; others begin with `#`, or are blank.
 * @returns each finding with its whole line @throws Failure usage naming every line that is no finding
 */
export function readAccepted(text: string, file: string): ReadonlyMap<string, string> {
  const accepted = new Map<string, string>();
  const problems: string[] = [];
  const lines = text.split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    const finding = line.replace(/(^|\s)#.*/, '').trim();
    if (finding === '') continue;
    accepted.set(finding, line);
    const name = finding.slice(0, finding.indexOf(': '));
    if (!findingNames.some((known) => known === name) || !/: .+ in application .+: /.test(finding))
      problems.push(`${file}:${index + 1}: '${finding}' is not a finding`);
  }
  if (problems.length === 0) return accepted;
  throw usage(problems, 'Each line is as license audit --write-accepted FILE writes it; a reason follows it after #.');
}
