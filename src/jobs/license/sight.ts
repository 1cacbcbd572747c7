import { distinct, textOf, type License, type UserLicenses } from '../../api/licensing/license.ts';
import type { PageSize } from '../../api/licensing/list-page.ts';
import { foldName, likeness, minCutChars } from '../../api/licensing/user-licenses.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { pool } from '../work/pool.ts';

/** What a look at the server shows of one user (docs/exactly-once.md, What a POST needs). */
export type Sight =
  | { readonly shows: 'licenses'; readonly licenses: readonly [License, ...License[]] }
  /** Licenses of names that the server may have made of the user's, and none of that name itself. */
  | { readonly shows: 'near'; readonly licenses: readonly [License, ...License[]] }
  | { readonly shows: 'nothing' }
  /** The look did not show everything. */
  | { readonly shows: 'gap'; readonly failure: Failure };

export const nothing: Sight = { shows: 'nothing' };

/** Maximum number of users who are looked up one by one; for more, one list of all licenses finds most of them cheaper. */
const fewUsers = 20;
/** A list with so many times more licenses than users were asked for is not read. */
const tooLong = 20;
/** How often a list is read twice, until two readings agree. */
const maxPairs = 3;

/** The license that a user is known to have been given: a list that shows the same one need not hold a copy. */
export type KnownLicense = (user: string) => License | undefined;

export type SightApi = Pick<LicensingApi, 'list' | 'ofUser'>;

/** What is known of the users of an application once its list is read. */
export interface ListedUsers {
  /** Undefined where the list does not show the license, and the user has to be looked up. */
  readonly sightOf: (user: string) => Sight | undefined;
  /** Licenses of similar names that the list shows. */
  readonly nearOf: (user: string) => readonly License[];
  /** Whether the server tells as many licenses as it lists. */
  readonly isCounted: boolean;
}

const none: readonly License[] = [];
const unlisted: ListedUsers = { sightOf: () => undefined, nearOf: () => none, isCounted: false };

/**
 * Reads the list of an application, which only finds licenses: that it shows none proves nothing. Where the server ignores the filter it is
 * read twice, and that is the look (docs/exactly-once.md, A list is a hint).
 * @throws Failure of a list that cannot be read at all
 */
export async function listUsers(
  api: SightApi,
  app_code: number,
  users: readonly string[],
  { concurrency, known }: { readonly concurrency: number; readonly known?: KnownLicense | undefined },
): Promise<ListedUsers> {
  if (users.length <= fewUsers) return lookUpEach(api, app_code, users, concurrency);
  const list = await readList(api, app_code, users, { known });
  const listed = list instanceof Failure ? unlisted : list;
  const first = users.find((user) => !listed.sightOf(user));
  if (first === undefined) return listed;
  const { sight, filter } = await lookUp(api, { remote_user: first, app_code });
  if (filter === 'ignored') return readTwice(api, app_code, users, list);
  const shown = withNear(sight, listed.nearOf(first));
  const isCounted = listed.isCounted && shown.shows !== 'licenses';
  return { ...listed, isCounted, sightOf: (user) => (user === first ? shown : listed.sightOf(user)) };
}

async function lookUpEach(
  api: SightApi,
  app_code: number,
  users: readonly string[],
  concurrency: number,
): Promise<ListedUsers> {
  const sights = new Map<string, Sight>();
  const look = async (remote_user: string): Promise<void> =>
    void sights.set(remote_user, (await lookUp(api, { remote_user, app_code })).sight);
  for await (const _ of pool(users, concurrency, look)) continue;
  return { ...unlisted, sightOf: (user) => sights.get(user) };
}

interface UserLook {
  readonly sight: Sight;
  readonly filter: UserLicenses['filter'];
}

/** One user by the filter of the server. @throws Failure of a list that cannot be read at all */
export async function lookUp(
  api: Pick<SightApi, 'ofUser'>,
  { remote_user, app_code }: { readonly remote_user: string; readonly app_code: number },
): Promise<UserLook> {
  try {
    const listed = await api.ofUser({ remote_user, app_code });
    return { sight: sightOf(listed), filter: listed.filter };
  } catch (failure) {
    if (failure instanceof Failure && failure.kind === 'incomplete')
      return { sight: { shows: 'gap', failure }, filter: 'honoured' };
    throw failure;
  }
}

export function sightOf({
  exact: [one, ...more],
  near: [near, ...others],
}: Pick<UserLicenses, 'exact' | 'near'>): Sight {
  if (one) return { shows: 'licenses', licenses: [one, ...more] };
  return near ? { shows: 'near', licenses: [near, ...others] } : nothing;
}

