import { Failure } from '../../core/failure.ts';
import type { Heard, LicenseFilter } from './license-list.ts';
import { measureList } from './list-length.ts';
import { distinct, identityOf, type License, type LicenseHolder, textOf, type UserLicenses } from './license.ts';
import { isNameless, type Likeness, likeness, likenessOfApp, weaker } from './likeness.ts';

/** What was found out about the filter of a server, once for an application. */
export interface KnownFilter {
  /** `parts`: a filter by a user shows each name that contains that text. */
  finds?: 'parts';
  /** Signs that servers misread in a query, of which it has found a name. */
  readonly reads: Set<string>;
  /** The check of another name, under way. */
  checking?: Promise<unknown>;
}

/** Every row that the server answers to these filters, whole. @throws Failure incomplete */
export type Rows = (filter: LicenseFilter, heard?: Heard) => AsyncIterable<License>;

interface LookUp {
  readonly filter: KnownFilter;
  readonly rows: Rows;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** A name with that sign which the history has. */
  readonly nameWith?: (app_code: number, sign: string) => Promise<string | undefined>;
}

/** One user's licenses (docs/exactly-once.md, Names that servers change). @throws Failure incomplete */
export async function licensesOfUser(asked: LicenseHolder, look: LookUp): Promise<UserLicenses> {
  const found = await filteredLicenses(asked, look);
  const { filter } = look;
  const isFound = found.exact.some((license) => textOf(license, 'remote_user') === asked.remote_user);
  for (const sign of found.unfiltered ? [] : misreadSigns(asked.remote_user)) {
    if (isFound) filter.reads.add(sign);
    // One user finds out for all who wait.
    else await filter.checking?.catch(() => undefined);
    if (filter.reads.has(sign)) continue;
    const checking = whereMisread(sign, asked, look, found);
    filter.checking = checking;
    const listed = await checking;
    if (!filter.reads.has(sign)) return listed;
  }
  return found;
}

