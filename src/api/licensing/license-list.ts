/** Lists of licenses, page by page, and whether every row was received (docs/exactly-once.md, Whole lists). */
import { quantity } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { fingerprintOf } from '../../core/fingerprint.ts';
import type { Answer } from '../http/answer.ts';
import type { Parameters } from '../http/call.ts';
import { encodeParameters } from '../http/request.ts';
import { identityOf, textOf, type License } from './license.ts';
import { likenessOfApp } from './likeness.ts';
import type { Page, ReadPage } from './list-page.ts';

export interface LicenseFilter {
  readonly remote_user?: string | undefined;
  readonly app_code?: number | undefined;
}

/** Whether the caller relies on having every row: only then signs of rows that were not received are a failure. */
export type Extent = 'whole' | 'part';

/** A page, with what is known of the list up to it. */
export interface ListedPage extends Pick<Page, 'total' | 'pages' | 'hasMore'> {
  /** Licenses that no page before showed. */
  readonly rows: readonly License[];
  readonly place: number;
  /** How many rows were received so far, repeated ones included. */
  readonly received: number;
  readonly hasNext: boolean;
  /** Whether a list that ends here is complete: its total equals its rows, or all pages before are full. */
  readonly isWhole: boolean;
}

/** The most rows and bytes of a list: a server that never ends its list would fill the memory. */
const usualLimits = { rows: 2_000_000, bytes: 1024 ** 3 };

/** The base to parse a `next` against; only its query is used, on our own URL. */
const anyOrigin = 'http://page.invalid';

/**
 * Every page that the server lists for the filter. Where pages moved meanwhile, the list is read once more.
 * @throws Failure incomplete after the pages; rejected where it says error; unavailable where it is no list
 */
export async function* listPages(
  readPage: ReadPage,
  { remote_user, app_code }: LicenseFilter,
  extent: Extent,
  limits = usualLimits,
): AsyncGenerator<ListedPage> {
  const shown = new ShownLicenses();
  for (const reading of ['first', 'last']) {
    const size = new ListSize();
    const asked = new Set<string>();
    let query: Parameters = parametersOf({ remote_user, app_code });
    for (let place = 1; ; place += 1) {
      asked.add(encodeParameters(query));
      const page = await readPage(query, place - 1);
      const { rows, answer, next: link } = page;
      const known = size.add(page);
      if (size.received > limits.rows)
        throw notWhole(`it has more than ${limits.rows.toLocaleString('en')} rows`, answer);
      const repeatsBefore = shown.repeats;
      const isAllNew = extent === 'part' || (place === 1 && link === undefined);
      yield { ...known, rows: isAllNew ? rows : rows.filter((row) => shown.isNew(row, place)) };
      if (size.bytes > limits.bytes) throw notWhole('its pages are longer than 1 GiB', answer);
      const next = link === undefined ? undefined : [...new URL(link, anyOrigin).searchParams];
      const isRepeated = next && rows.length > 0 && shown.repeats - repeatsBefore === rows.length;
      const isAsked = next && asked.has(encodeParameters(next));
      // Some servers name a next page in each response.
      if (isAsked && size.received === 0) return;
      const loop = isAsked ? 'the server names a next page that was read before' : undefined;
      const gap = isRepeated
        ? 'a page repeats the rows of those before'
        : (loop ?? gapAfter(page, place, size.received - shown.repeats));
      if (gap !== undefined && extent === 'part') return;
      if (next && gap === undefined) {
        query = next;
        continue;
      }
      if (shown.repeats === 0 && gap === undefined) return;
      if (shown.repeats === 0 || reading === 'last')
        throw notWhole(gap ?? 'its pages changed both times that it was read', answer);
      shown.readAgain();
      break;
    }
  }
}

/** What shows after a page that rows are missing, or cannot be reached; undefined where nothing does. */
function gapAfter({ next, more, rows, total, pages, limit }: Page, place: number, listed: number): string | undefined {
  if (rows.length === 0 && place > 1) return 'the server names a next page that has no rows';
  if (next !== undefined) return undefined;
  if (more !== undefined) return `the server has more rows, but names no URL for them: ${more}`;
  if (total > listed) return `the server reports ${quantity(total, 'license')}, but lists ${listed}`;
  if (pages > place) return `the server reports ${pages} pages, but names no URL after page ${place}`;
  if (place === 1 && limit > 0 && rows.length === limit) return `its page is full (${limit} rows): there may be more`;
  return undefined;
}

function notWhole(gap: string, { http }: Answer): Failure {
  return new Failure('incomplete', `the list is not complete: ${gap}`, { http, retryable: false });
}

/** Adds up the pages of one reading. */
class ListSize {
  received = 0;
  bytes = 0;
  #place = 0;
  #total = 0;
  /** The lengths of the first and the last page, and whether all between are as long as the first. */
  #first = 0;
  #last = 0;
  #isEven = true;

  add({ rows, answer, total, pages, next, hasMore }: Page): Omit<ListedPage, 'rows'> {
    const { length } = rows;
    this.#place += 1;
    if (this.#place === 1) this.#first = length;
    else this.#isEven &&= this.#last === this.#first;
    this.#last = length;
    this.#total = Math.max(this.#total, total);
    this.received += length;
    this.bytes += answer.size;
    const isEven = this.#place > 1 && this.#isEven && length <= this.#first;
    const isCounted = this.#total > 0 && this.#total === this.received;
    const known = { place: this.#place, received: this.received, total: this.#total, pages };
    return { ...known, hasMore, hasNext: next !== undefined, isWhole: isCounted || isEven };
  }
}

/** Notices a license that is shown on two pages, a sign that the pages moved while they were read. */
class ShownLicenses {
  /** The page of this reading that first showed each license, by the fingerprint of the license. */
  #pages = new Map<number, number>();
  #earlier: ReadonlyMap<number, number> = new Map();
  repeats = 0;

  readAgain(): void {
    this.#earlier = this.#pages;
    this.#pages = new Map();
    this.repeats = 0;
  }

  isNew(row: License, page: number): boolean {
    const fingerprint = fingerprintOf(identityOf(row));
    const first = this.#pages.get(fingerprint);
    if (first === undefined) this.#pages.set(fingerprint, page);
    if (first !== undefined && first < page && row.key !== undefined) this.repeats += 1;
    // Rows without a key cannot be told apart.
    return !this.#earlier.has(fingerprint) && (first === undefined || row.key === undefined);
  }
}

/** Compares fields as exact text; a row that lacks one matches (docs/apis.md, Licensing answers). */
export function matches(license: License, { remote_user, app_code }: LicenseFilter): boolean {
  const user = textOf(license, 'remote_user');
  // What is neither text nor number names nobody: leaving the row out as somebody else's would hide it.
  const isOfUser = remote_user === undefined || user === undefined || user === remote_user;
  // A code that is no integer may be what the server made of the asked one.
  return isOfUser && likenessOfApp(license, app_code) !== 'other';
}

export function parametersOf(values: Readonly<Record<string, string | number | undefined>>): Parameters {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
}
