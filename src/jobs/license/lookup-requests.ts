/** The requests by which users of one application are looked up, and what their responses have in common. */
import { distinct, type License } from '../../api/licensing/license.ts';
import type { Heard, LicenseFilter } from '../../api/licensing/license-list.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { ListLength, ListReading } from './list-reading.ts';

export interface LookupWorld {
  readonly licensing: (app_code: number) => Pick<LicensingApi, 'rows' | 'view' | 'nobody' | 'isExactFor'>;
  /** A clock that nobody sets. */
  readonly elapsed: () => Milliseconds;
  /** A list without a total counts (`--trust-list`). */
  readonly trustList: boolean;
  /** Other applications of the server, which may list the key of a row that names none. */
  readonly siblings?: () => Promise<readonly number[]>;
}

/** Of each key whose rows name no application, which list it: where several do, it is nobody's. */
export type KeyOwners = Map<string, readonly number[]>;

/** The rows that a filter by a name brings; `gap`: why they may not be all. */
export interface FilteredRows {
  readonly sentAt: Milliseconds;
  readonly rows: readonly License[];
  readonly gap: Failure | undefined;
  readonly hasMore: boolean;
}

export class LookupRequests {
  readonly #app_code: number;
  readonly #world: LookupWorld;
  readonly #owners: KeyOwners;
  #control: FilteredRows | undefined;
  /** The licenses of the responses without a total, by their number of rows; undefined: other ones came too. */
  readonly #byRows = new Map<number, ReadonlySet<number> | undefined>();
  /** One object for all keys. */
  readonly #own: readonly number[];
  #server = '';

  constructor(app_code: number, world: LookupWorld, owners: KeyOwners) {
    this.#app_code = app_code;
    this.#own = [app_code];
    this.#world = world;
    this.#owners = owners;
  }

  async filteredBy(remote_user: string): Promise<FilteredRows> {
    const sentAt = this.#world.elapsed();
    const rows: License[] = [];
    const length = new ListLength();
    const gap = await this.#read({ remote_user, app_code: this.#app_code }, length, (row) => {
      rows.push(row);
      return 'go on';
    });
    if (!gap) this.isOfOneLength(length);
    return { sentAt, rows: distinct(rows), gap, hasMore: gap !== undefined && length.hasMore };
  }

  /** Returns why the list is not whole. @throws Failure where it is refused, or not answered */
  async #read(
    filter: LicenseFilter,
    length: ListLength,
    add: (row: License) => 'go on' | 'stop',
  ): Promise<Failure | undefined> {
    const heard: Heard = (page, place) => {
      length.heard(page, place);
      this.#server = new URL(page.answer.http.url).origin;
    };
    try {
      for await (const row of this.#world.licensing(this.#app_code).rows(filter, 'whole', heard)) {
        length.add(row);
        this.applicationsOf(row);
        if (add(row) === 'stop') return inconclusive('the list is long');
      }
      return undefined;
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
      return cause;
    }
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

  /** A filter that is no help with rows without a name brings some for others. */
  async isExactFor(remote_user: string): Promise<boolean> {
    return this.#world.licensing(this.#app_code).isExactFor({ remote_user, app_code: this.#app_code });
  }

  /** @param mostRows a longer list is not read on @throws Failure where the list is refused, or not answered */
  async readList(users: ReadonlySet<string>, mostRows: number, mostUnasked: number): Promise<ListReading> {
    const list = new ListReading(this.#app_code, users, this.#world.elapsed(), mostUnasked);
    const { length } = list;
    let nameless: Failure | undefined;
    const gap = await this.#read({ app_code: this.#app_code }, length, (row) => {
      if (!list.add(row)) nameless ??= inconclusive('the rows of the list do not name their users');
      return length.rows > mostRows || (length.hasNext && length.promised > mostRows) ? 'stop' : 'go on';
    });
    list.gap = gap ?? nameless;
    return list;
  }

  /** Of an only page without a total: no other rows came in that number, since two selections of one length are cut. */
  isOfOneLength({ rows, isCertain, total, pages, licenses }: ListLength): boolean {
    if (total > 0 || pages !== 1 || isCertain) return false;
    const known = this.#byRows.has(rows) ? this.#byRows.get(rows) : licenses;
    const isSame = known !== undefined && [...licenses].every((license) => known.has(license));
    this.#byRows.set(rows, isSame ? known : undefined);
    return isSame;
  }

  /** Those whose lists show the key, this one included, where rows do not name theirs. */
  applicationsOf({ key, fields }: License): readonly number[] {
    if (key === undefined || (fields['app_code'] ?? undefined) !== undefined) return [];
    const place = `${this.#server} ${key}`;
    const known = this.#owners.get(place) ?? this.#own;
    const owners = known.includes(this.#app_code) ? known : [...known, this.#app_code];
    this.#owners.set(place, owners);
    return owners;
  }
}

export function inconclusive(text: string, hint?: string): Failure {
  return new Failure('incomplete', text, { hint, retryable: false });
}
