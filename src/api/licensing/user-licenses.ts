import { Failure } from '../../core/failure.ts';
import { gather } from '../../core/gather.ts';
import { writeJson } from '../../core/json.ts';
import { textOf, type License, type LicenseHolder, type UserLicenses } from './license.ts';
import { likeness, likenessOfApp, storedForms, weaker, type Likeness } from './license-names.ts';

export interface LookUp {
  /** Every row that the server answers to these filters, whole. @throws Failure incomplete */
  readonly rows: (filter: LicenseHolder) => AsyncIterable<License>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/**
 * The licenses of one user, from a list filtered by the server. Where it holds rows of other names only, a second list for a random
 * name shows whether the server ignores the filter or changes names (docs/exactly-once.md, Names that servers change).
 * @throws Failure incomplete where a list is not whole
 */
export async function licensesOfUser(asked: LicenseHolder, { rows, random }: LookUp): Promise<UserLicenses> {
  const listed = await gather(rows(asked));
  if (listed.length === 0) return { exact: [], near: await storedOtherwise(asked, rows) };
  const found = sorted(listed, (license) =>
    weaker(likenessByFilter(license, asked), likenessOfApp(license, asked.app_code)),
  );
  const isOfOthers = listed.length > 0 && listed.every((license) => likenessByFilter(license, asked) !== 'exact');
  if (!isOfOthers || !(await isFilterIgnored(listed, asked, { rows, random }))) return found;
  return sorted(listed, (license) => likeness(license, asked));
}

/**
 * Licenses under a form of the name that servers are known to store in its place. A server that changes names when it stores them, but
 * compares its filter with the stored ones exactly, finds nobody by the name that was asked for.
 */
async function storedOtherwise(asked: LicenseHolder, rows: LookUp['rows']): Promise<License[]> {
  const found: License[] = [];
  for (const remote_user of storedForms(asked.remote_user)) {
    for await (const license of rows({ ...asked, remote_user }))
      if (textOf(license, 'remote_user') === remote_user && likenessOfApp(license, asked.app_code) !== 'other')
        found.push(license);
  }
  return found;
}

/** The server has filtered: a row of another name is what it made of the asked one, a row without a name is of that user. */
function likenessByFilter(license: License, { remote_user }: LicenseHolder): Likeness {
  const name = textOf(license, 'remote_user');
  return name === undefined || name === remote_user ? 'exact' : 'near';
}

function sorted(licenses: readonly License[], judge: (license: License) => Likeness): UserLicenses {
  const exact = licenses.filter((license) => judge(license) === 'exact');
  return { exact, near: exact.length > 0 ? [] : licenses.filter((license) => judge(license) === 'near') };
}

/** A filter that works finds nobody of a random name; whatever refuses that name has looked at it. */
async function isFilterIgnored(
  listed: readonly License[],
  asked: LicenseHolder,
  { rows, random }: LookUp,
): Promise<boolean> {
  try {
    const control = await gather(rows({ ...asked, remote_user: randomName(random) }));
    const again = new Set(control.map(rowText));
    return listed.every((license) => again.has(rowText(license)));
  } catch (cause) {
    if (cause instanceof Failure && (cause.kind === 'rejected' || cause.kind === 'not_found')) return false;
    throw cause;
  }
}

function randomName(random: () => number): string {
  const part = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(36)
      .padStart(7, '0');
  return `chatelaine-control-${part()}${part()}`;
}

/** A row is the same if its key and user are; other fields may change between two lists. */
function rowText(license: License): string {
  const { key, fields } = license;
  return writeJson(key === undefined ? fields : [key, textOf(license, 'remote_user')]);
}
