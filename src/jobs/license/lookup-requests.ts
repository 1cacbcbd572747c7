/** The requests by which users of one application are looked up, and whether their responses hold all rows. */
import { distinct, type License } from '../../api/licensing/license.ts';
import type { ListedPage } from '../../api/licensing/license-list.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { quantity, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { fingerprintOf } from '../../core/fingerprint.ts';
import { writeJson } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { ListedUsers } from './listed-users.ts';

export interface LookupWorld {
  readonly licensing: (app_code: number) => Pick<LicensingApi, 'pages' | 'view' | 'nobody' | 'isExactFor'>;
  /** A clock that nobody sets. */
  readonly elapsed: () => Milliseconds;
  /** A list without a total counts (`--trust-list`). */
  readonly trustList: boolean;
  /** Other applications of the server, which may list the key of a row that names none. */
  readonly siblings?: () => Promise<readonly number[]>;
}

/** Of each key whose rows name no application, which list it: where several do, it is nobody's. */
export type KeyOwners = Map<string, readonly number[]>;

/** The rows that a filter brings; `gap`: why they may not be all. */
export interface FilteredRows {
  readonly sentAt: Milliseconds;
  readonly rows: readonly License[];
  readonly gap: Failure | undefined;
  readonly hasMore: boolean;
}

export interface ListReading {
  readonly sentAt: Milliseconds;
  readonly users: ListedUsers;
  readonly last: ListedPage | undefined;
  /** Why it is not complete, or does not name the users. */
  readonly gap: Failure | undefined;
  /** Why it may lack rows, although nothing says so. */
  readonly cut: Failure | undefined;
}

export class LookupRequests {
  readonly #app_code: number;
  readonly #world: LookupWorld;
  readonly #owners: KeyOwners;
  /** The response for a name that no user has. */
  #control: FilteredRows | undefined;
  /** The rows of pages without a total, as a fingerprint, by their number: two selections of one length are cut. */
  readonly #selections = new Map<number, number | 'several'>();
  /** A list without a total was known to be whole: one that has grown to a round number is, too. */
  #isKnownWhole = false;

  #server = '';
  /** One object for all keys. */
  readonly #own: readonly number[];

  constructor(app_code: number, world: LookupWorld, owners: KeyOwners) {
    this.#app_code = app_code;
    this.#world = world;
    this.#owners = owners;
    this.#own = [app_code];
  }

  /** The rows for a name that no user has; none where the server refuses such a name. */
  async askNobody(): Promise<FilteredRows> {
    try {
      const control = this.#control ?? (await this.filteredBy(this.#world.licensing(this.#app_code).nobody()));
      // One without rows may be of a server that has none yet.
      if (control.rows.length > 0 || control.gap) this.#control = control;
      return control;
    } catch (cause) {
      if (!(cause instanceof Failure) || (cause.kind !== 'rejected' && cause.kind !== 'not_found')) throw cause;
      return { sentAt: 0, rows: [], gap: undefined, hasMore: false };
    }
  }

  async filteredBy(remote_user: string): Promise<FilteredRows> {
    const sentAt = this.#world.elapsed();
    const rows: License[] = [];
    const { gap, last } = await this.#read(remote_user, (page) => void rows.push(...page.rows));
    if (!gap && last?.place === 1 && last.total === 0) this.#isOneOfSeveral(last);
    return { sentAt, rows: distinct(rows), gap, hasMore: gap !== undefined && last?.hasMore === true };
  }

  /** @param mostRows a longer list is not read on @throws Failure where the list is refused, or not answered */
  async readList(names: ReadonlySet<string>, mostRows: number, mostOthers: number): Promise<ListReading> {
    const sentAt = this.#world.elapsed();
    const users = new ListedUsers(this.#app_code, names, mostOthers);
    let nameless: Failure | undefined;
    const { gap, last } = await this.#read(undefined, ({ rows, received, hasNext, total, pages }) => {
      for (const row of rows)
        if (!users.add(row)) nameless ??= inconclusive('the rows of the list do not name their users');
      const promised = hasNext ? Math.max(total, pages * rows.length) : 0;
      return received > mostRows || promised > mostRows ? 'stop' : undefined;
    });
    const why = gap ?? nameless;
    return { sentAt, users, last, gap: why, cut: why || !last ? undefined : this.#whyCut(last) };
  }

