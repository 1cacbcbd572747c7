import { splitJson } from '../../core/json-split.ts';
import type { Spool } from '../../core/spool.ts';
import { isObject } from '../../core/json.ts';

/** A page of a list that is too long for memory. */
export interface LongPage {
  /** The document, with the first rows alone. */
  readonly body: unknown;
  /** How many rows that array of `body` has in all, and each of them. */
  readonly rowsOf: (rows: readonly unknown[]) => {
    readonly count: number;
    readonly each: AsyncIterable<readonly unknown[]>;
  };
}

/**
 * Reads a long page once whole, so that nothing is done with a list that is cut or is none; its rows are then read a second time, one by
 * one.
 * @throws SyntaxError where it is not JSON
 */
export async function readLongPage(spool: Spool): Promise<LongPage> {
  const counts = new Map<string | undefined, number>();
  let body: unknown;
  for await (const piece of splitJson(spool.read())) {
    if ('rest' in piece) body = piece.rest;
    else counts.set(piece.array, (counts.get(piece.array) ?? 0) + piece.elements.length);
  }
  return {
    body,
    rowsOf(rows) {
      const name = isObject(body) ? Object.keys(body).find((key) => body[key] === rows) : undefined;
      return { count: counts.get(name) ?? 0, each: elementsOf(spool, name) };
    },
  };
}

async function* elementsOf(spool: Spool, name: string | undefined): AsyncGenerator<readonly unknown[]> {
  for await (const piece of splitJson(spool.read()))
    if ('elements' in piece && piece.array === name) yield piece.elements;
}
