/** Reads a page of a list of licenses: which array has the rows, and what the page says of the pages after it. */
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { type Answer, foreignBody, incompleteAfter, isPage } from '../http/answer.ts';
import type { Parameters } from '../http/call.ts';
import { path } from '../http/request.ts';
import { licenseFrom, type License } from './license.ts';
import { refuse, refuseError, unreadable, type LicensingConnection } from './license-answer.ts';
import { isOfPaging, pageEnd, type PageEnd } from './page-end.ts';

export const licenses = path`/v1/license/`;

export interface Page extends PageEnd {
  readonly rows: readonly License[];
  readonly answer: Answer;
}

export type ReadPage = (query: Parameters, pagesBefore: number) => Promise<Page>;

/**
 * Reads the pages of a server's lists. Where a response of the filter has no array, the list without the filter shows
 * where its rows would be (docs/apis.md, Licensing answers): it is read once, and only then.
 */
export function pageReader(open: () => Promise<LicensingConnection>): ReadPage {
  let learned: RowPath | undefined;
  const request = async (query: Parameters): Promise<Answer> =>
    (await open()).send({ method: 'GET', path: licenses, query, repeat: 'safe' });
  const rowsOf = (answer: Answer): readonly unknown[] => {
    refuse(answer);
    const found = listIn(answer) ?? nullIn(answer);
    if (!found) throw unreadable(answer, 'no list of licenses');
    learned = found.path;
    return found.rows;
  };
  const learn = async (query: Parameters): Promise<RowPath> => {
    if (!learned) rowsOf(await request(query.filter(([name]) => name === 'app_code')));
    return learned ?? [];
  };
  const filteredRows = async (answer: Answer, query: Parameters): Promise<readonly unknown[]> => {
    // With 404 some servers say that the filter finds nothing, and others that the URL is wrong.
    if (answer.status === 404 && !isPage(answer)) {
      await learn(query);
      return [];
    }
    refuse(answer);
    return listIn(answer)?.rows ?? rowsAt(await learn(query), answer);
  };
  /** Reads one page. @throws Failure; for a later page incomplete, unless it is an interruption */
  return async (query, pagesBefore) => {
    try {
      const answer = await request(query);
      if (answer.status === 404 && pagesBefore > 0)
        throw new Failure('rejected', 'the next one is gone (404): pages moved while they were read', {
          http: answer.http,
        });
      const isFiltered = pagesBefore === 0 && query.some(([name]) => name === 'remote_user');
      const rows = isFiltered ? await filteredRows(answer, query) : rowsOf(answer);
      const { key_field } = await open();
      if (!rows.every(isObject)) throw unreadable(answer, 'a row that is not a license');
      return { ...pageEnd(answer), rows: rows.map((row) => licenseFrom(row, key_field)), answer };
    } catch (cause) {
      throw pagesBefore === 0 ? cause : incompleteAfter(pagesBefore, cause);
    }
  };
}

/** The names that lead from a response to its rows; none where the response is the array. */
type RowPath = readonly string[];

interface RowArray {
  readonly path: RowPath;
  readonly rows: readonly unknown[];
}

/**
 * The only array of rows, at the top or under one name or two, else the only one under a name that is known; undefined
 * where there is none. @throws Failure unavailable where it is no response of the API; rejected where it says error
 */
function listIn(answer: Answer): RowArray | undefined {
  const { body, status } = answer;
  if (status === 204) return { path: [], rows: [] };
  // An empty body is a cut one: taken for an empty list, it would make a second license.
  if (body === undefined) throw foreignBody(answer, 'the licensing API');
  if (Array.isArray(body)) return { path: [], rows: body };
  refuseError(answer, 'list');
  const arrays = arraysIn(body);
  const known = arrays.filter(({ path }) => isKnown(path));
  const [only, ...others] = known.length > 0 ? known : arrays.filter(({ rows }) => rows.length > 0);
  return others.length === 0 ? only : undefined;
}

/** An empty server may show null in place of its array, at the top or under a name that is known. */
function nullIn({ body }: Answer): RowArray | undefined {
  const nulls = body === null ? [[]] : valuesIn(body).flatMap(([path, value]) => (value === null ? [path] : []));
  const [path, ...others] = nulls.filter((one) => body === null || isKnown(one));
  return path && others.length === 0 ? { path, rows: [] } : undefined;
}

/** The rows of a filtered response without an array at that path: none. @throws Failure where it has rows elsewhere */
function rowsAt(path: RowPath, answer: Answer): readonly unknown[] {
  const value = path.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), answer.body);
  const isNothing = Array.isArray(value) ? value.length === 0 : (value ?? undefined) === undefined;
  if (isNothing && arraysIn(answer.body).every(({ rows }) => rows.length === 0)) return [];
  throw unreadable(answer, 'no list of licenses');
}

function arraysIn(body: unknown): RowArray[] {
  return valuesIn(body).flatMap(([path, value]) => {
    const rows: readonly unknown[] = Array.isArray(value) ? value : [undefined];
    return rows.every(isObject) ? [{ path, rows }] : [];
  });
}

/** The values of an object under one name or two, without members that are about paging. */
function valuesIn(body: unknown): (readonly [RowPath, unknown])[] {
  if (!isObject(body)) return [];
  return Object.entries(body)
    .filter(([name]) => !isOfPaging(name))
    .flatMap(([name, value]): (readonly [RowPath, unknown])[] =>
      isObject(value)
        ? Object.entries(value).map(([inner, deeper]) => [[name, inner], deeper] as const)
        : [[[name], value]],
    );
}

/** `hydra:member` is a `member`. */
function isKnown(path: RowPath): boolean {
  return rowNames.has(path.at(-1)?.toLowerCase().replace(/^.*:/, '') ?? '');
}

/** Names under which servers put the rows of a page beside other things. */
const rowNames: ReadonlySet<string> = new Set(
  'results licenses data items content records value objects rows list member members'.split(' '),
);
