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
  readonly licensing: (app_code: number) => Pick<LicensingApi, 'pages' | 'view' | 'nobody'>;
  /** A clock that nobody sets. */
  readonly elapsed: () => Milliseconds;
  /** A list without a total counts (`--trust-list`). */
  readonly trustList: boolean;
  /** Whether several applications of its server are stored: a row that names none may be of another one. */
  readonly isOneOfSeveral: (app_code: number) => Promise<boolean>;
}

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
  /** The response for a name that no user has. */
  #control: FilteredRows | undefined;
  /** Fingerprints of the keys of all lists of one page without a total. */
  readonly #listed = new Set<number>();

  constructor(app_code: number, world: LookupWorld) {
    this.#app_code = app_code;
    this.#world = world;
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
    return { sentAt, rows: distinct(rows), gap, hasMore: gap !== undefined && last?.hasMore === true };
  }

  /** @param mostRows a longer list is not read on @throws Failure where the list is refused, or not answered */
  async readList(names: ReadonlySet<string>, mostRows: number): Promise<ListReading> {
    const sentAt = this.#world.elapsed();
    const users = new ListedUsers(this.#app_code, names);
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
    if (this.#world.trustList) return undefined;
    const text = `the server does not filter by the exact user, and its list of ${listed} has no total: it may be incomplete`;
    const list = commandLine('license list', [], { app_code: this.#app_code });
    return inconclusive(text, `If there are no more, repeat with --trust-list. Check with: ${list}`);
  }
}

export function inconclusive(text: string, hint?: string): Failure {
  return new Failure('incomplete', text, { hint, retryable: false });
}
