import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import type { Answer } from '../http/answer.ts';
import type { Parameters } from '../http/call.ts';
import { encodeParameters } from '../http/request.ts';
import { identityOf, type License } from './license.ts';
import type { LicensingConnection } from './license-answer.ts';
import { likenessOfApp } from './user-licenses.ts';
import { readPage, type Page } from './list-page.ts';

export interface LicenseFilter {
  readonly remote_user?: string | undefined;
  readonly app_code?: number | undefined;
}

/** Whether the caller relies on having every row: only then signs of rows that were not received are a failure. */
export type Extent = 'whole' | 'part';

/** Of a `next` only the query is used, on our own URL. */
const anyOrigin = 'http://page.invalid';

/** What a list says of itself once a page of it has come. */
export interface ListSize {
  /** The page that has come, counted from 1. */
  readonly page: number;
  /** How many licenses there are, as far as the page tells it. */
  readonly told: number;
  readonly hasNext: boolean;
}

/**
 * Every row that the server lists for the filter, page after page, not filtered here. Where pages moved while they were read, the list is
 * read again, and rows that were shown before are left out (docs/exactly-once.md, Whole lists).
 * @param heard is called for each page, before its rows
 * @throws Failure incomplete after the rows where the list is not whole; rejected where it says error; unavailable where it is no list
 */
export async function* listRows(
  open: () => Promise<LicensingConnection>,
  filter: LicenseFilter,
  extent: Extent,
  heard?: (size: ListSize) => void,
): AsyncGenerator<License> {
  const connection = await open();
  const moves = watchMoves();
  let reading: ReadingPlace | undefined = firstReading(filter);
  while (reading) {
    const page: Page = await readPage(connection, reading.query, reading.pages - 1);
    const isOnly = extent === 'part' || (reading.pages === 1 && page.next === undefined);
    const told = Math.max(page.total, page.pages * page.count);
    heard?.({ page: reading.pages, told, hasNext: page.next !== undefined });
    const place: ReadingPlace = { ...reading, ...textOf(page, reading), received: reading.received + page.count };
    try {
      // Not yield*, which makes three more promises of each row.
      if (!place.isRepeated)
        for await (const some of 'length' in page.rows ? [page.rows] : page.rows)
          for (const row of some) if (isOnly || moves.isNew(row, place.pages)) yield row;
    } finally {
      await page.answer.spool?.close();
    }
    const gap = gapAfter(page, place, moves.repeats());
    if (gap !== undefined && extent === 'part') return;
    reading = gap === undefined ? nextOf(page, place) : undefined;
    if (!reading && moves.isReadAgain(page.answer, gap)) reading = firstReading(filter);
  }
}

/** Where the reading of a list is. */
interface ReadingPlace {
  readonly query: Parameters;
  /** Pages up to this one. */
  readonly pages: number;
  /** Rows up to this page. */
  readonly received: number;
  /** The rows of the last page, to notice one that repeats them. */
  readonly text: string | undefined;
  readonly isRepeated: boolean;
  /** The queries so far. */
  readonly seen: Set<string>;
}

function firstReading(filter: LicenseFilter): ReadingPlace {
  const query = parametersOf({ remote_user: filter.remote_user, app_code: filter.app_code });
  const seen = new Set([encodeParameters(query)]);
  return { query, pages: 1, received: 0, text: undefined, isRepeated: false, seen };
}

/** Without a text for the only page of a list, which has none to repeat and may be large, and for one that is not in memory. */
function textOf({ rows, next }: Page, { pages, text: last }: ReadingPlace): Pick<ReadingPlace, 'text' | 'isRepeated'> {
  const isCompared = 'length' in rows && (pages > 1 || next !== undefined);
  const text = isCompared ? writeJson(rows.map(({ fields }) => fields)) : undefined;
  return { text, isRepeated: text !== undefined && text === last };
}

function queryOf({ next }: Page): Parameters | undefined {
  return next === undefined ? undefined : [...new URL(next, anyOrigin).searchParams];
}

function nextOf(page: Page, place: ReadingPlace): ReadingPlace | undefined {
  const query = queryOf(page);
  return query && { ...place, query, pages: place.pages + 1, seen: place.seen.add(encodeParameters(query)) };
}

/** What shows after a page that rows are missing, or cannot be reached; undefined where nothing does. */
function gapAfter(page: Page, place: ReadingPlace, repeats: number): string | undefined {
  const { pages, received, isRepeated, seen } = place;
  const query = queryOf(page);
  if (isRepeated) return 'a page repeats the rows of the one before';
  if (query && seen.has(encodeParameters(query))) return 'the server names a page as next that was read before';
  if (page.count === 0 && pages > 1) return 'the server names a next page, and it has no rows';
  if (query) return undefined;
  const listed = received - repeats;
  if (page.more !== undefined) return `the server has more rows and names no URL for them: ${page.more}`;
  if (page.total > listed) return `the server counts ${page.total} licenses and lists ${listed}`;
  if (page.pages > pages) return `the server counts ${page.pages} pages and names no URL after page ${pages}`;
  return undefined;
}

function notWhole(gap: string, { http }: Answer): Failure {
  return new Failure('incomplete', `the list is not complete: ${gap}`, { http, retryable: false });
}

const maxReadings = 3;

/** Notices a license that is shown on two pages: the sign that they moved while they were read. */
function watchMoves() {
  /** The reading and the page that showed a license last. */
  const shown = new Map<string, readonly [reading: number, page: number]>();
  let repeats: string[] = [];
  let [reading, before] = [1, ''];
  return {
    /** Whether no page before showed this row, in this reading and those before. */
    isNew(row: License, page: number): boolean {
      const identity = identityOf(row);
      const last = shown.get(identity);
      if (last?.[0] === reading && last[1] < page && row.key !== undefined) repeats.push(`${page} ${identity}`);
      if (last?.[0] !== reading) shown.set(identity, [reading, page]);
      // Rows without a key cannot be told apart on the pages of one reading.
      return last === undefined || (row.key === undefined && last[0] === reading && reading === 1);
    },
    /** Rows of this reading that an earlier page showed. */
    repeats: () => repeats.length,
    /**
     * Whether the list has to be read again after its last page, or the one with a gap.
     * @throws Failure incomplete for a gap that pages that moved do not explain, and where they moved at each reading
     */
    isReadAgain(answer: Answer, gap: string | undefined): boolean {
      const places = repeats.join('\n');
      // What two readings repeat at the same places is the habit of the server.
      const isStill = places === '' || places === before;
      if (isStill && gap !== undefined) throw notWhole(gap, answer);
      if (isStill) return false;
      if (reading === maxReadings) throw notWhole(`its pages moved while they were read, ${maxReadings} times`, answer);
      [reading, repeats, before] = [reading + 1, [], places];
      return true;
    },
  };
}

/** Exact text where the row has the field; a row of a filtered answer without it is trusted (docs/apis.md, Licensing answers). */
export function matches(license: License, { remote_user, app_code }: LicenseFilter): boolean {
  const user = license.fields['remote_user'];
  const isOfUser = remote_user === undefined || user === undefined || user === null || isSame(user, remote_user);
  // A code that is no integer may be what the server made of the asked one.
  return isOfUser && likenessOfApp(license, app_code) !== 'other';
}

/** What is neither text nor number names nobody: leaving the row out as somebody else's would hide it. */
function isSame(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value === text;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value) === text;
  return true;
}

/** The parameters that have a value, as texts. */
export function parametersOf(values: Readonly<Record<string, string | number | undefined>>): Parameters {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
}
