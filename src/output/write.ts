import { rowOf } from '../schema/formats.ts';
import { Failure } from '../core/failure.ts';
import { writeJson } from '../core/json.ts';
import { batched, type Batch } from './batch.ts';
import type { Form } from './form.ts';
import { formOf } from './formats.ts';
import { JsonRows, singly } from './json-rows.ts';
import type { Look, Show, Sink } from './show.ts';
import { inOrder, orderOf } from './sort.ts';
import { guarded, readerGone } from './sink.ts';

export type Result = { readonly many: AsyncIterable<unknown> } | { readonly one: unknown };

/**
 * Writes a result in the look's format; an array is a list. What the rows throw is thrown on when the document is closed, so
 * that what came before is whole. When nobody reads any longer (EPIPE), the rows are asked to end and this resolves.
 * @throws Failure incomplete when the sink fails
 */
export async function writeResult(
  result: Result,
  show: Show<unknown> | undefined,
  look: Look,
  sink: Sink,
): Promise<void> {
  const target = guarded(sink);
  try {
    if ('many' in result) await writeRows(result.many, show, look, target);
    else if (Array.isArray(result.one)) await writeRows(listed(result.one), show, look, target);
    else await writeText(result.one, await formOf(show, look), target, show);
  } catch (error) {
    if (error !== readerGone) throw error;
  }
}

/**
 * Writes one value; where formatting it fails, it is written as JSON: a license that was created just now exists nowhere else.
 * @throws Failure after that: the one of the format, else incomplete
 */
async function writeText(value: unknown, form: Form, sink: Sink, show: Show<unknown> | undefined): Promise<void> {
  let text: string;
  try {
    text = form.one(value);
  } catch (cause) {
    await sink.write(`${writeJson(show?.data ? show.data(value) : value)}\n`);
    const why = cause instanceof Error ? cause.message : String(cause);
    const kind = cause instanceof Failure ? cause.kind : 'incomplete';
    throw new Failure(kind, `The result could not be formatted, and is written as JSON: ${why}`, {
      hint: 'What was done stays done. Use -o json.',
      retryable: false,
      cause,
    });
  }
  if (text !== '') await sink.write(text);
}

async function sorted(
  rows: AsyncIterable<unknown>,
  show: Show<unknown> | undefined,
  { sort }: Look,
): Promise<AsyncIterable<unknown>> {
  return sort === undefined || show?.text ? rows : inOrder(singly(rows), orderOf(sort), show);
}

function listed(values: readonly unknown[]): AsyncIterable<unknown> {
  const rest = values.values();
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(rest.next()) }) };
}

async function writeRows(
  rows: AsyncIterable<unknown>,
  show: Show<unknown> | undefined,
  look: Look,
  sink: Sink,
): Promise<void> {
  const form = await formOf(show, look);
  const batch = batched(sink);
  const source = watched(await sorted(rows, show, look));
  const remark = (count: number): void => {
    const isForPeople = look.terminal && rowOf(look.format)?.forPeople === true;
    const line = count === 0 && isForPeople ? show?.none : form.remark?.();
    if (line !== undefined) look.note?.(line);
  };
  const pouring = pour(source, form, batch, remark);
  try {
    await Promise.race([pouring, batch.broken]);
  } catch (error) {
    // The sink may break while a row is awaited, perhaps from a slow network: the rows are asked to end, and not waited for.
    if (source.waiting()) void Promise.allSettled([source.stop()]);
    else await pouring;
    throw error;
  }
}

/** Writes rows to the sink and then always closes the document. What the rows threw is thrown on, not what closing threw. */
async function pour(
  rows: AsyncIterable<unknown>,
  form: Form,
  batch: Batch,
  remark: (count: number) => void,
): Promise<void> {
  let count = 0;
  const close = async (): Promise<void> => {
    await batch.add(form.end());
    await batch.flush();
    if (count > 0) remark(count);
  };
  try {
    for await (const row of rows) count += await add(row, form, batch);
  } catch (error) {
    await Promise.allSettled([close()]);
    throw error;
  }
  await close();
  if (count === 0) remark(count);
}

/** Adds a row, or rows that are JSON texts; how many. */
async function add(row: unknown, form: Form, batch: Batch): Promise<number> {
  if (!(row instanceof JsonRows)) {
    await batch.add(form.row(row));
    return 1;
  }
  if (form.texts) await batch.add(form.texts(row.texts));
  else for (const one of row) await batch.add(form.row(one));
  return row.texts.length;
}

interface Watched extends AsyncIterable<unknown> {
  /** Whether a row has been asked for and has not come. */
  waiting(): boolean;
  stop(): Promise<unknown>;
}

function watched(rows: AsyncIterable<unknown>): Watched {
  const iterator = rows[Symbol.asyncIterator]();
  let waiting = false;
  const stop = async (): Promise<IteratorResult<unknown>> =>
    (await iterator.return?.()) ?? { done: true, value: undefined };
  const next = async (): Promise<IteratorResult<unknown>> => {
    waiting = true;
    try {
      return await iterator.next();
    } finally {
      waiting = false;
    }
  };
  return { waiting: () => waiting, stop, [Symbol.asyncIterator]: () => ({ next, return: stop }) };
}
