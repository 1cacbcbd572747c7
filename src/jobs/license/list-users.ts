import { measureList } from '../../api/licensing/list-length.ts';
import type { PageSize } from '../../api/licensing/list-page.ts';
import { distinct, identityOf, textOf, type License, type UnfilteredList } from '../../api/licensing/license.ts';
import { isNameless, likeness } from '../../api/licensing/likeness.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { pool } from '../work/pool.ts';
import {
  cutHint,
  lookUp,
  lookupResult,
  nothing,
  withNear,
  type LicenseUser,
  type FormerResult,
  type Settling,
} from './license-user.ts';
import { nameIndex } from './list-reading.ts';

/** Most users who are looked up one by one; for more, one list of all licenses finds most of them cheaper. */
const fewUsers = 20;
/** A list with so many times more licenses than users were asked for is not read. */
const tooLong = 20;
/** How often a list is read twice, until two readings agree. */
const maxPairs = 3;

/** The license that a user is known to have been given: a list that shows the same one need not hold a copy. */
export type KnownLicense = (user: string) => License | undefined;

export type ListingApi = Pick<LicensingApi, 'list' | 'ofUser'>;

/** What is known of the users of an application once its list is read. */
export interface FormerList {
  /** Undefined where the list does not show the license, and the user has to be looked up. */
  readonly lookupResult: (user: string) => FormerResult | undefined;
  readonly nearOf: (user: string) => readonly License[];
  /** Whether the server tells as many licenses as it lists. */
  readonly isCounted: boolean;
}

const none: readonly License[] = [];
const unlisted: FormerList = { lookupResult: () => undefined, nearOf: () => none, isCounted: false };

/**
 * Reads an application's list, which only finds licenses: users whom it does not show are looked up. Where the server
 * ignores the filter, two readings of the list are that lookup (docs/exactly-once.md, A list is a hint).
 * @throws Failure of a list that cannot be read at all
 */
export async function listUsers(
  api: ListingApi,
  app_code: number,
  users: readonly string[],
  { known, concurrency }: { readonly known?: KnownLicense | undefined; readonly concurrency: number },
): Promise<FormerList> {
  if (users.length <= fewUsers) return lookUpEach(api, app_code, users, concurrency);
  const list = await readList(api, app_code, users, { known });
  const listed = list instanceof Failure ? unlisted : list;
  const first = users.find((user) => !listed.lookupResult(user));
  if (first === undefined) return listed;
  const shown = await lookUp(api, { remote_user: first, app_code }, listed.nearOf(first));
  if (shown.unfiltered) return readTwice(api, app_code, users);
  const isCounted = listed.isCounted && shown.shows !== 'licenses';
  return { ...listed, isCounted, lookupResult: (user) => (user === first ? shown : listed.lookupResult(user)) };
}

async function lookUpEach(api: ListingApi, app_code: number, users: readonly string[], concurrency: number) {
  const results = new Map<string, FormerResult>();
  const isFiltered = (): boolean => ![...results.values()].some(({ unfiltered }) => unfiltered);
  const untilUnfiltered = function* (): Generator<string> {
    for (const user of users) if (isFiltered()) yield user;
  };
  const lookUpOne = async (remote_user: string): Promise<void> =>
    void results.set(remote_user, await lookUp(api, { remote_user, app_code }));
  for await (const _ of pool(untilUnfiltered(), concurrency, lookUpOne)) continue;
  if (isFiltered()) return { ...unlisted, lookupResult: (user: string) => results.get(user) };
  return readTwice(api, app_code, users, new Map([...results].filter(([, { shows }]) => shows === 'licenses')));
}

/** A license that any reading shows exists; both of a pair must lack the same users. `results`: of earlier lookups. */
async function readTwice(
  api: ListingApi,
  app_code: number,
  users: readonly string[],
  results = new Map<string, FormerResult>(),
): Promise<FormerList> {
  let failure = new Failure('incomplete', `the list changes: no two of ${2 * maxPairs} readings show the same users`);
  for (let pair = 1; pair <= maxPairs; pair += 1) {
    const all = new Set<string>();
    const two = [await readUnmoved(api, app_code, users, all), await readUnmoved(api, app_code, users, all)];
    const open = users.filter((user) => !results.has(user));
    const [one, other] = two.map((reading) => {
      if (reading instanceof Failure) return void (failure = reading);
      for (const user of users) {
        const result = reading.lookupResult(user) ?? withNear(nothing, reading.nearOf(user));
        if (result.shows !== 'nothing' && results.get(user)?.shows !== 'licenses') results.set(user, result);
      }
      const unseen = open.filter((user) => !reading.lookupResult(user) && reading.nearOf(user).length === 0);
      return { unseen: unseen.join('\n'), length: reading.length };
    });
    if (one && other && one.unseen === other.unseen) {
      const unfiltered = { licenses: all, mayBeCut: other.length.mayBeCut() };
      return { ...unlisted, lookupResult: (user) => ({ ...(results.get(user) ?? nothing), unfiltered }) };
    }
  }
  return { ...unlisted, lookupResult: (user) => results.get(user) ?? { shows: 'incomplete', failure } };
}

