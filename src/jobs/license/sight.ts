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
  /** `hint`: pages were read one after another, and the user may have been on none of them. */
  | { readonly shows: 'nothing'; readonly as: 'proof' | 'hint' }
  /** The look did not show everything. */
  | { readonly shows: 'gap'; readonly failure: Failure };

const proof: Sight = { shows: 'nothing', as: 'proof' };
const hint: Sight = { shows: 'nothing', as: 'hint' };

/** Maximum number of users that are looked up one by one; for more, one list of all licenses is cheaper. */
const fewUsers = 20;
/** A list with so many times more licenses than users were asked for is not read. */
const tooLong = 20;
/** How often a list is read twice, until two readings agree. */
const maxPairs = 3;

/** The license that a user is known to have been given: a list that shows the same one need not hold a copy. */
export type KnownLicense = (user: string) => License | undefined;

export type SightApi = Pick<LicensingApi, 'list' | 'ofUser'>;

/**
 * What the server shows of each of the users in one application: by one list of all licenses, or by a look-up of each. A list of several
 * pages is a hint; where the server ignores filters it is read twice (docs/exactly-once.md, A world that moves).
 * @throws Failure of a list that cannot be read at all
 */
export async function lookAtUsers(
  api: SightApi,
  app_code: number,
  users: readonly string[],
  { concurrency, known = () => undefined }: { readonly concurrency: number; readonly known?: KnownLicense | undefined },
): Promise<(user: string) => Sight> {
  if (users.length <= fewUsers) return lookUpEach(api, app_code, users, concurrency);
  const list = await readList(api, app_code, users, { known });
  const isRead = !(list instanceof Failure);
  const unseen = isRead ? users.filter((user) => !list.sightOf(user)) : users;
  const [probe] = unseen;
  if (isRead && (list.isOnePage || probe === undefined)) return (user) => list.sightOf(user) ?? proof;
  const { sight, filter } = await lookUp(api, { remote_user: probe ?? '', app_code });
  if (filter === 'ignored') return readTwice(api, app_code, users, list);
  if (isRead) return (user) => (user === probe ? sight : (list.sightOf(user) ?? hint));
  const others = await lookUpEach(api, app_code, users.slice(1), concurrency);
  return (user) => (user === probe ? sight : others(user));
}

async function lookUpEach(
  api: SightApi,
  app_code: number,
  users: readonly string[],
  concurrency: number,
): Promise<(user: string) => Sight> {
  const sights = new Map<string, Sight>();
  const look = async (remote_user: string): Promise<readonly [string, Sight]> => [
    remote_user,
    (await lookUp(api, { remote_user, app_code })).sight,
  ];
  for await (const [user, sight] of pool(users, concurrency, look)) sights.set(user, sight);
  return (user) => sights.get(user) ?? proof;
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
  return near ? { shows: 'near', licenses: [near, ...others] } : proof;
}

/** One reading of the list of an application. */
interface ListReading {
  /** Undefined where it shows nothing of the user. */
  readonly sightOf: (user: string) => Sight | undefined;
  readonly isOnePage: boolean;
}

/** Two readings must agree on the users of whom they show nothing; then that is a proof. */
async function readTwice(
  api: SightApi,
  app_code: number,
  users: readonly string[],
  begun: ListReading | Failure,
): Promise<(user: string) => Sight> {
  const sights = new Map<string, Sight>();
  let failure = new Failure('incomplete', `the list moves: of ${2 * maxPairs} readings no two show the same users`);
  let first: ListReading | Failure | undefined = begun instanceof Failure ? undefined : begun;
  for (let pair = 1; pair <= maxPairs; pair += 1) {
    const two = [
      first ?? (await readList(api, app_code, users, { longest: Infinity })),
      await readList(api, app_code, users, { longest: Infinity }),
    ];
    first = undefined;
    const [missing, ...others] = two.map((reading) => {
      if (reading instanceof Failure) return (failure = reading);
      const unseen = users.filter((user) => {
        const sight = reading.sightOf(user);
        if (sight && sights.get(user)?.shows !== 'licenses') sights.set(user, sight);
        return !sight;
      });
      return unseen.join('\n');
    });
    if (typeof missing === 'string' && others.every((other) => other === missing))
      return (user) => sights.get(user) ?? proof;
  }
  return (user) => sights.get(user) ?? { shows: 'gap', failure };
}

/**
 * Keeps the licenses alone that may be of these users, however many others the list has. A Failure where the list cannot answer for each
 * user: it is not whole, too long, or its rows do not name users.
 */
async function readList(
  api: SightApi,
  app_code: number,
  users: readonly string[],
  { longest = tooLong * users.length, known }: { readonly longest?: number; readonly known?: KnownLicense },
): Promise<ListReading | Failure> {
  const exact = new Map<string, License[]>();
  const near = new Map<string, License[]>();
  const wanted = new Set(users);
  /** Made for the first license of somebody else. */
  let candidatesOf: ReturnType<typeof nameIndex> | undefined;
  let [isOnePage, isTooLong] = [true, false];
  const heard = ({ next, total, pages, count }: PageSize, place: number): void => {
    isOnePage = place === 1;
    isTooLong = isOnePage && next !== undefined && Math.max(total, pages * count) > longest;
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
  const isShown = (user: string): boolean => exact.has(user) || near.has(user);
  const shown = (user: string): Sight =>
    sightOf({ exact: distinct(exact.get(user) ?? []), near: near.get(user) ?? [] });
  return { sightOf: (user) => (isShown(user) ? shown(user) : undefined), isOnePage };
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
