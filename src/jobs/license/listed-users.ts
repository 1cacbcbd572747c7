/** The licenses that one list shows of certain users of an application, and the names of other users. */
import { isMasked, textOf, type License } from '../../api/licensing/license.ts';
import { isStoredFor, likenessOfApp, minCutChars } from '../../api/licensing/likeness.ts';
import { Failure } from '../../core/failure.ts';
import { foldName } from '../../core/fold-name.ts';
import { groupBy } from './license-user.ts';

export class ListedUsers {
  readonly #app_code: number;
  readonly #users: ReadonlySet<string>;
  /** Built at the first name that is none of the users'; most lists of a large roster have none. */
  #usersNear: ((name: string) => readonly string[]) | undefined;
  /** Licenses of exactly the user's name, by user. */
  readonly exact = new Map<string, License[]>();
  readonly near = new Map<string, License[]>();
  /** Names of other users, up to `mostOthers`. */
  readonly others = new Set<string>();

  constructor(app_code: number, users: ReadonlySet<string>) {
    this.#app_code = app_code;
    this.#users = users;
  }

  /** Keeps the license if it may belong to one of the users. Returns false if the row does not name its user. */
  add(license: License): boolean {
    const name = textOf(license, 'remote_user');
    if (name === undefined || (isMasked(name) && !this.#users.has(name))) return false;
    const likeness = likenessOfApp(license, this.#app_code);
    if (likeness === 'other') return true;
    if (this.#users.has(name) && likeness === 'exact') {
      push(this.exact, name, license);
      return true;
    }
    this.#usersNear ??= nameIndex(this.#users);
    for (const user of this.#usersNear(name)) push(this.near, user, license);
    if (this.others.size < mostOthers) this.others.add(name);
    return true;
  }
}

const mostOthers = 100_000;

/** Whether a row does not name its user; a masked name is none. */
export function isNameless(row: License): boolean {
  const name = textOf(row, 'remote_user');
  return name === undefined || isMasked(name);
}

/** Whether a list may be truncated: servers truncate lists at round numbers of rows. */
export function isRound(rows: number): boolean {
  const isPowerOfTwo = rows >= 8 && (rows & (rows - 1)) === 0;
  return rows % 5 === 0 || rows % 12 === 0 || isPowerOfTwo;
}

/** The failure of a list that proves nothing. */
export function inconclusive(text: string, hint?: string): Failure {
  return new Failure('incomplete', text, { hint, retryable: false });
}

function push<T>(groups: Map<string, T[]>, name: string, one: T): void {
  if (!groups.get(name)?.push(one)) groups.set(name, [one]);
}

/** Finds the users whom a listed name may mean, without comparing the name with each of them. */
export function nameIndex(users: ReadonlySet<string>): (name: string) => readonly string[] {
  const beginOf = (name: string): string => foldName(name).slice(0, minCutChars);
  const index = groupBy(users, beginOf);
  return (name) => (index.get(beginOf(name)) ?? []).filter((user) => isStoredFor(name, user));
}