/** Similar names count as long as no license of the very name is shown. */
export function withNear(sight: Sight, near: readonly License[]): Sight {
  if (sight.shows === 'licenses' || sight.shows === 'gap') return sight;
  return sightOf({ exact: [], near: distinct(sight.shows === 'near' ? [...sight.licenses, ...near] : near) });
}

/** What any reading shows is there; the two of a pair must agree on the other users. */
async function readTwice(
  api: SightApi,
  app_code: number,
  users: readonly string[],
  begun: ListedUsers | Failure,
): Promise<ListedUsers> {
  const sights = new Map<string, Sight>();
  let failure = new Failure('incomplete', `the list moves: of ${2 * maxPairs} readings no two show the same users`);
  let first: ListedUsers | Failure | undefined = begun instanceof Failure ? undefined : begun;
  for (let pair = 1; pair <= maxPairs; pair += 1) {
    const two = [
      first ?? (await readList(api, app_code, users, { longest: Infinity })),
      await readList(api, app_code, users, { longest: Infinity }),
    ];
    first = undefined;
    const open = users.filter((user) => !sights.has(user));
    const [missing, ...others] = two.map((reading) => {
      if (reading instanceof Failure) return (failure = reading);
      for (const user of users) {
        const sight = reading.sightOf(user) ?? withNear(nothing, reading.nearOf(user));
        if (sight.shows !== 'nothing' && sights.get(user)?.shows !== 'licenses') sights.set(user, sight);
      }
      return open.filter((user) => !reading.sightOf(user) && reading.nearOf(user).length === 0).join('\n');
    });
    if (typeof missing === 'string' && others.every((other) => other === missing))
      return { ...unlisted, sightOf: (user) => sights.get(user) ?? nothing };
  }
  return { ...unlisted, sightOf: (user) => sights.get(user) ?? { shows: 'gap', failure } };
}

/**
 * Keeps the licenses alone that may be of these users, however many others the list has. A Failure where the list cannot answer for each
 * user: it is not whole, too long, or its rows do not name users.
 */
async function readList(
  api: SightApi,
  app_code: number,
  users: readonly string[],
  { longest = tooLong * users.length, known }: { readonly longest?: number; readonly known?: KnownLicense | undefined },
): Promise<ListedUsers | Failure> {
  const exact = new Map<string, License[]>();
  const near = new Map<string, License[]>();
  const wanted = new Set(users);
  /** Made for the first license of somebody else. */
  let candidatesOf: ReturnType<typeof nameIndex> | undefined;
  let [isTooLong, told, received] = [false, 0, 0];
  const heard = ({ next, total, pages, count }: PageSize, place: number): void => {
    isTooLong = place === 1 && next !== undefined && Math.max(total, pages * count) > longest;
    [told, received] = place === 1 ? [total, count] : [Math.max(told, total), received + count];
  };
  try {
    for await (const license of api.list({ app_code }, 'whole', heard)) {
      const name = textOf(license, 'remote_user');
      if (name === undefined) return unusable('its rows do not name users');
      if (isTooLong) return unusable('it is too long');
      if (wanted.has(name) && likeness(license, { remote_user: name, app_code }) === 'exact') {
        const held = known?.(name);
        const one = held && writeJson(held) === writeJson(license) ? held : license;
        if (!exact.get(name)?.push(one)) exact.set(name, [one]);
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
    sightOf: (user) =>
      exact.has(user) ? sightOf({ exact: distinct(exact.get(user) ?? none), near: none }) : undefined,
    nearOf: (user) => near.get(user) ?? none,
    isCounted: told > 0 && told === received,
  };
}

function unusable(why: string): Failure {
  return new Failure('incomplete', `the list of the application is not used: ${why}`);
}

/** Finds the users whom a listed name may mean, without comparing it with each of them. */
function nameIndex(users: ReadonlySet<string>): (name: string) => Iterable<string> {
  /** Users by their folded name; most users of a large roster are that themselves, and are not here. */
  const changed = new Map<string, string[]>();
  for (const user of users) {
    const key = foldName(user);
    if (key !== user && !changed.get(key)?.push(user)) changed.set(key, [user]);
  }
  const usersOf = (key: string): string[] => [...(users.has(key) ? [key] : []), ...(changed.get(key) ?? [])];
  let sorted: string[] | undefined;
  return function* (name) {
    const key = foldName(name);
    yield* usersOf(key);
    if (name.length < minCutChars) return;
    sorted ??= [...new Set([...users].map(foldName))].sort();
    for (let at = firstAfter(sorted, key); sorted[at]?.startsWith(key); at += 1) yield* usersOf(sorted[at] ?? '');
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