/** Servers that decode a query twice, or read a + as a blank, do not find names with these. */
export function misreadSigns(name: string): ReadonlySet<string> {
  return new Set(name.match(/[+%;&#]/g));
}

/**
 * A filter reads the sign if it finds a name that has it: one of the history, or the first one in the pages, which are
 * read for it. Else the whole list is the lookup; `misread` where it is not whole.
 */
async function whereMisread(sign: string, asked: LicenseHolder, look: LookUp, found: UserLicenses) {
  const { remote_user, app_code } = asked;
  const { rows, filter } = look;
  const finds = async (name: string): Promise<boolean> => {
    const others = await gather(rows({ remote_user: name, app_code }));
    const isFound = others.some((other) => textOf(other, 'remote_user') === name);
    if (isFound) filter.reads.add(sign);
    return isFound;
  };
  const before = app_code === undefined ? undefined : await look.nameWith?.(app_code, sign);
  if (before !== undefined && before !== remote_user && (await finds(before))) return found;
  const [length, own] = [measureList(), [...found.near]];
  let [left, known, isTried, isNamed]: [number, string | undefined, boolean, boolean] = [0, undefined, false, true];
  const heard: Heard = (page, place) => {
    length.heard(page, place);
    left = page.count;
  };
  try {
    for await (const license of rows({ app_code }, heard)) {
      const name = textOf(license, 'remote_user');
      isNamed &&= !isNameless(license, [remote_user]);
      if (likeness(license, asked) !== 'other') own.push(license);
      if (name !== remote_user && name?.includes(sign)) known ??= name;
      left -= 1;
      if (left > 0 || known === undefined || isTried) continue;
      isTried = true;
      if (await finds(known)) return found;
    }
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
    isNamed = false;
  }
  const listed = sortedBy((license) => (found.near.includes(license) ? 'near' : likeness(license, asked)), own);
  return listed.exact.length > 0 || (isNamed && length.isWhole()) ? listed : { ...found, misread: sign };
}

export function misreadInWords(name: string, sign: string): string {
  return `the filter of the server shows no license of '${name}', and may misread its ${sign}`;
}

async function filteredLicenses(asked: LicenseHolder, look: LookUp): Promise<UserLicenses> {
  const { rows, filter } = look;
  const length = measureList();
  const listed = await gather(rows(asked, length.heard));
  if (listed.length === 0) return { exact: [], near: await storedOtherwise(asked, rows) };
  // The server has filtered: another name is how it stored the asked one; a row without a name is that user's.
  const byFilter = (license: License): Likeness => {
    const name = textOf(license, 'remote_user') ?? asked.remote_user;
    return weaker(name === asked.remote_user ? 'exact' : 'near', likenessOfApp(license, asked.app_code));
  };
  const named = listed.filter((license) => textOf(license, 'remote_user') === asked.remote_user);
  const isOfAnother = (license: License): boolean => {
    const name = textOf(license, 'remote_user');
    return name !== undefined && name !== asked.remote_user && likeness(license, asked) === 'other';
  };
  if (named.length > 0 && !listed.some(isOfAnother)) return sortedBy(byFilter, named);
  if (filter.finds) return ofParts(listed, asked, rows);
  const all = [...listed];
  let whole = length.lacksRows() ? 0 : 1;
  for (let at = 1; at <= mostReadings; at += 1) {
    const again = await readAgain(listed, asked, look);
    if (!again && (await findsParts(listed, asked, rows))) filter.finds = 'parts';
    if (!again) return filter.finds ? ofParts(listed, asked, rows) : sortedBy(byFilter, listed);
    if (named.length > 0)
      return { ...sortedBy(byFilter, named), unfiltered: { licenses: keysOf(listed), mayBeCut: length.mayBeCut() } };
    all.push(...again.licenses);
    if (!again.lacksRows) whole += 1;
    const { exact, near } = sortedBy((license) => likeness(license, asked), all);
    if (exact.length === 0) refuseNameless(all, asked);
    if (exact.length > 0 || whole === 2)
      return { exact, near, unfiltered: { licenses: keysOf(all), mayBeCut: again.mayBeCut } };
  }
  throw new Failure('incomplete', 'the server ignores the filter, and its list moves while it is read');
}

/**
 * What a filter that finds parts of names shows of one user: rows that contain the name are judged as in a list without
 * a filter, and every other row is what the server made of the name.
 */
async function ofParts(listed: readonly License[], asked: LicenseHolder, rows: Rows): Promise<UserLicenses> {
  const found = sortedBy((license) => {
    const isPart = contains(license, asked.remote_user);
    return isPart ? likeness(license, asked) : weaker('near', likenessOfApp(license, asked.app_code));
  }, listed);
  if (found.exact.length > 0 || found.near.length > 0) return found;
  refuseNameless(listed, asked);
  return { exact: [], near: await storedOtherwise(asked, rows) };
}

function contains(license: License, text: string): boolean {
  return textOf(license, 'remote_user')?.toLowerCase().includes(text.toLowerCase()) ?? false;
}

/** Whether the name without its last, or its first, character brings one of these rows that is longer than the name. */
async function findsParts(listed: readonly License[], asked: LicenseHolder, rows: Rows): Promise<boolean> {
  const name = asked.remote_user;
  const isLonger = (license: License): boolean =>
    contains(license, name) && (textOf(license, 'remote_user') ?? '').length > name.length;
  const longer = new Set(listed.filter(isLonger).map(identityOf));
  const chars = Array.from(name);
  const parts = longer.size > 0 && chars.length > 1 ? [chars.slice(0, -1), chars.slice(1)] : [];
  for (const part of parts) {
    const found = await orNothing(() => gather(rows({ ...asked, remote_user: part.join('') })));
    if (found?.some((license) => longer.has(identityOf(license)))) return true;
  }
  return false;
}

/** @throws Failure incomplete where a row may be of that user, whose name it does not show */
function refuseNameless(licenses: readonly License[], asked: LicenseHolder): void {
  if (licenses.some((license) => isNameless(license, [asked.remote_user])))
    throw new Failure('incomplete', 'the server shows licenses of other users too, and its list does not name users');
}

/** How often a list is read again, until two readings have as many rows as their pages tell. */
const mostReadings = 3;

function keysOf(licenses: readonly License[]): ReadonlySet<string> {
  return new Set(licenses.map((license) => license.key ?? identityOf(license)));
}

/** Licenses under a form in which a server may store the name, though it compares its filter exactly. */
async function storedOtherwise(asked: LicenseHolder, rows: Rows): Promise<License[]> {
  const name = asked.remote_user;
  const collapsed = name.trim().replace(/\s+/g, ' ');
  const withoutZeros = collapsed.replace(/^0+(?=.)/, '');
  const undoubled = name.replaceAll('\\\\', '\\');
  const forms = new Set([name.toLowerCase(), undoubled, collapsed, withoutZeros, withoutZeros.toLowerCase()]);
  forms.delete(name);
  const found: License[] = [];
  for (const remote_user of forms) {
    for await (const license of rows({ ...asked, remote_user }))
      if (textOf(license, 'remote_user') === remote_user && likenessOfApp(license, asked.app_code) !== 'other')
        found.push(license);
  }
  return found;
}

function sortedBy(likenessOf: (license: License) => Likeness, licenses: readonly License[]) {
  const those = (wanted: Likeness) => distinct(licenses.filter((license) => likenessOf(license) === wanted));
  const exact = those('exact');
  return { exact, near: exact.length > 0 ? [] : those('near') };
}

/** The list again, if a random name shows its rows: the server ignores the filter. Undefined where it does not. */
async function readAgain(listed: readonly License[], asked: LicenseHolder, { rows, random }: LookUp) {
  const length = measureList();
  const control = await orNothing(() => gather(rows({ ...asked, remote_user: randomName(random) }, length.heard)));
  const again = new Set(control?.map(identityOf));
  if (!control || !listed.some((license) => again.has(identityOf(license)))) return undefined;
  return { licenses: control, lacksRows: length.lacksRows(), mayBeCut: length.mayBeCut() };
}

/** Undefined where the server refuses such a name. */
async function orNothing<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (cause) {
    if (cause instanceof Failure && (cause.kind === 'rejected' || cause.kind === 'not_found')) return undefined;
    throw cause;
  }
}

export function randomName(random: () => number): string {
  const part = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(36)
      .padStart(7, '0');
  return `chatelaine-control-${part()}${part()}`;
}

async function gather(rows: AsyncIterable<License>): Promise<License[]> {
  const all: License[] = [];
  for await (const license of rows) all.push(license);
  return all;
}
