/** The requests by which users of one application are looked up, and what their responses have in common. */
import { distinct, type License } from '../../api/licensing/license.ts';
import type { Extent, Heard, LicenseFilter } from '../../api/licensing/license-list.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { type KeyOwners, ListLength, ListReading } from './list-reading.ts';

export interface LookupWorld {
  readonly licensing: (app_code: number) => LookupApi;
  /** A clock that nobody sets. */
  readonly elapsed: () => Milliseconds;
  /** A list without a total counts (`--trust-list`). */
  readonly trustList: boolean;
}

export interface LookupApi {
  /** Every row of a response, also those of other users. */
  readonly rows: (filter: LicenseFilter, extent: Extent, heard?: Heard) => AsyncIterable<License>;
  readonly view: (code: string) => Promise<License>;
  /** A name that no user has. */
  readonly nobody: () => string;
}

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
  readonly #api: LookupApi;
  readonly #owners: KeyOwners;
  #control: FilteredRows | undefined;
  /** Marks of the responses without a total, by their number of rows. */
  readonly #marks = new Map<number, Set<number>>();
  #server = '';

  constructor(app_code: number, world: LookupWorld, owners: KeyOwners) {
    this.#app_code = app_code;
    this.#world = world;
    this.#api = world.licensing(app_code);
    this.#owners = owners;
  }

  async filteredBy(remote_user: string): Promise<FilteredRows> {
    const sentAt = this.#world.elapsed();
    const rows: License[] = [];
    const length = new ListLength();
    const reading = this.#rows({ remote_user, app_code: this.#app_code }, length);
    try {
      for await (const row of reading) rows.push(row);
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
      return { sentAt, rows: distinct(rows), gap: cause, hasMore: length.hasMore };
    }
    this.#mark(length);
    return { sentAt, rows: distinct(rows), gap: undefined, hasMore: false };
  }

  async *#rows(filter: LicenseFilter, length: ListLength): AsyncGenerator<License> {
    const heard: Heard = (page, place) => {
      length.heard(page, place);
      this.#server = new URL(page.answer.http.url).origin;
    };
    for await (const row of this.#api.rows(filter, 'whole', heard)) {
      length.add(row);
      if (this.#owners.isOfSeveral) this.#owners.add(this.#server, this.#app_code, row);
      yield row;
    }
  }

  /** The rows for a name that no user has; none where the server refuses such a name. */
  async askNobody(): Promise<FilteredRows> {
    try {
      const control = this.#control ?? (await this.filteredBy(this.#api.nobody()));
      // One without rows may be of a server that has none yet.
      if (control.rows.length > 0 || control.gap) this.#control = control;
      return control;
    } catch (cause) {
      if (!(cause instanceof Failure) || (cause.kind !== 'rejected' && cause.kind !== 'not_found')) throw cause;
      return { sentAt: 0, rows: [], gap: undefined, hasMore: false };
    }
  }

  /** @param mostRows a longer list is not read on @throws Failure where the list is refused, or not answered */
  async readList(users: ReadonlySet<string>, mostRows: number, mostUnasked: number): Promise<ListReading> {
    const list = new ListReading(this.#app_code, users, this.#world.elapsed(), mostUnasked);
    const { length } = list;
    try {
      for await (const row of this.#rows({ app_code: this.#app_code }, length)) {
        if (!list.add(row)) list.gap = inconclusive('the rows of the list do not name their users');
        const isTooLong = length.rows > mostRows || (length.hasNext && length.promised > mostRows);
        if (isTooLong) list.gap = inconclusive('the list is long');
        if (isTooLong) return list;
      }
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
      list.gap = cause;
    }
    return list;
  }

  /** No other rows came in the same number: two selections of one length are cut. */
  isOfOneLength(length: ListLength): boolean {
    return this.#mark(length).size === 1;
  }

  /** Those whose lists show the key, this one included, where rows do not name theirs. */
  applicationsOf(license: License): readonly number[] {
    this.#owners.add(this.#server, this.#app_code, license);
    return this.#owners.of(this.#server, license);
  }

  #mark({ rows, mark, isCertain, total, pages }: ListLength): ReadonlySet<number> {
    const marks = this.#marks.get(rows) ?? new Set();
    if (total === 0 && pages === 1 && !isCertain) this.#marks.set(rows, marks.add(mark));
    return marks;
  }
}

export function inconclusive(text: string, hint?: string): Failure {
  return new Failure('incomplete', text, { hint, retryable: false });
}
