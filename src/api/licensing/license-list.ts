import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { foreignBody, incompleteAfter, isObject, type JsonObject } from '../http/answer.ts';
import type { Answer, Parameters } from '../http/call.ts';
import { refuse, rowOf, unreadable, type LicensingLine } from './license-answer.ts';
import type { License } from './license-key.ts';
import { path } from '../http/path.ts';
import { encodeParameters } from '../http/request.ts';

export const licenses = path`/v1/license/`;

export interface LicenseFilter {
  readonly remote_user?: string | undefined;
  readonly app_code?: number | undefined;
}

/** Of a `next` only the query is used. */
const anyOrigin = 'http://page.invalid';

export async function* listPages(open: () => Promise<LicensingLine>, filter: LicenseFilter): AsyncGenerator<License> {
  const line = await open();
  const seen = new Set<string>();
  let last: string | undefined;
  let query = parametersOf({ remote_user: filter.remote_user, app_code: filter.app_code });
  for (let pages = 0; ; pages += 1) {
    seen.add(encodeParameters(query));
    const page = await readPage(line, query, pages);
    // The only page of a list has none to repeat, and may be large.
    const rows = pages === 0 && page.next === undefined ? undefined : writeJson(page.rows);
    if (rows !== undefined && rows === last) throw brokenList('a page repeats the rows of the one before', page.answer);
    last = rows;
    for (const row of page.rows) if (matches(row, filter)) yield row;
    if (page.next === undefined) return;
    if (typeof page.next !== 'string' || !URL.canParse(page.next, anyOrigin))
      throw brokenList('the server names a next page that is no URL', page.answer);
    query = [...new URL(page.next, anyOrigin).searchParams];
    if (seen.has(encodeParameters(query)))
      throw brokenList('the server names a page as next that was read before', page.answer);
  }
}

async function readPage(line: LicensingLine, query: Parameters, pages: number): Promise<Page & { answer: Answer }> {
  try {
    const answer = await line.send({ method: 'GET', path: licenses, query, repeat: 'safe' });
    refuse(answer);
    return { ...pageOf(answer, line), answer };
  } catch (cause) {
    throw pages === 0 ? cause : incompleteAfter(pages, cause);
  }
}

function brokenList(message: string, answer: Answer): Failure {
  return new Failure('incomplete', `the list is not complete: ${message}`, { http: answer.http, retryable: false });
}

interface Page {
  readonly rows: readonly License[];
  /** The URL of the page after this one, by what the server calls it: judged when the rows have been given out. */
  readonly next: unknown;
}

function pageOf(answer: Answer, line: LicensingLine): Page {
  const { body } = answer;
  // An empty body is a cut one: taken for an empty list, it would make a second license.
  if (answer.status === 204) return { rows: [], next: undefined };
  if (body === undefined) throw foreignBody(answer, 'the licensing API');
  if (Array.isArray(body)) return { rows: body.map((row) => rowOf(row, answer, line)), next: linkedNext(answer) };
  const rows = isObject(body) ? rowsIn(body) : undefined;
  if (!isObject(body) || rows === undefined) throw unreadable(answer, 'no list of licenses');
  return { rows: rows.map((row) => rowOf(row, answer, line)), next: nextIn(body) ?? linkedNext(answer) };
}

/** Names under which servers put the rows of a page beside other things. */
const rowNames = ['results', 'licenses', 'data', 'items'] as const;

/** The rows of an object: under a usual name, or its only array. Beside the words of an error there are none. */
function rowsIn(body: JsonObject): readonly unknown[] | undefined {
  const named = rowNames.map((name) => body[name]).find((value) => Array.isArray(value));
  if (Array.isArray(named)) return named as unknown[];
  const [only, ...others] = Object.values(body).filter((value) => Array.isArray(value));
  if (others.length > 0 || 'error' in body || 'errors' in body || 'detail' in body) return undefined;
  return only as unknown[] | undefined;
}

/** What the page names as the one after it, at the top or in the usual places below. */
function nextIn(body: JsonObject): unknown {
  const places = [body, ...['links', 'meta', 'pagination', 'paging'].map((name) => body[name])];
  const named = places.flatMap((place) => (isObject(place) && 'next' in place ? [place['next']] : []));
  return named.find((next) => next !== null && next !== false && next !== '');
}

/** The next page of a Link header (RFC 8288). */
function linkedNext({ headers }: Answer): string | undefined {
  const { link } = headers;
  const text = Array.isArray(link) ? link.join(',') : (link ?? '');
  return /<([^>]*)>[^,]*;\s*rel="?next"?/i.exec(text)?.[1];
}

/** Exact text where the row has the field; a row of a filtered answer without it is trusted (contract, section 5). */
export function matches(row: License, filter: LicenseFilter): boolean {
  return (['remote_user', 'app_code'] as const).every((name) => {
    const value = row[name];
    return filter[name] === undefined || value === undefined || value === null || isSame(value, String(filter[name]));
  });
}

/** What is neither text nor number names nobody: dropping the row as somebody else's could make a second license. */
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
