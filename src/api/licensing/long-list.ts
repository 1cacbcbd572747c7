import { isObject } from '../../core/json.ts';
import { readerOf, type JsonRun } from '../../core/json-reader.ts';
import type { Spool } from '../../core/read.ts';

/** An array of a long page. */
interface LongArray {
  readonly index: number;
  readonly first: unknown[];
  count: number;
}

/** Elements that `body` holds of each array: all of those that are no rows. */
const keptElements = 100;

/**
 * Checks a long page whole before any row is used, then reads its rows some at a time. Integers beyond 2^53 are
 * `bigint`.
 * @throws SyntaxError where it is not JSON, ends early, is too deep, or has an element above 16 MiB
 */
export async function readLongPage(spool: Pick<Spool, 'read'>) {
  const reader = readerOf();
  const arrays = new Map<string | undefined, LongArray>();
  const add = (run: JsonRun): void => {
    const known = arrays.get(run.array);
    const array = known?.index === run.index ? known : { index: run.index, first: [], count: 0 };
    array.count += run.elements.length;
    array.first.push(...run.elements.slice(0, keptElements - array.first.length));
    arrays.set(run.array, array);
  };
  for await (const chunk of spool.read()) for (const run of reader.read(chunk)) add(run);
  const body = reader.rest();
  const lists = [...arrays].map(([name, array]) => {
    const list: unknown = name === undefined ? body : isObject(body) ? body[name] : undefined;
    // Another value of the same name may follow the array.
    if (Array.isArray(list)) list.push(...array.first);
    return { list, array };
  });
  return {
    /** The document, with the first rows alone. */
    body,
    /** How many rows that array of `body` has in all, and each of them. */
    rowsOf(rows: readonly unknown[]) {
      const array = lists.find(({ list }) => list === rows)?.array;
      return { count: array?.count ?? 0, each: elementsAt(spool, array?.index) };
    },
  };
}

async function* elementsAt(spool: Pick<Spool, 'read'>, index: number | undefined): AsyncGenerator<readonly unknown[]> {
  const reader = readerOf();
  for await (const chunk of spool.read())
    for (const run of reader.read(chunk)) if (run.index === index) yield run.elements;
}
