import { textOf, type License } from '../../api/licensing/license.ts';
import { foldName, likeness, minCutChars } from '../../api/licensing/user-licenses.ts';

/** The users for whom the list shows licenses of near names alone, and those licenses. */
export function nearMatches(
  licenses: readonly License[],
  app_code: number,
  users: readonly string[],
): Map<string, License[]> {
  const near = new Map<string, License[]>();
  if (licenses.length === 0) return near;
  const candidatesOf = nameIndex(users);
  for (const license of licenses)
    for (const remote_user of candidatesOf(textOf(license, 'remote_user') ?? ''))
      if (likeness(license, { remote_user, app_code }) === 'near' && !near.get(remote_user)?.push(license))
        near.set(remote_user, [license]);
  return near;
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