  /** Returns why not all rows came. @throws Failure where the list is refused, or not answered */
  async #read(
    remote_user: string | undefined,
    take: (page: ListedPage) => 'stop' | undefined,
  ): Promise<{ readonly last: ListedPage | undefined; readonly gap: Failure | undefined }> {
    const app_code = this.#app_code;
    let last: ListedPage | undefined;
    try {
      for await (const page of this.#world.licensing(app_code).pages({ remote_user, app_code }, 'whole')) {
        last = page;
        this.#server = new URL(page.answer.http.url).origin;
        for (const row of page.rows) this.#ownersOf(row);
        if (take(page) === 'stop') return { last, gap: inconclusive('the list is long') };
      }
      return { last, gap: undefined };
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
      return { last, gap: cause };
    }
  }

  /** Why a list that nothing contradicts may lack rows all the same; undefined where it counts. */
  #whyCut(last: ListedPage): Failure | undefined {
    const { received, total, place, isWhole } = last;
    if (isWhole || received === 0) return undefined;
    const listed = quantity(received, 'license');
    if (place > 1 || total > 0 || this.#isOneOfSeveral(last))
      return inconclusive(`the server truncates its list after ${listed}`);
    this.#isKnownWhole ||= this.#world.trustList || !isRound(received);
    if (this.#isKnownWhole) return undefined;
    const text = `the server does not filter by the exact user, and its list of ${listed} has no total: it may be incomplete`;
    const list = commandLine('license list', [], { app_code: this.#app_code });
    return inconclusive(text, `If there are no more, repeat with --trust-list. Check with: ${list}`);
  }

  /** Other rows came in that number: two selections of one length are cut. */
  #isOneOfSeveral({ rows }: ListedPage): boolean {
    const own = rows.reduce((sum, row) => {
      const fingerprint = fingerprintOf(row.key ?? writeJson(row.fields));
      return (sum + (fingerprint % sumSize)) % sumSize;
    }, 0);
    const known = this.#selections.get(rows.length) ?? own;
    this.#selections.set(rows.length, known === own ? own : 'several');
    return known !== own;
  }

  /** The applications whose lists show the key, this one included, where rows do not name theirs. */
  #ownersOf({ key, fields }: License): readonly number[] {
    if (key === undefined || (fields['app_code'] ?? undefined) !== undefined) return [];
    const place = `${this.#server} ${key}`;
    const known = this.#owners.get(place) ?? this.#own;
    const owners = known.includes(this.#app_code) ? known : [...known, this.#app_code];
    this.#owners.set(place, owners);
    return owners;
  }

  /** Why these are nobody's: their key is listed for two applications. */
  whyShared(licenses: readonly License[]): Failure | undefined {
    const shared = licenses.find((row) => this.#ownersOf(row).length > 1);
    if (!shared) return undefined;
    const applications = this.#ownersOf(shared).join(' and ');
    const text = `the server lists the license that ends with ${shared.key?.slice(-4) ?? ''} for the applications ${applications}`;
    return inconclusive(text, 'Ask the operator of the server to show the application of each license.');
  }
}

const sumSize = 2 ** 52;

/** So long are lists that servers cut. */
function isRound(rows: number): boolean {
  const isPowerOfTwo = rows >= 8 && (rows & (rows - 1)) === 0;
  return rows % 5 === 0 || rows % 12 === 0 || isPowerOfTwo;
}

export function inconclusive(text: string, hint?: string): Failure {
  return new Failure('incomplete', text, { hint, retryable: false });
}
