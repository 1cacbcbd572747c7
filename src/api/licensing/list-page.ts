import { isObject } from '../../core/json.ts';
import type { Spool } from '../../core/read.ts';
import { type Answer, foreignBody, incompleteAfter } from '../http/answer.ts';
import type { Parameters } from '../http/call.ts';
import { path } from '../http/request.ts';
import type { License } from './license.ts';
import {
  refuse,
  refuseDoubledKey,
  refuseError,
  rowOf,
  unreadable,
  type LicensingConnection,
} from './license-answer.ts';
import { pageEnd, type PageEnd } from './page-end.ts';

export const licenses = path`/v1/license/`;

export interface Page extends PageEnd {
  /** Of a page that is too long for memory, some at a time. */
  readonly rows: readonly License[] | AsyncIterable<readonly License[]>;
  readonly count: number;
  readonly answer: Answer;
}

export type PageSize = Pick<Page, 'next' | 'total' | 'pages' | 'count'>;

export type Heard = (page: PageSize, place: number) => void;

/** Adds up the pages of a list; the first page begins another reading of it. */
export function measureList() {
  let [count, total] = [0, 0];
  /** The lengths of the first and the last page, and whether all between are as long as the first. */
  let [first, last, isEven] = [0, 0, true];
  return {
    heard(page: PageSize, place: number): void {
      [count, total] = place === 1 ? [page.count, page.total] : [count + page.count, Math.max(total, page.total)];
      [first, isEven] = place === 1 ? [page.count, true] : [first, isEven && last === first];
      last = page.count;
    },
    isCounted: () => total > 0 && total === count,
    /** Nothing can be missing: a total says so, or it is empty. */
    isWhole: () => total === count,
    /** Whether a page told of more licenses, none of which can be deleted: rows moved between the pages. */
    lacksRows: () => total > count,
    /** Without a total only full pages before the last show that nothing is missing. */
    mayBeCut: () => total === 0 && count > 0 && !(count > first && isEven && last <= first),
  };
}

/** @throws Failure of the first page unchanged; of a later one incomplete, but an interruption */
export async function readPage(connection: LicensingConnection, query: Parameters, pagesBefore: number): Promise<Page> {
  try {
    const answer = await connection.send({ method: 'GET', path: licenses, query, repeat: 'safe', isLong: true });
    if (answer.spool) return await longPage(answer, answer.spool, connection);
    refuse(answer);
    const found = rowsIn(answer);
    refuseDoubledKey(answer, found.length, connection);
    const rows = found.map((row) => rowOf(row, answer, connection));
    return { ...pageEnd(answer), rows, count: rows.length, answer };
  } catch (cause) {
    throw pagesBefore === 0 ? cause : incompleteAfter(pagesBefore, cause);
  }
}

/** The same for a page that is too long for memory. The spool is closed by whoever reads the rows. */
async function longPage(answer: Answer, spool: Spool, connection: LicensingConnection): Promise<Page> {
  const { readLongPage } = await import('./long-list.ts');
  try {
    refuse(answer);
    const { body, rowsOf } = await readLongPage(spool);
    answer.readAs(body);
    const { count, each } = rowsOf(rowsIn(answer));
    return { ...pageEnd(answer), rows: licensesFrom(each, answer, connection), count, answer };
  } catch (cause) {
    await spool.close();
    throw cause instanceof SyntaxError ? foreignBody(answer, 'the licensing API') : cause;
  }
}

async function* licensesFrom(rows: AsyncIterable<readonly unknown[]>, answer: Answer, connection: LicensingConnection) {
  for await (const some of rows) yield some.map((row) => rowOf(row, answer, connection));
}

function rowsIn(answer: Answer): readonly unknown[] {
  const { body } = answer;
  // An empty body is a cut one: taken for an empty list, it would make a second license.
  if (answer.status === 204) return [];
  if (body === undefined) throw foreignBody(answer, 'the licensing API');
  if (Array.isArray(body)) return body;
  refuseError(answer, 'list');
  if (!isObject(body)) throw unreadable(answer, 'no list of licenses');
  const arrays = Object.entries(body).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const [named, second] = arrays.filter(([name]) => rowNames.has(name));
  if (named && !second) return named[1];
  // Under another name only where it is the only array, and holds objects.
  const [only, ...others] = arrays.map(([, array]) => array);
  if (others.length === 0 && only !== undefined && only.length > 0 && only.every(isObject)) return only;
  throw unreadable(answer, second ? 'two lists, of which none is known to be the licenses' : 'no list of licenses');
}

/** Names under which servers put the rows of a page beside other things. */
const rowNames: ReadonlySet<string> = new Set(['results', 'licenses', 'data', 'items']);