/** The list, read once more where a page told of more licenses than there were: none can be deleted, so rows moved. */
async function readUnmoved(api: ListingApi, app_code: number, users: readonly string[], all: Set<string>) {
  const reading = await readList(api, app_code, users, { all });
  if (reading instanceof Failure || !reading.length.lacksRows()) return reading;
  const again = await readList(api, app_code, users, { all });
  return again instanceof Failure || !again.length.lacksRows() ? again : unusable('its pages moved while it was read');
}

/**
 * Keeps the licenses that may be of these users; `all` receives each license, in one text, and such a list is read
 * however long it is. A Failure: the list is not whole, too long, or without users.
 */
async function readList(
  api: ListingApi,
  app_code: number,
  users: readonly string[],
  { known, all }: { readonly known?: KnownLicense | undefined; readonly all?: Set<string> },
) {
  all?.clear();
  const longest = all ? Infinity : tooLong * users.length;
  const exact = new Map<string, License>();
  /** Of users who have several. */
  const further = new Map<string, License[]>();
  const near = new Map<string, License[]>();
  const wanted = new Set(users);
  /** Made for the first license of somebody else. */
  let candidatesOf: ReturnType<typeof nameIndex> | undefined;
  const length = measureList();
  /** How many licenses page one tells of, where there are more pages. */
  let total = 0;
  const heard = (page: PageSize, place: number): void => {
    length.heard(page, place);
    total = place === 1 && page.next !== undefined ? Math.max(page.total, page.pages * page.count) : 0;
  };
  try {
    for await (const license of api.list({ app_code }, 'whole', heard)) {
      const name = textOf(license, 'remote_user');
      if (name === undefined || isNameless(license, wanted)) return unusable('its rows do not name users');
      if (total > longest) return unusable('it is too long');
      all?.add(license.key ?? identityOf(license));
      if (wanted.has(name) && likeness(license, { remote_user: name, app_code }) === 'exact') {
        const held = known?.(name);
        const one = held && writeJson(held) === writeJson(license) ? held : license;
        if (!exact.has(name)) exact.set(name, one);
        else if (!further.get(name)?.push(one)) further.set(name, [one]);
        continue;
      }
      candidatesOf ??= nameIndex(wanted);
      for (const remote_user of candidatesOf(name))
        if (likeness(license, { remote_user, app_code }) === 'near' && !near.get(remote_user)?.push(license))
          near.set(remote_user, [license]);
    }
  } catch (cause) {
    if (cause instanceof Failure && cause.kind === 'incomplete') return cause;
    throw cause;
  }
  return {
    lookupResult(user: string): FormerResult | undefined {
      const first = exact.get(user);
      return first && lookupResult({ exact: distinct([first, ...(further.get(user) ?? none)]), near: none });
    },
    nearOf: (user: string) => near.get(user) ?? none,
    isCounted: length.isCounted(),
    length,
  };
}

/**
 * Reads the list after a POST, and again after `settle` if it lacks a license. `failure`: it lacks an earlier license,
 * or the new one. Returns a Failure if it was not answered.
 */
export async function listAfterPost(
  api: Pick<LicensingApi, 'deciding'>,
  { remote_user, app_code }: LicenseUser,
  earlier: UnfilteredList,
  settle: number,
  { sleep, elapsed }: Pick<Settling, 'sleep' | 'elapsed'>,
) {
  const posted = elapsed();
  const deciding = api.deciding({ since: posted, until: posted + 2 * settle });
  try {
    for (let isLast = false; ; isLast = true) {
      if (isLast) await sleep(settle);
      const all = new Set<string>();
      const list = await readList(deciding, app_code, [remote_user], { all });
      const result = list instanceof Failure ? undefined : list.lookupResult(remote_user);
      const lost = [...earlier.licenses].filter((license) => !all.has(license)).length;
      if (result && lost === 0) return { result };
      if (!isLast) continue;
      const missing = result ? `${lost} of the ${earlier.licenses.size} licenses that it showed before` : 'the license';
      const why = `the server ignores the filter by user, and its list is cut: after a POST for ${remote_user} it does not show ${missing}`;
      return { result, failure: new Failure('incomplete', why, { hint: cutHint, retryable: false }) };
    }
  } catch (cause) {
    if (cause instanceof Failure) return cause;
    throw cause;
  }
}

function unusable(why: string): Failure {
  return new Failure('incomplete', `the list of the application is not used: ${why}`);
}
