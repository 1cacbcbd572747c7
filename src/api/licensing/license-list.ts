import { quantity } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { fingerprintOf, numberMap, restSize } from '../../core/fingerprint.ts';
import { writeJson } from '../../core/json.ts';
import type { Answer } from '../http/answer.ts';
import type { Parameters } from '../http/call.ts';
import { encodeParameters } from '../http/request.ts';
import { identityOf, textOf, type License } from './license.ts';
import type { LicensingConnection } from './license-answer.ts';
import { likenessOfApp } from './likeness.ts';
import { readPage, type Page } from './list-page.ts';

export interface LicenseFilter {
  readonly remote_user?: string | undefined;
  readonly app_code?: number | undefined;
}

/** Whether the caller relies on having every row: only then signs of rows that were not received are a failure. */
export type Extent = 'whole' | 'part';

/** A list has no more rows in its pages, nor more text: a server that never ends would fill the memory. */
const limits = { rows: 2_000_000, bytes: 1024 ** 3 };

/** Of a `next` only the query is used, on our own URL. */
const anyOrigin = 'http://page.invalid';

/**
 * Every row that the server lists for the filter; `heard` is called for each page, counted from 1, before its rows.
 * Where pages moved meanwhile, the list is read again (docs/exactly-once.md, Whole lists).
 * @throws Failure incomplete after the rows; rejected where it says error; unavailable where it is no list
 */
export async function* listRows(
  open: () => Promise<LicensingConnection>,
  { remote_user, app_code }: LicenseFilter,
  extent: Extent,
  heard?: (page: Page, place: number) => void,
): AsyncGenerator<License> {
  const connection = await open();
  const moves = watchMoves();
  const first = parametersOf({ remote_user, app_code });
  const asked = new Set<string>();
  let [query, pages, received, before]: [Parameters, number, number, string | undefined] = [first, 1, 0, undefined];
  let left = { ...limits };
  for (;;) {
    asked.add(encodeParameters(query));
    const page = await readPage(connection, query, pages - 1);
    heard?.(page, pages);
    const isOnly = pages === 1 && page.next === undefined;
    // The only page of a list has none to repeat and may be large, and one that is read from a file is not in memory.
    const text = 'length' in page.rows && !isOnly ? writeJson(page.rows.map(({ fields }) => fields)) : undefined;
    const isRepeated = text !== undefined && text === before;
    const repeatsBefore = moves.repeats();
    received += page.count;
    left.bytes -= page.answer.size;
    try {
      // Not yield*, which makes three more promises of each row.
      if (!isRepeated)
        for await (const some of 'length' in page.rows ? [page.rows] : page.rows)
          for (const row of some) {
            if ((left.rows -= 1) < 0) throw notWhole('it has more than 2,000,000 rows', page.answer);
            if (extent === 'part' || isOnly || moves.isNew(row, pages)) yield row;
          }
    } finally {
      await page.answer.spool?.close();
    }
    if (left.bytes < 0) throw notWhole('its pages are longer than 1 GiB', page.answer);
    const next = page.next === undefined ? undefined : [...new URL(page.next, anyOrigin).searchParams];
    const isAsked = next !== undefined && asked.has(encodeParameters(next));
    const isShown = page.count > 0 && moves.repeats() - repeatsBefore === page.count;
    const gap =
      isRepeated || (isShown && next !== undefined)
        ? 'a page repeats the rows of those before'
        : gapAfter(page, { isAsked, pages, listed: received - moves.repeats() });
    if (gap !== undefined && extent === 'part') return;
    if (next && gap === undefined) [query, pages, before] = [next, pages + 1, text];
    else if (moves.isReadAgain(page.answer, gap)) {
      [query, pages, received, before] = [first, 1, 0, undefined];
      left = { ...limits };
      asked.clear();
    } else return;
  }
}

/** What shows after a page that rows are missing, or cannot be reached; undefined where nothing does. */
function gapAfter(
  { next, more, count, ...told }: Page,
  { isAsked, pages, listed }: { readonly isAsked: boolean; readonly pages: number; readonly listed: number },
): string | undefined {
  if (isAsked) return 'the server names a next page that was read before';
  if (count === 0 && pages > 1) return 'the server names a next page that has no rows';
  if (next !== undefined) return undefined;
  if (more !== undefined) return `the server has more rows, but names no URL for them: ${more}`;
  if (told.total > listed) return `the server counts ${quantity(told.total, 'license')} and lists ${listed}`;
  if (told.pages > pages) return `the server counts ${told.pages} pages and names no URL after page ${pages}`;
  return undefined;
}

function notWhole(gap: string, { http }: Answer): Failure {
  return new Failure('incomplete', `the list is not complete: ${gap}`, { http, retryable: false });
}

const maxReadings = 3;

/** Notices a license that is shown on two pages: the sign that they moved while they were read. */
function watchMoves() {
  /** By the fingerprint of a license the page that showed it last, and the reading. */
  const shown = numberMap();
  let repeats: string[] = [];
  let [reading, before] = [1, ''];
  return {
    isNew(row: License, page: number): boolean {
      const identity = identityOf(row);
      const { number, rest } = fingerprintOf(identity);
      const known = shown.get(number);
      const last = known === 0 || known % restSize !== rest ? undefined : Math.trunc(known / restSize);
      const isOfReading = last !== undefined && last % 4 === reading;
      if (isOfReading && last < page * 4 && row.key !== undefined) repeats.push(`${page} ${identity}`);
      if (!isOfReading) shown.set(number, (page * 4 + reading) * restSize + rest);
      // Rows without a key cannot be told apart on the pages of one reading.
      return last === undefined || (row.key === undefined && isOfReading && reading === 1);
    },
    repeats: () => repeats.length,
    /** @throws Failure incomplete where moved pages do not explain a gap, or at the limit */
    isReadAgain(answer: Answer, gap: string | undefined): boolean {
      const places = repeats.join('\n');
      // What two readings repeat at the same places is the habit of the server.
      const isStill = places === '' || places === before;
      if (isStill && gap !== undefined) throw notWhole(gap, answer);
      if (isStill) return false;
      if (reading === maxReadings) throw notWhole(`its pages changed during each of ${maxReadings} readings`, answer);
      [reading, repeats, before] = [reading + 1, [], places];
      return true;
    },
  };
}

/** Exact text; a row of a filtered answer without the field is trusted (docs/apis.md, Licensing answers). */
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
