import { Failure } from '../../core/failure.ts';
import { gather } from '../../core/gather.ts';
import { distinct, identityOf, textOf, type License, type LicenseHolder, type UserLicenses } from './license.ts';
import { likeness, likenessOfApp, storedForms, weaker, type Likeness } from './license-names.ts';

export interface LookUp {
  /** Every row that the server answers to these filters, whole. @throws Failure incomplete */
  readonly rows: (filter: LicenseHolder) => AsyncIterable<License>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/**
 * The licenses of one user, from a list filtered by the server. Where no row is of that very name, a second list for a random name
 * shows whether the server ignores the filter, changes names or leaves them out (docs/exactly-once.md, Names that servers change). Where it ignores
 * the filter, both are readings of one list, and what either of them shows is there.
 * @throws Failure incomplete where a list is not whole, or cannot tell whose licenses it shows
 */
export async function licensesOfUser(asked: LicenseHolder, { rows, random }: LookUp): Promise<UserLicenses> {
  const listed = await gather(rows(asked));
  if (listed.length === 0) return { exact: [], near: await storedOtherwise(asked, rows), filter: 'honoured' };
  const byFilter = (license: License): Likeness =>
    weaker(likenessByFilter(license, asked), likenessOfApp(license, asked.app_code));
  const named = listed.filter((license) => textOf(license, 'remote_user') === asked.remote_user);
  if (named.length > 0) return { ...sorted(named, byFilter), filter: 'honoured' };
  const again = await readAgain(listed, asked, { rows, random });
  if (!again) return { ...sorted(listed, byFilter), filter: 'honoured' };
  const both = [...listed, ...again];
  const { exact, near } = sorted(both, (license) => likeness(license, asked));
  // Any of the rows without a name may be of that user; a null is the name of nobody.
  if (exact.length === 0 && both.some(({ fields }) => fields['remote_user'] === undefined))
    throw new Failure('incomplete', 'the server ignores the filter, and its list does not name users');
  return { exact, near, filter: 'ignored' };
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

function sorted(
  licenses: readonly License[],
  judge: (license: License) => Likeness,
): Pick<UserLicenses, 'exact' | 'near'> {
  const exact = distinct(licenses.filter((license) => judge(license) === 'exact'));
  return { exact, near: exact.length > 0 ? [] : distinct(licenses.filter((license) => judge(license) === 'near')) };
}

/**
 * The same list again, where the server ignores the filter; undefined where it honours it. A filter that works finds nobody of a random
 * name; whatever refuses that name has looked at it. One row of before is enough: others may have come and gone meanwhile.
 */
async function readAgain(
  listed: readonly License[],
  asked: LicenseHolder,
  { rows, random }: LookUp,
): Promise<readonly License[] | undefined> {
  try {
    const control = await gather(rows({ ...asked, remote_user: randomName(random) }));
    const again = new Set(control.map(identityOf));
    return listed.some((license) => again.has(identityOf(license))) ? control : undefined;
  } catch (cause) {
    if (cause instanceof Failure && (cause.kind === 'rejected' || cause.kind === 'not_found')) return undefined;
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
