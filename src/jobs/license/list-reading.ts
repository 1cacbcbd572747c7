/** One reading of an application's list: what it shows of some users, and whether it may lack rows. */
import { textOf, type License } from '../../api/licensing/license.ts';
import type { Heard } from '../../api/licensing/license-list.ts';
import { isNameless, likeness, likenessOfApp, minCutChars } from '../../api/licensing/likeness.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { Failure } from '../../core/failure.ts';
import { fingerprintOf } from '../../core/fingerprint.ts';
import { writeJson } from '../../core/json.ts';
import { foldName } from '../../core/fold-name.ts';
import { countBefore } from '../../core/halving.ts';

/** Marks of lists are added up in whole numbers. */
const markSize = 2 ** 52;

export class ListReading {
  readonly sentAt: Milliseconds;
  /** Fingerprints of the licenses on an only page without a total. */
  readonly licenses = new Set<number>();
  /** Why it is not complete, or does not name the users. */
  gap: Failure | undefined;
  readonly length = new ListLength();
  readonly #app_code: number;
  readonly #users: ReadonlySet<string>;
  readonly #exact = new Map<string, License>();
  /** Of users who have several. */
  readonly #further = new Map<string, License[]>();
  readonly #near = new Map<string, License[]>();
  #usersNear: ReturnType<typeof nameIndex> | undefined;
  /** Users of the list who are none of those, up to a number. */
  readonly unasked = new Set<string>();
  readonly #mostUnasked: number;

  constructor(app_code: number, users: ReadonlySet<string>, sentAt: Milliseconds, mostUnasked: number) {
    this.#app_code = app_code;
    this.#mostUnasked = mostUnasked;
    this.#users = users;
    this.sentAt = sentAt;
  }

  /** Keeps the license if it may be of one of the users. Returns false where it does not tell whose it is. */
  add(license: License): boolean {
    if (!this.length.hasNext && this.length.total === 0)
      this.licenses.add(fingerprintOf(textOfLicense(license)).number);
    const name = textOf(license, 'remote_user');
    if (name === undefined || isNameless(license, this.#users)) return false;
    const app_code = this.#app_code;
    if (this.#users.has(name) && likeness(license, { remote_user: name, app_code }) === 'exact') {
      if (!this.#exact.has(name)) this.#exact.set(name, license);
      else if (!this.#further.get(name)?.push(license)) this.#further.set(name, [license]);
      return true;
    }
    if (this.unasked.size < this.#mostUnasked && !this.#users.has(name) && likenessOfApp(license, app_code) === 'exact')
      this.unasked.add(name);
    this.#usersNear ??= nameIndex(this.#users);
    for (const remote_user of this.#usersNear(name))
      if (likeness(license, { remote_user, app_code }) === 'near' && !this.#near.get(remote_user)?.push(license))
        this.#near.set(remote_user, [license]);
    return true;
  }

  exactOf(user: string): readonly License[] {
    const first = this.#exact.get(user);
    return first ? [first, ...(this.#further.get(user) ?? none)] : none;
  }

  nearOf(user: string): readonly License[] {
    return this.#near.get(user) ?? none;
  }
}

const none: readonly License[] = [];

/** Adds up the pages of a list; the first page begins another reading of it. */
export class ListLength {
  rows = 0;
  total = 0;
  pages = 0;
  /** The same for the same licenses in any order. */
  mark = 0;
  #counted = 0;
  /** The lengths of the first and the last page, and whether all between are as long as the first. */
  #first = 0;
  #last = 0;
  #isEven = true;

  hasNext = false;
  /** The server says so in as many words. */
  hasMore = false;
  /** How many rows page one speaks of; 0 where it does not. */
  promised = 0;

  readonly heard: Heard = ({ rows, total, pages, next, hasMore }, place) => {
    const count = rows.length;
    [this.hasNext, this.hasMore] = [next !== undefined, hasMore];
    if (place === 1) this.promised = Math.max(total, pages * count);
    if (place === 1) {
      [this.rows, this.mark, this.#counted, this.total] = [0, 0, count, total];
      [this.#first, this.#isEven] = [count, true];
    } else {
      [this.#counted, this.total] = [this.#counted + count, Math.max(this.total, total)];
      this.#isEven &&= this.#last === this.#first;
    }
    [this.pages, this.#last] = [place, count];
  };

  add(license: License): void {
    this.rows += 1;
    this.mark = (this.mark + (fingerprintOf(textOfLicense(license)).number % markSize)) % markSize;
  }

  /** A total equals its rows. */
  get isCounted(): boolean {
    return this.total > 0 && this.total === this.#counted;
  }

  /** Only a total, or full pages before the last one, show that a server has not cut its list. */
  get isCertain(): boolean {
    return this.isCounted || (this.pages > 1 && this.#isEven && this.#last <= this.#first);
  }

  /** So long are lists that servers cut. */
  get isRound(): boolean {
    const { rows } = this;
    const isPowerOfTwo = rows >= 8 && (rows & (rows - 1)) === 0;
    return rows > 0 && (rows % 5 === 0 || rows % 12 === 0 || isPowerOfTwo);
  }
}

function textOfLicense({ key, fields }: License): string {
  return key ?? writeJson(fields);
}

/** Finds the users whom a listed name may mean, without comparing it with each of them. */
export function nameIndex(users: ReadonlySet<string>): (name: string) => Iterable<string> {
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
    const first = countBefore(sorted, (one) => one <= key);
    for (let at = first; sorted[at]?.startsWith(key); at += 1) yield* usersOf(sorted[at] ?? '');
  };
}

/** Which applications list a key whose rows name none: where several do, it is nobody's. */
export class KeyOwners {
  isOfSeveral = false;
  readonly #applications = new Map<string, Set<number>>();

  add(server: string, app_code: number, license: License): void {
    const key = this.#keyOf(server, license);
    if (key === undefined) return;
    const owners = this.#applications.get(key);
    if (owners) owners.add(app_code);
    else this.#applications.set(key, new Set([app_code]));
  }

  of(server: string, license: License): readonly number[] {
    return [...(this.#applications.get(this.#keyOf(server, license) ?? '') ?? [])];
  }

  #keyOf(server: string, { key, fields }: License): string | undefined {
    return key === undefined || (fields['app_code'] ?? undefined) !== undefined ? undefined : `${server} ${key}`;
  }
}
