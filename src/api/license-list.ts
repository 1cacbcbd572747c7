import { Failure } from '../core/failure.ts';
import { foreignBody, incompleteAfter, isObject } from './answer.ts';
import type { Answer, Parameters } from './call.ts';
import { refuse, rowOf, unreadable, wordOf, type LicensingLine } from './license-answer.ts';
import type { License } from './license-key.ts';
import { path } from './path.ts';
import { encodeParameters } from './request.ts';

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
  let query = parametersOf({ remote_user: filter.remote_user, app_code: filter.app_code });
  for (let pages = 0; ; pages += 1) {
    seen.add(encodeParameters(query));
    const page = await readPage(line, query, pages);
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
  if (Array.isArray(body)) return { rows: body.map((row) => rowOf(row, answer, line)), next: undefined };
  const rows = isObject(body)
    ? (body['results'] ?? Object.values(body).find((value) => Array.isArray(value)))
    : undefined;
  if (!isObject(body) || !Array.isArray(rows)) throw unreadable(answer, 'no list of licenses');
  const next = body['next'];
  return {
    rows: rows.map((row) => rowOf(row, answer, line)),
    next: next === null || next === false || next === '' ? undefined : next,
  };
}

/** Exact text where the row has the field; a row of a filtered answer without it is trusted (contract, section 5). */
export function matches(row: License, filter: LicenseFilter): boolean {
  return (['remote_user', 'app_code'] as const).every(
    (name) => filter[name] === undefined || row[name] === undefined || wordOf(row[name]) === String(filter[name]),
  );
}

/** The parameters that have a value, as texts. */
export function parametersOf(values: Readonly<Record<string, string | number | undefined>>): Parameters {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
}
