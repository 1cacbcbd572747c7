/** A page of a list of licenses: which array has the rows, and what it says of the pages after it. */
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { type Answer, foreignBody, incompleteAfter, isPage } from '../http/answer.ts';
import type { Parameters } from '../http/call.ts';
import { path } from '../http/request.ts';
import type { License } from './license.ts';
import { refuse, refuseError, rowOf, unreadable, type LicensingConnection } from './license-answer.ts';
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
  const learn = async (query: Parameters): Promise<RowPath> => {
    if (learned) return learned;
    const answer = await request(query.filter(([name]) => name === 'app_code'));
    refuse(answer);
    const found = listIn(answer);
    if (found.rows.length > 0) learned = found.path;
    return found.path;
  };
  const rowsOf = async (answer: Answer, query: Parameters): Promise<readonly unknown[]> => {
    const isFiltered = query.some(([name]) => name === 'remote_user');
    if (!isFiltered) {
      refuse(answer);
      const { path, rows } = listIn(answer);
      if (rows.length > 0) learned = path;
      return rows;
    }
    // With 404 some servers say that the filter finds nothing, and others that the URL is wrong.
    const isMissing = answer.status === 404 && !isPage(answer) && (await isAnswered(learn(query)));
    if (isMissing) return [];
    refuse(answer);
    return arrayIn(answer)?.rows ?? rowsAt(await learn(query), answer);
  };
  /** @throws Failure of the first page unchanged; of a later one incomplete, but an interruption */
  return async (query, pagesBefore) => {
    try {
      const answer = await request(query);
      if (answer.status === 404 && pagesBefore > 0)
        throw new Failure('rejected', 'the next one is gone (404): pages moved while they were read', {
          http: answer.http,
        });
      const found = await rowsOf(answer, query);
      const connection = await open();
      return {
        ...pageEnd(answer),
        rows: found.map((row) => rowOf(row, answer, connection)),
        answer,
      };
    } catch (cause) {
      throw pagesBefore === 0 ? cause : incompleteAfter(pagesBefore, cause);
    }
  };
}

async function isAnswered(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (cause) {
    if (cause instanceof Failure && (cause.kind === 'not_found' || cause.kind === 'rejected')) return false;
    throw cause;
  }
}

/** The names that lead from a response to its rows; none where the response is the array. */
type RowPath = readonly string[];

interface RowArray {
  readonly path: RowPath;
  readonly rows: readonly unknown[];
}

/** The rows of a list without a filter. @throws Failure unavailable where it is no list; rejected: an error */
function listIn(answer: Answer): RowArray {
  const found = arrayIn(answer) ?? emptyIn(answer.body);
  if (found) return found;
  const isSeveral = knownArrays(arraysIn(answer.body)).length > 1;
  throw unreadable(answer, isSeveral ? 'two lists, and neither is known to be the licenses' : 'no list of licenses');
}

/** Undefined where no array is known to be the rows. @throws Failure unavailable, rejected as `listIn` */
function arrayIn(answer: Answer): RowArray | undefined {
  const { body, status } = answer;
  if (status === 204) return { path: [], rows: [] };
  // An empty body is a cut one: taken for an empty list, it would make a second license.
  if (body === undefined) throw foreignBody(answer, 'the licensing API');
  if (Array.isArray(body)) return { path: [], rows: body };
  refuseError(answer, 'list');
  if (body !== null && !isObject(body)) throw unreadable(answer, 'no list of licenses');
  const arrays = arraysIn(body);
  const known = knownArrays(arrays);
  if (known.length > 0) return known.length === 1 ? known[0] : undefined;
  return arrays.length === 1 && arrays[0]?.rows.length !== 0 ? arrays[0] : undefined;
}

/** An empty server may show null in place of its array, at the top or under a name that is known. */
function emptyIn(body: unknown): RowArray | undefined {
  if (body === null) return { path: [], rows: [] };
  const nulls = valuesIn(body).filter(([path, value]) => value === null && isKnown(path));
  const [only, ...others] = nulls;
  return only && others.length === 0 ? { path: only[0], rows: [] } : undefined;
}

/** The rows of a filtered response whose array is missing: none, unless it has others. */
function rowsAt(path: RowPath, answer: Answer): readonly unknown[] {
  const value = path.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), answer.body);
  if (Array.isArray(value)) return value;
  const isEmpty = (value === undefined || value === null) && (path.length > 0 || answer.body === null);
  if (isEmpty && arraysIn(answer.body).every(({ rows }) => rows.length === 0)) return [];
  throw unreadable(answer, 'no list of licenses');
}

/** Arrays of objects, empty ones too, under one name or two. */
function arraysIn(body: unknown): RowArray[] {
  return valuesIn(body).flatMap(([path, value]) => {
    if (!Array.isArray(value)) return [];
    const rows: readonly unknown[] = value;
    return isKnown(path) || rows.every(isObject) ? [{ path, rows }] : [];
  });
}

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

function knownArrays(arrays: readonly RowArray[]): readonly RowArray[] {
  return arrays.filter(({ path }) => isKnown(path));
}

/** `hydra:member` is a `member`. */
function isKnown(path: RowPath): boolean {
  return rowNames.has(path.at(-1)?.toLowerCase().replace(/^.*:/, '') ?? '');
}

/** Names under which servers put the rows of a page beside other things. */
const rowNames: ReadonlySet<string> = new Set(
  'results licenses data items content records value objects rows list member members'.split(' '),
);
