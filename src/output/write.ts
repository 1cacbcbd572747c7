import { Failure } from '../core/failure.ts';
import { nextTurn } from '../core/outside.ts';
import { formatterOf } from './formats.ts';
import { JsonRows, singly } from './json-rows.ts';
import { plainLines } from './plain.ts';
import type { Formatter, JsonFilter, Presentation } from './presentation.ts';
import { guard, openBatch, readerGone, type Batch, type Sink } from './sink.ts';
import { inOrder, orderOf } from './sort.ts';

export type Result = { readonly many: AsyncIterable<unknown> } | { readonly one: unknown };

/**
 * Writes a result; what its rows throw is thrown after the document is closed. When the reader is gone (EPIPE), the
 * rows are asked to end and this resolves. @throws Failure incomplete when the sink fails
 */
export async function writeResult(result: Result, presentation: Presentation, sink: Sink): Promise<void> {
  const target = guard(sink, presentation);
  try {
    if (presentation.filter) await writeFiltered(result, presentation, presentation.filter, target);
    else await writeDocument(result, presentation, target);
  } catch (error) {
    if (error !== readerGone) throw error;
  }
}

async function writeDocument(result: Result, presentation: Presentation, sink: Sink): Promise<void> {
  const { countBy, ...counted } = presentation;
  if (countBy && !presentation.isText) {
    const { countRows } = await import('./count.ts');
    const rows = 'many' in result ? result.many : iterate(Array.isArray(result.one) ? result.one : [result.one]);
    const counts = await countRows(rows, counted, countBy);
    await writeRows(counts.rows, { ...counted, show: counts.show }, sink);
  } else if ('many' in result) await writeRows(result.many, presentation, sink);
  else if (Array.isArray(result.one)) await writeRows(iterate(result.one), presentation, sink);
  else {
    const text = (await formatterOf(presentation)).one(result.one);
    if (text !== '') await sink.write(text);
  }
}

/** Writes the filtered document, or the value itself where the filter fails: a new license exists nowhere else. */
async function writeFiltered(result: Result, presentation: Presentation, filter: JsonFilter, sink: Sink) {
  const pieces: string[] = [];
  const holding: Sink = { write: async (piece) => void pieces.push(Buffer.from(piece).toString()) };
  const [written] = await Promise.allSettled([writeDocument(result, presentation, holding)]);
  const document = pieces.join('');
  if (document === '' && written.status === 'rejected') throw written.reason;
  try {
    const text = await filter(document);
    await sink.write(presentation.terminal ? plainLines(text) : text);
  } catch (cause) {
    if ('one' in result && !Array.isArray(result.one)) await sink.write(document);
    throw written.status === 'rejected' ? written.reason : cause;
  }
  if (written.status === 'rejected') throw written.reason;
}

function iterate(values: readonly unknown[]): AsyncIterable<unknown> {
  const rest = values.values();
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(rest.next()) }) };
}

async function writeRows(rows: AsyncIterable<unknown>, presentation: Presentation, sink: Sink): Promise<void> {
  const { format, show, quiet = false, say, aside, turn, sort, isText, isWrite } = presentation;
  const formatter = await formatterOf(presentation);
  const batch = openBatch(sink);
  const ordered = sort === undefined || isText ? rows : inOrder(singly(rows), orderOf(sort), show);
  const iterator = ordered[Symbol.asyncIterator]();
  const remark = (extent: 'empty' | 'rows'): void => {
    const line = formatter.remark?.();
    if (extent === 'empty' && !format.whole && show.none !== undefined) say?.(show.none);
    if (line !== undefined) aside?.(line);
  };
  const target = { formatter, batch, turn: format.forPeople && turn, isSilent: quiet && !format.whole };
  const writing = writeAll({ [Symbol.asyncIterator]: () => iterator }, target, remark);
  try {
    await Promise.race([writing, batch.broken]);
  } catch (error) {
    // The sink may break while a row is awaited: the rows are asked to end, and those of a read are not waited for.
    const ended = Promise.allSettled([iterator.return?.()]);
    // An error of the rows takes precedence.
    await Promise.race([writing, isWrite ? ended : nextTurn()]);
    throw error;
  }
}

/** Writes rows to the sink and then closes the document. What the rows threw is thrown on, not what closing threw. */
async function writeAll(rows: AsyncIterable<unknown>, target: RowTarget, remark: (extent: 'empty' | 'rows') => void) {
  const { formatter, batch, isSilent } = target;
  let isEmpty = true;
  const close = async (): Promise<void> => {
    if (!isEmpty || !isSilent) await batch.add(formatter.end());
    await batch.flush();
    if (!isEmpty) remark('rows');
  };
  try {
    for await (const row of rows) if (await add(row, target)) isEmpty = false;
  } catch (error) {
    // Before the first row nothing is written, since an empty document would pass for a result, unless the failure says
    // that the result is partial.
    const isAnswer = error instanceof Failure && (error.kind === 'incomplete' || error.kind === 'differences');
    if (!isEmpty || isAnswer) await Promise.allSettled([close()]);
    throw error;
  }
  await close();
  if (isEmpty) remark('empty');
}

interface RowTarget extends Pick<Presentation, 'turn'> {
  readonly formatter: Formatter;
  readonly batch: Batch;
  /** True if an empty list prints no header either. */
  readonly isSilent: boolean;
}

/** False for a page without rows. */
async function add(row: unknown, { formatter, batch, turn }: RowTarget): Promise<boolean> {
  if (row instanceof JsonRows && formatter.texts) {
    await batch.add(formatter.texts(row.texts));
    return row.texts.length > 0;
  }
  let isThere = false;
  for (const one of row instanceof JsonRows ? row : [row]) {
    await batch.add(formatter.row(one));
    await turn?.();
    isThere = true;
  }
  return isThere;
}
