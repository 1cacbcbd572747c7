import { textOf, type License, type UserLicenses } from '../../api/licensing/license.ts';
import { foldName, likeness, minCutChars } from '../../api/licensing/license-names.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import { pool } from '../work/pool.ts';

/** What a server lists for a user; a Failure where that list is not whole. */
export type ListedUser = UserLicenses | Failure;

/** Maximum number of users that are looked up one by one; for more, one list of all licenses is cheaper. */
const fewUsers = 20;

const noLicenses: readonly License[] = [];

export type CensusApi = Pick<LicensingApi, 'list' | 'ofUser'>;

/**
 * What the server lists for each of the users in one application. Where the list of the application is not whole, or has rows without
 * a user, each user is looked up (docs/exactly-once.md, Whole lists).
 * @throws Failure of a list that cannot be read at all
 */
export async function takeCensus(
  api: CensusApi,
  app_code: number,
  users: readonly string[],
  concurrency: number,
): Promise<ReadonlyMap<string, ListedUser>> {
  const census = users.length > fewUsers ? await fromList(api, app_code, users) : undefined;
  return census ?? lookUpEach(api, app_code, users, concurrency);
}

async function lookUpEach(
  api: CensusApi,
  app_code: number,
  users: readonly string[],
  concurrency: number,
): Promise<ReadonlyMap<string, ListedUser>> {
  const census = new Map<string, ListedUser>();
  const look = async (remote_user: string): Promise<readonly [string, ListedUser]> => [
    remote_user,
    await lookUp(api, { remote_user, app_code }),
  ];
  for await (const [user, listed] of pool(users, concurrency, look)) census.set(user, listed);
  return census;
}

async function lookUp(api: CensusApi, holder: { remote_user: string; app_code: number }): Promise<ListedUser> {
  try {
    return await api.ofUser(holder);
  } catch (cause) {
    if (cause instanceof Failure && cause.kind === 'incomplete') return cause;
    throw cause;
  }
}

/** Undefined where the list cannot answer for each user. */
async function fromList(
  api: CensusApi,
  app_code: number,
  users: readonly string[],
): Promise<ReadonlyMap<string, ListedUser> | undefined> {
  const found = new Map<string, UserLicenses>();
  const others: License[] = [];
  const wanted = new Set(users);
  try {
    for await (const license of api.list({ app_code })) {
      const name = textOf(license, 'remote_user');
      if (name === undefined) return undefined;
      const isExact = wanted.has(name) && likeness(license, { remote_user: name, app_code }) === 'exact';
      if (isExact) {
        const { exact } = found.get(name) ?? {};
        found.set(name, { exact: exact ? [...exact, license] : [license], near: noLicenses });
      } else others.push(license);
    }
  } catch (cause) {
    if (cause instanceof Failure && cause.kind === 'incomplete') return undefined;
    throw cause;
  }
  if (others.length === 0) return found;
  const near = nearMatches(
    others,
    app_code,
    users.filter((user) => !found.has(user)),
  );
  return new Map([...found, ...near]);
}

/** The users for whom the list shows a license of a near name alone. */
function nearMatches(
  licenses: readonly License[],
  app_code: number,
  users: readonly string[],
): Map<string, UserLicenses> {
  const near = new Map<string, License[]>();
  const candidatesOf = nameIndex(users);
  for (const license of licenses) {
    for (const remote_user of candidatesOf(textOf(license, 'remote_user') ?? '')) {
      if (likeness(license, { remote_user, app_code }) !== 'near') continue;
      near.set(remote_user, [...(near.get(remote_user) ?? []), license]);
    }
  }
  return new Map([...near].map(([user, found]) => [user, { exact: noLicenses, near: found }]));
}

/** Finds the users whom a listed name may mean, without comparing it with each of them. */
function nameIndex(users: readonly string[]): (name: string) => Iterable<string> {
  const folded = new Map<string, string[]>();
  for (const user of users) {
    const key = foldName(user);
    const same = folded.get(key);
    if (same) same.push(user);
    else folded.set(key, [user]);
  }
  const sorted = [...folded.keys()].sort();
  return function* (name) {
    const key = foldName(name);
    yield* folded.get(key) ?? [];
    if (name.length < minCutChars) return;
    for (let at = firstAfter(sorted, key); sorted[at]?.startsWith(key); at += 1)
      yield* folded.get(sorted[at] ?? '') ?? [];
  };
}

/** The place of the first text above `key` in a sorted array. */
function firstAfter(sorted: readonly string[], key: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}
