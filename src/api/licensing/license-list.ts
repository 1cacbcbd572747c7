import { Failure } from '../../core/failure.ts';
import { isObject, type JsonObject, writeJson } from '../../core/json.ts';
import { foreignBody, incompleteAfter, withBody } from '../http/answer.ts';
import type { Spool } from '../../core/spool.ts';
import type { Answer, Parameters } from '../http/call.ts';
import { path } from '../http/path.ts';
import { encodeParameters } from '../http/request.ts';
import type { License } from './license.ts';
import { likenessOfApp } from './license-names.ts';
import { refuse, refuseError, rowOf, unreadable, type LicensingLine } from './license-answer.ts';
import { pageEnd, type PageEnd } from './page-end.ts';

export const licenses = path`/v1/license/`;

export interface LicenseFilter {
  readonly remote_user?: string | undefined;
  readonly app_code?: number | undefined;
}

/** Whether the caller relies on having every row: only then signs of rows that were not received are a failure. */
export type Extent = 'whole' | 'part';

/** Of a `next` only the query is used, on our own URL. */
const anyOrigin = 'http://page.invalid';

/**
 * Every row that the server lists for the filter, page after page, not filtered here.
 * @throws Failure incomplete after the rows where the list is not whole; rejected where it says error; unavailable where it is no list
 */
export async function* listRows(
  open: () => Promise<LicensingLine>,
  filter: LicenseFilter,
  extent: Extent,
): AsyncGenerator<License> {
  const line = await open();
  const seen = new Set<string>();
  let query: Parameters | undefined = parametersOf({ remote_user: filter.remote_user, app_code: filter.app_code });
  let last: string | undefined;
  for (let [pages, received] = [1, 0]; query; pages += 1) {
    seen.add(encodeParameters(query));
    const page: Page = await readPage(line, query, pages - 1);
    const text: string | undefined = textOf(page, pages);
    const isRepeated = text !== undefined && text === last;
    last = text;
    try {
      // Not yield*, which makes three more promises of each row.
      if (!isRepeated)
        for await (const some of 'length' in page.rows ? [page.rows] : page.rows) for (const row of some) yield row;
    } finally {
      await page.answer.spool?.close();
    }
    received += page.count;
    query = page.next === undefined ? undefined : [...new URL(page.next, anyOrigin).searchParams];
    const isSeen = query !== undefined && seen.has(encodeParameters(query));
    const gap = gapAfter(page, { pages, received, isRepeated, isSeen });
    if (gap !== undefined && extent === 'whole') throw notWhole(gap, page.answer);
    if (gap !== undefined) return;
  }
}

/** Undefined for the only page of a list, which has none to repeat and may be large, and for one that is not in memory. */
function textOf({ rows, next }: Page, pages: number): string | undefined {
  if (pages === 1 && next === undefined) return undefined;
  return 'length' in rows ? writeJson(rows.map(({ fields }) => fields)) : undefined;
}

interface ListProgress {
  readonly pages: number;
  readonly received: number;
  /** Whether the page has the rows of the one before. */
  readonly isRepeated: boolean;
  /** Whether its next page was read before. */
  readonly isSeen: boolean;
}

/** What shows after a page that rows are missing, or cannot be reached; undefined where nothing does. */
function gapAfter(page: Page, { pages, received, isRepeated, isSeen }: ListProgress): string | undefined {
  if (isRepeated) return 'a page repeats the rows of the one before';
  if (isSeen) return 'the server names a page as next that was read before';
  if (page.count === 0 && pages > 1) return 'the server names a next page, and it has no rows';
  if (page.next !== undefined) return undefined;
  if (page.more !== undefined) return `the server has more rows and names no URL for them: ${page.more}`;
  if (page.total > received) return `the server counts ${page.total} licenses and lists ${received}`;
  if (page.pages > pages) return `the server counts ${page.pages} pages and names no URL after page ${pages}`;
  return undefined;
}

function notWhole(gap: string, { http }: Answer): Failure {
  return new Failure('incomplete', `the list is not complete: ${gap}`, { http, retryable: false });
}

interface Page extends PageEnd {
  /** Of a page that is too long for memory, some at a time. */
  readonly rows: readonly License[] | AsyncIterable<readonly License[]>;
  readonly count: number;
  readonly answer: Answer;
}

async function readPage(line: LicensingLine, query: Parameters, pagesBefore: number): Promise<Page> {
  try {
    const answer = await line.send({ method: 'GET', path: licenses, query, repeat: 'safe', isLong: true });
    if (answer.spool) return await longPage(answer, answer.spool, line);
    refuse(answer);
    const rows = rowsIn(answer).map((row) => rowOf(row, answer, line));
    return { ...pageEnd(answer), rows, count: rows.length, answer };
  } catch (cause) {
    throw pagesBefore === 0 ? cause : incompleteAfter(pagesBefore, cause);
  }
}

/** The same for a page that is too long for memory. The spool is closed by whoever reads the rows. */
async function longPage(answer: Answer, spool: Spool, line: LicensingLine): Promise<Page> {
  const { readLongPage } = await import('./long-list.ts');
  try {
    refuse(answer);
    const { body, rowsOf } = await readLongPage(spool);
    const known = withBody(answer, body);
    const { count, each } = rowsOf(rowsIn(known));
    return { ...pageEnd(known), rows: licensesFrom(each, known, line), count, answer };
  } catch (cause) {
    await spool.close();
    throw cause instanceof SyntaxError ? foreignBody(answer, 'the licensing API') : cause;
  }
}

async function* licensesFrom(
  rows: AsyncIterable<readonly unknown[]>,
  answer: Answer,
  line: LicensingLine,
): AsyncGenerator<readonly License[]> {
  for await (const some of rows) yield some.map((row) => rowOf(row, answer, line));
}

function rowsIn(answer: Answer): readonly unknown[] {
  const { body } = answer;
  // An empty body is a cut one: taken for an empty list, it would make a second license.
  if (answer.status === 204) return [];
  if (body === undefined) throw foreignBody(answer, 'the licensing API');
  if (Array.isArray(body)) return body;
  refuseError(answer, 'list');
  const rows = isObject(body) ? rowsBeside(body) : undefined;
  if (rows === undefined) throw unreadable(answer, 'no list of licenses');
  return rows;
}

/** Names under which servers put the rows of a page beside other things. */
const rowNames = ['results', 'licenses', 'data', 'items'] as const;

/** The rows of an object: under a usual name, or its only array if that holds objects. */
function rowsBeside(body: JsonObject): readonly unknown[] | undefined {
  const named = rowNames.map((name) => body[name]).find((value) => Array.isArray(value));
  if (Array.isArray(named)) return named as unknown[];
  const [only, ...others] = Object.values(body).filter((value) => Array.isArray(value));
  const isList = others.length === 0 && only !== undefined && only.length > 0 && only.every(isObject);
  return isList ? only : undefined;
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
