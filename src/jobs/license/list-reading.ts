/** One reading of an application's list: what it shows of some users, and whether it may lack rows. */
import { isMasked, textOf, type License } from '../../api/licensing/license.ts';
import type { Heard } from '../../api/licensing/license-list.ts';
import { likeness, likenessOfApp, minCutChars } from '../../api/licensing/likeness.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { Failure } from '../../core/failure.ts';
import { fingerprintOf } from '../../core/fingerprint.ts';
import { writeJson } from '../../core/json.ts';
import { foldName } from '../../core/fold-name.ts';

/** Adds up the pages of a list; the first page begins another reading of it. */
export class ListLength {
  rows = 0;
  pages = 0;
  /** How many rows there are in all; 0 where the server does not say it. */
  total = 0;
  /** How many rows page one speaks of. */
  promised = 0;
  hasNext = false;
  /** The server says so in as many words. */
  hasMore = false;
  /** Fingerprints of the licenses on an only page without a total. */
  licenses = new Set<number>();
  #received = 0;
  /** The lengths of the first and the last page, and whether all between are as long as the first. */
  #first = 0;
  #last = 0;
  #isEven = true;

  readonly heard: Heard = ({ rows, total, pages, next, hasMore }, place) => {
    const count = rows.length;
    if (place === 1) {
      [this.rows, this.#received, this.total, this.licenses] = [0, 0, 0, new Set()];
      [this.promised, this.#first, this.#isEven] = [Math.max(total, pages * count), count, true];
    } else this.#isEven &&= place === 2 || this.#last === this.#first;
    [this.hasNext, this.hasMore, this.pages, this.#last] = [next !== undefined, hasMore, place, count];
    [this.#received, this.total] = [this.#received + count, Math.max(this.total, total)];
  };

  add({ key, fields }: License): void {
    this.rows += 1;
    if (!this.hasNext && this.total === 0) this.licenses.add(fingerprintOf(key ?? writeJson(fields)).number);
  }

  /** A total equals its rows. */
  get isCounted(): boolean {
    return this.total > 0 && this.total === this.#received;
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

export class ListReading {
  readonly sentAt: Milliseconds;
  readonly length = new ListLength();
  /** Why it is not complete, or does not name the users. */
  gap: Failure | undefined;
  /** Users of the list who are none of those, up to a number. */
  readonly unasked = new Set<string>();
  readonly #app_code: number;
  readonly #users: ReadonlySet<string>;
  readonly #mostUnasked: number;
  readonly #exact = new Map<string, License>();
  /** Of users who have several. */
  readonly #further = new Map<string, License[]>();
  readonly #near = new Map<string, License[]>();
  #usersNear: ReturnType<typeof nameIndex> | undefined;

  constructor(app_code: number, users: ReadonlySet<string>, sentAt: Milliseconds, mostUnasked: number) {
    this.#app_code = app_code;
    this.#users = users;
    this.sentAt = sentAt;
    this.#mostUnasked = mostUnasked;
  }

  /** Keeps the license if it may be of one of the users. Returns false where it does not tell whose it is. */
  add(license: License): boolean {
    const name = textOf(license, 'remote_user');
    if (name === undefined || (isMasked(name) && !this.#users.has(name))) return false;
    const app_code = this.#app_code;
    const isOfApp = likenessOfApp(license, app_code) === 'exact';
    if (this.#users.has(name) && isOfApp) {
      if (!this.#exact.has(name)) this.#exact.set(name, license);
      else push(this.#further, name, license);
      return true;
    }
    if (this.unasked.size < this.#mostUnasked && !this.#users.has(name) && isOfApp) this.unasked.add(name);
    this.#usersNear ??= nameIndex(this.#users);
    for (const remote_user of this.#usersNear(name))
      if (likeness(license, { remote_user, app_code }) === 'near') push(this.#near, remote_user, license);
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

function push<T>(groups: Map<string, T[]>, name: string, one: T): void {
  if (!groups.get(name)?.push(one)) groups.set(name, [one]);
}

/** Finds the users whom a listed name may mean, without comparing it with each of them. */
export function nameIndex(users: ReadonlySet<string>): (name: string) => readonly string[] {
  /** Users by their folded name; most users of a large roster are that themselves, and are not here. */
  const changed = new Map<string, string[]>();
  /** Those whose names a server may cut. */
  const long = new Map<string, string[]>();
  for (const user of users) {
    const folded = foldName(user);
    if (folded !== user) push(changed, folded, user);
    if (folded.length > minCutChars) push(long, folded.slice(0, minCutChars), user);
  }
  return (name) => {
    const folded = foldName(name);
    const cut = name.length < minCutChars ? [] : (long.get(folded.slice(0, minCutChars)) ?? []);
    const same = [...(users.has(folded) ? [folded] : []), ...(changed.get(folded) ?? [])];
    return [...same, ...cut.filter((user) => foldName(user).startsWith(folded) && !same.includes(user))];
  };
}
