import { isObject, parseJson, sign } from '../../core/json.ts';
import type { Spool } from '../../core/read.ts';

/** Elements that `body` holds of each array: all of those that are no rows. */
const keptElements = 100;

/** Checks a long page whole, then reads its rows in runs. @throws SyntaxError also for an element above 16 MiB */
export async function readLongPage(spool: Pick<Spool, 'read'>) {
  const reader = readerOf();
  const arrays = new Map<string | undefined, { index: number; first: unknown[]; count: number }>();
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

interface JsonRun {
  /** The member that the array is; undefined: the document is the array. */
  readonly array: string | undefined;
  /** The place of that member in the document, from 0 on: of two members of one name the last counts. */
  readonly index: number;
  readonly elements: readonly unknown[];
}

const mostBegun = 16 * 1024 * 1024;

/**
 * Reads a document in chunks, and hands out the elements of each array that is the document or a member of it. It looks
 * only for the signs between which the platform can parse a piece, and for quotation marks.
 */
export function readerOf() {
  let rest = '';
  let begun: Uint8Array[] = [];
  let begunLength = 0;
  let [isString, isEscape, isMembers] = [false, false, false];
  let [depth, index] = [0, 0];
  let array: { readonly name: string | undefined; readonly depth: number; isEmpty: boolean } | undefined;

  /** What was begun, and these bytes behind it. */
  const textWith = (bytes: Uint8Array): string => {
    const text = Buffer.concat([...begun, bytes]).toString('utf8');
    begun = [];
    begunLength = 0;
    return text;
  };
  const runOf = ({ name, isEmpty }: NonNullable<typeof array>, text: string, end: 'array' | 'element'): JsonRun => {
    const elements: unknown = parseJson(`[${text}]`);
    if (!Array.isArray(elements) || (elements.length === 0 && !(isEmpty && end === 'array')))
      throw new SyntaxError('an element of it is missing');
    return { array: name, index, elements };
  };

  return {
    /** The elements that are complete, at least one run for each array. @throws SyntaxError as `readLongPage` */
    read(chunk: Uint8Array): readonly JsonRun[] {
      const runs: JsonRun[] = [];
      /** Where in this chunk what is begun goes on, and where its last whole element ends. */
      let [from, whole] = [0, -1];
      const cut = (end: number): string => {
        const text = textWith(chunk.subarray(from, end));
        from = end + 1;
        whole = -1;
        return text;
      };
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at];
        if (isString) {
          if (isEscape) isEscape = false;
          else if (byte === sign.backslash) isEscape = true;
          else isString = byte !== sign.quote;
        } else if (byte === sign.quote) isString = true;
        else if (byte === sign.open || byte === sign.openObject) {
          depth += 1;
          if (depth === 1) isMembers = byte === sign.openObject;
          const isArray = byte === sign.open && !array && depth === (isMembers ? 2 : 1);
          if (isArray || (isMembers && depth === 1)) {
            const before = cut(at);
            rest += before + (isArray ? '[' : '{');
            if (isArray) array = { name: isMembers ? nameIn(before) : undefined, depth, isEmpty: true };
          }
        } else if (byte === sign.close || byte === sign.closeObject) {
          if (array?.depth === depth) {
            if (byte !== sign.close) throw new SyntaxError('an array of it does not end');
            runs.push(runOf(array, cut(at), 'array'));
            rest += ']';
            array = undefined;
          }
          depth -= 1;
        } else if (byte === sign.comma && array?.depth === depth) whole = at;
        else if (byte === sign.comma && !array && isMembers && depth === 1) {
          rest += `${cut(at)},`;
          index += 1;
        }
      }
      if (array && whole >= 0) {
        runs.push(runOf(array, cut(whole), 'element'));
        array.isEmpty = false;
      }
      begun.push(Buffer.from(chunk.subarray(from)));
      begunLength += chunk.length - from;
      if (Math.max(begunLength, rest.length) > mostBegun)
        throw new SyntaxError('an element of it is larger than 16 MiB');
      return runs;
    },
    /** The document, once it is read, with an empty array in place of each. @throws SyntaxError where it is not JSON */
    rest: (): unknown => parseJson((rest + textWith(new Uint8Array())).replace(/^\uFEFF/, '')),
  };
}

function nameIn(text: string): string | undefined {
  const member = parseJson(`{${text}0}`);
  return isObject(member) ? Object.keys(member)[0] : undefined;
}
