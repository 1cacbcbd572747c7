/**
 * Finds the licenses of users of one application by the server's filter, or in the list of all licenses
 * (docs/exactly-once.md, The lookup), and learns what the filter does; lives as long as a run.
 */
import { distinct, textOf, type License } from '../../api/licensing/license.ts';
import type { ListedPage } from '../../api/licensing/license-list.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { formsOf, isLonger, likenessOfApp, partsOf } from '../../api/licensing/likeness.ts';
import { batched } from '../../core/batch.ts';
import { quantity, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { fingerprintOf } from '../../core/fingerprint.ts';
import { writeJson } from '../../core/json.ts';
import { nextTurn } from '../../core/outside.ts';
import { commandLine } from '../../core/shell-word.ts';
import type { Licenses } from './license-user.ts';
import { inconclusive, isNameless, isRound, ListedUsers } from './listed-users.ts';
import { anyPlace, type LookupPlaces } from './places.ts';

export interface LookupWorld {
  readonly licensing: (app_code: number) => Pick<LicensingApi, 'pages' | 'view' | 'nobody'>;
  /** A clock that nobody sets. */
  readonly elapsed: () => Milliseconds;
  /** Whether a list without a total counts as complete (`--trust-list`). */
  readonly trustList: boolean;
  /** Whether several applications of its server are stored: a row that names none may be of another one. */
  readonly isOneOfSeveral: (app_code: number) => Promise<boolean>;
}

/** A user's licenses, or why they are not known. */
export type LookupResult =
  | { readonly shows: 'licenses'; readonly licenses: Licenses }
  /** No license has the user's name, but these have names that the server may have made of it. */
  | { readonly shows: 'near'; readonly licenses: Licenses }
  /** The user has no license. */
  | { readonly shows: 'nothing' }
  /** The lookup proves nothing, so nothing may be created. */
  | { readonly shows: 'incomplete'; readonly failure: Failure };

/** `sentAt`: when the request, or the first one of the list, was sent, on the clock `elapsed`. */
export type Lookup = LookupResult & { readonly sentAt: Milliseconds };

/** Which other spellings of a name are looked up where the given one shows nothing. */
export type LookedUpNames = 'given' | 'all forms' | 'all forms and parts';

/** The pages of a filtered or complete list; `gap`: why rows may be missing. */
interface PagesRead {
  readonly last: ListedPage | undefined;
  readonly gap: Failure | undefined;
}

interface FilteredRows extends PagesRead {
  readonly rows: readonly License[];
}

interface ListReading extends PagesRead {
  readonly sentAt: Milliseconds;
  readonly users: ListedUsers;
  /** Why the list may lack rows although nothing in its pages says so. */
  readonly cut: Failure | undefined;
}

/** The most rows that are read of a list that is only a hint: `perUser` for each user, but `least` in any case. */
const hintRows = { least: 1000, perUser: 20 };

export class ApplicationLookups {
  readonly #app_code: number;
  readonly #world: LookupWorld;
  /** Whether the complete list is the lookup, since a response has shown that the filter finds other names too. */
  isByList = false;
  /** The first lookup: the others wait for it, since it may show that the filter cannot be used. */
  #first: Promise<unknown> | undefined;
  /** The filtered rows for a name that no user has. */
  #control: FilteredRows | undefined;
  #hint: ListReading | undefined;
  /** Reads the complete list; all users who wait for one share it. */
  readonly #readAll: (asked: { readonly user: string; readonly look: LookupPlaces['look'] }) => Promise<ListReading>;
  /** Fingerprints of the keys of all lists of one page without a total. */
  readonly #listed = new Set<number>();
  /** A list without a total was complete once, so it stays complete when it has grown to a round number of rows. */
  #isKnownWhole = false;
  /** All names, joined into one text, that the server was seen to store as given. */
  kept = '';

  constructor(app_code: number, world: LookupWorld) {
    this.#app_code = app_code;
    this.#world = world;
    this.#readAll = batched((asked) => {
      const users = new Set(asked.map(({ user }) => user));
      return (asked[0] ?? anyPlace).look(() => this.#readList(users, Infinity));
    }, nextTurn);
  }

  /**
   * Decides whether the user has a license. Calls that wait for the list of all licenses share one, which begins after
   * the call. @throws Failure where the server does not answer, or refuses
   */
  async lookUp(user: string, names: LookedUpNames, places: LookupPlaces = anyPlace): Promise<Lookup> {
    if (this.#first) await this.#first.catch(() => undefined);
    const asking = this.isByList ? undefined : places.read(() => this.#byFilter(user, names));
    this.#first ??= asking;
    return (await asking) ?? this.#byList(user, places);
  }

  /** Reads the list as a hint for these users, but no more rows than looking them up one by one would cost. */
  async readHint(users: ReadonlySet<string>): Promise<void> {
    this.#hint = await this.#readList(users, Math.max(hintRows.least, hintRows.perUser * users.size));
  }

  /** Other users that the last `readHint` shows; none if its list may lack rows. */
  get others(): ReadonlySet<string> {
    return this.#hint && !this.#hint.gap ? this.#hint.users.others : new Set();
  }

  hintOf(user: string): LookupResult | undefined {
    if (!this.#hint) return undefined;
    const { users, gap } = this.#hint;
    const result = this.#judge(users.exact.get(user), gap ? [] : users.near.get(user));
    return result.shows === 'nothing' ? undefined : result;
  }

  /** Undefined where the filter proves nothing: it finds parts, is ignored, or shows rows without names. */
  async #byFilter(user: string, names: LookedUpNames): Promise<Lookup | undefined> {
    const sentAt = this.#world.elapsed();
    const { rows, gap, last } = await this.#filteredBy(user);
    const exact = rows.filter((row) => textOf(row, 'remote_user') === user);
    const others = rows.filter((row) => !exact.includes(row));
    this.isByList ||= others.some((row) => isNameless(row) || isLonger(textOf(row, 'remote_user') ?? '', user));
    if (this.isByList) return undefined;
    const isIncomplete = gap !== undefined && exact.length === 0;
    if (others.length > 0 || isIncomplete) {
      const nobody = await this.#askNobody();
      this.isByList ||= nobody.rows.length > 0;
      if (this.isByList) return undefined;
      // A sign of further rows that cannot be followed says nothing if the response for nobody has it too.
      const isAlways = nobody.gap && last && last.place === 1 && !last.hasMore;
      if (isIncomplete && !isAlways) return { shows: 'incomplete', failure: gap, sentAt };
    }
    if (exact.length > 0) return { ...this.#judge(exact), sentAt };
    const parts = names === 'all forms and parts' ? partsOf(user) : [];
    const forms = names === 'given' || others.length > 0 ? [] : [...formsOf(user, this.kept), ...parts];
    const near = [...others];
    for (const form of new Set(forms))
      if (form !== user)
        near.push(...(await this.#filteredBy(form)).rows.filter((row) => textOf(row, 'remote_user') === form));
    return { ...this.#judge([], [...near, ...(this.#hint?.users.near.get(user) ?? [])]), sentAt };
  }

  /** Looks the user up in a complete list that begins after this call; all calls that wait share one list. */
  async #byList(user: string, { look }: LookupPlaces): Promise<Lookup> {
    const { users, gap, cut, sentAt } = await this.#readAll({ user, look });
    const exact = users.exact.get(user);
    if (exact) return { ...this.#judge(exact), sentAt };
    const failure = gap ?? cut;
    if (failure) return { shows: 'incomplete', failure, sentAt };
    return { ...this.#judge([], users.near.get(user)), sentAt };
  }

  /** @param others licenses of names that may be the user's */
  #judge(found: readonly License[] = [], others: readonly License[] = []): LookupResult {
    const [one, ...more] = distinct(found.filter((row) => likenessOfApp(row, this.#app_code) === 'exact'));
    if (one) return { shows: 'licenses', licenses: [one, ...more] };
    const near = [...found, ...others].filter((row) => likenessOfApp(row, this.#app_code) !== 'other');
    const [similar, ...further] = distinct(near);
    return similar ? { shows: 'near', licenses: [similar, ...further] } : { shows: 'nothing' };
  }

  /** The rows for a name that no user has; none where the server refuses such a name. */
  async #askNobody(): Promise<FilteredRows> {
    try {
      const control = this.#control ?? (await this.#filteredBy(this.#world.licensing(this.#app_code).nobody()));
      // One without rows may be of a server that has none yet.
      if (control.rows.length > 0 || control.gap) this.#control = control;
      return control;
    } catch (cause) {
      if (!(cause instanceof Failure) || (cause.kind !== 'rejected' && cause.kind !== 'not_found')) throw cause;
      return { rows: [], gap: undefined, last: undefined };
    }
  }

  async #filteredBy(remote_user: string): Promise<FilteredRows> {
    const rows: License[] = [];
    const read = await this.#read(remote_user, (page) => void rows.push(...page.rows));
    return { ...read, rows: distinct(rows) };
  }

  /** @param mostRows a longer list is not read on @throws Failure where the list is refused, or not answered */
  async #readList(names: ReadonlySet<string>, mostRows: number): Promise<ListReading> {
    const sentAt = this.#world.elapsed();
    const users = new ListedUsers(this.#app_code, names);
    let nameless: Failure | undefined;
    const { gap = nameless, last } = await this.#read(undefined, ({ rows, received, hasNext, total, pages }) => {
      for (const row of rows)
        if (!users.add(row)) nameless ??= inconclusive('the rows of the list do not name their users');
      const promised = hasNext ? Math.max(total, pages * rows.length) : 0;
      return received > mostRows || promised > mostRows ? 'stop' : undefined;
    });
    return { sentAt, users, last, gap, cut: gap || !last ? undefined : this.#whyCut(last) };
  }

  /** Returns why not all rows came. @throws Failure where the list is refused, or not answered */
  async #read(remote_user: string | undefined, take: (page: ListedPage) => 'stop' | undefined): Promise<PagesRead> {
    const app_code = this.#app_code;
    let last: ListedPage | undefined;
    try {
      for await (const page of this.#world.licensing(app_code).pages({ remote_user, app_code }, 'whole')) {
        last = page;
        if (take(page) === 'stop') return { last, gap: inconclusive('the list is long') };
      }
      return { last, gap: undefined };
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
      return { last, gap: cause };
    }
  }

  /** Why a list that nothing contradicts may lack rows all the same; undefined where it counts. */
  #whyCut({ rows, received, total, place, isWhole }: ListedPage): Failure | undefined {
    if (isWhole || received === 0) return undefined;
    const listed = quantity(received, 'license');
    const own = new Set(rows.map(({ key, fields }) => fingerprintOf(key ?? writeJson(fields))));
    for (const one of own) this.#listed.add(one);
    // No license is ever deleted: a list that lacks one of an earlier list is a part.
    if (place > 1 || total > 0 || this.#listed.size > own.size)
      return inconclusive(`the server truncates its list after ${listed}`);
    this.#isKnownWhole ||= this.#world.trustList || !isRound(received);
    if (this.#isKnownWhole) return undefined;
    const text = `the server does not filter by the exact user, and its list of ${listed} has no total: it may be incomplete`;
    const list = commandLine('license list', [], { app_code: this.#app_code });
    return inconclusive(text, `If there are no more, repeat with --trust-list. Check with: ${list}`);
  }
}
