import type { AnyCommand } from '../commands/command.ts';
import type { GlobalValues } from '../commands/context.ts';
import { Failure } from '../core/failure.ts';
import { regardless } from '../output/sink.ts';
import type { JsonFilter, Look, Show, Sink } from '../output/show.ts';
import { writeResult, type Result } from '../output/write.ts';
import type { Running } from './context.ts';
import { below, lookOf, openSink } from './look.ts';

/** What printing a result needs of the run. */
export type Printing = Pick<Running, 'world' | 'signal' | 'messages'> & {
  readonly options: GlobalValues;
  readonly filter: JsonFilter | undefined;
};

/** Prints what a command returned, or the rows that it yields. */
export async function print(
  outcome: unknown,
  { show, single, toTheEnd }: Pick<AnyCommand, 'show' | 'single' | 'toTheEnd'>,
  { options, world, signal, messages, filter }: Printing,
): Promise<void> {
  const look = { ...lookOf(options, world, show), note: messages.note, filter };
  const open = below(messages, openSink(world, signal), world.stdout);
  const sink = toTheEnd ? regardless(open) : open;
  if (single && isRows(outcome)) return printFirst(outcome, show, look, sink);
  await writeResult(await resultOf(outcome), show, look, sink);
}

async function printFirst(
  rows: AsyncIterable<unknown>,
  show: Show<unknown> | undefined,
  look: Look,
  sink: Sink,
): Promise<void> {
  let isFirst = true;
  for await (const row of rows) {
    if (isFirst) await writeResult({ one: row }, show, look, sink);
    isFirst = false;
  }
}

async function resultOf(outcome: unknown): Promise<Result> {
  if (isRows(outcome)) return { many: await begun(outcome) };
  const value: unknown = await outcome;
  return Array.isArray(value) ? { many: rowsOf(value) } : { one: value };
}

/**
 * The rows, once the first is there: a command that fails before it prints nothing at all, where an empty document would pass for
 * an answer. A list that was begun and is known to be incomplete is a document.
 */
async function begun(rows: AsyncIterable<unknown>): Promise<AsyncIterable<unknown>> {
  const iterator = rows[Symbol.asyncIterator]();
  try {
    return continued(await iterator.next(), iterator);
  } catch (cause) {
    if (cause instanceof Failure && (cause.kind === 'incomplete' || cause.kind === 'differences'))
      return failing(cause);
    throw cause;
  }
}

/** Not a generator, which makes three more promises of each row. */
function continued(first: IteratorResult<unknown>, rest: AsyncIterator<unknown>): AsyncIterable<unknown> {
  let ahead: IteratorResult<unknown> | undefined = first;
  const next = (): Promise<IteratorResult<unknown>> => {
    if (!ahead) return rest.next();
    const step = Promise.resolve(ahead);
    ahead = undefined;
    return step;
  };
  const stop = async (): Promise<IteratorResult<unknown>> =>
    (await rest.return?.()) ?? { done: true, value: undefined };
  return { [Symbol.asyncIterator]: () => ({ next, return: stop }) };
}

async function* failing(failure: Failure): AsyncGenerator {
  throw failure;
  yield;
}

export function isRows(outcome: unknown): outcome is AsyncIterable<unknown> {
  return typeof outcome === 'object' && outcome !== null && Symbol.asyncIterator in outcome;
}

async function* rowsOf(rows: readonly unknown[]): AsyncGenerator {
  yield* rows;
}
