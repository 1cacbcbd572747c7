import { Planned, type PlannedRequest } from '../api/http/call.ts';
import type { AnyCommand } from '../commands/command.ts';
import type { GlobalValues } from '../commands/context/invocation.ts';
import { Failure, usage } from '../core/failure.ts';
import type { JsonFilter, Look, Show, Sink } from '../output/show.ts';
import { regardless } from '../output/sink.ts';
import { writeResult, type Result } from '../output/write.ts';
import { cellsOf, cellText } from '../output/columns.ts';
import type { Options } from './accounts.ts';
import { openSession, type Running } from './context.ts';
import { fieldCheck, namesIn } from './fields.ts';
import { below, lookOf, openSink } from './look.ts';
import type { Redactor } from './redactor.ts';

/** Runs a command and prints its result, or the requests of its dry run; the exit code. */
export async function runCommand(
  command: AnyCommand,
  values: Readonly<Record<string, unknown>>,
  given: Running,
): Promise<number> {
  const { world, messages } = given;
  const asked = given.options.jq === undefined ? given.options : { ...given.options, output: 'json' as const };
  const options = command.show?.alwaysQuiet ? keyAlone(command.name, asked) : asked;
  const printsPlan = options.dry_run && !command.plans;
  const checkFields = fieldCheck(command, options, printsPlan ? planColumns : []);
  const running = { ...given, options, filter: await filterOf(options) };
  if (options.sandbox && world.machine.env['CHATELAINE_SANDBOX'])
    messages.warn('CHATELAINE_SANDBOX is set: running against the embedded sandbox');
  if (options.sandbox && options.profileTyped) throw usage('--sandbox and --profile exclude each other');
  if (command.fieldsFromFile === undefined || values[command.fieldsFromFile] !== true) checkFields([]);
  const session = openSession(running, checkFields);
  try {
    const outcome = command.run(values, session.context);
    await (printsPlan ? printDry(outcome, command, session.planned, running) : print(outcome, command, running));
    return 0;
  } finally {
    for (const line of session.conclusions) messages.note(line);
    await session.close();
  }
}

/** @throws Failure usage for an expression that jq cannot compile */
async function filterOf({ jq }: Options): Promise<JsonFilter | undefined> {
  if (jq === undefined) return undefined;
  const { openFilter } = await import('../output/jq.ts');
  return openFilter(jq);
}

/**
 * A command that prints its key alone has no columns: they are ignored where the environment asks for them.
 * @throws Failure usage where they were typed
 */
function keyAlone(name: string, options: Options): Options {
  const isWhole = ['json', 'ndjson', 'yaml'].includes(options.output ?? '');
  const typed = options.typedLooks.find((look) => look === 'fields' || !isWhole);
  if (typed !== undefined)
    throw usage(
      `${name} prints the key alone: --${typed} ${(typed === 'fields' ? options.fields : options.output) ?? ''} does not apply`,
      'Leave it out, or choose -o json, ndjson or yaml for the whole license.',
    );
  const { fields: _ignored, ...others } = options;
  return others;
}

/** The requests that would have been sent; where there are none, what the command says itself. */
async function printDry(
  outcome: unknown,
  command: AnyCommand,
  planned: readonly PlannedRequest[],
  running: Running & Printing,
): Promise<void> {
  const { value, error } = await settled(outcome);
  if (planned.length > 0) await printPlan(planned, running);
  else if (error === undefined || (Array.isArray(value) && value.length > 0)) await print(value, command, running);
  if (error !== undefined && !(error instanceof Planned)) throw error;
}

async function settled(outcome: unknown): Promise<{ value: unknown; error?: Error }> {
  const rows: unknown[] = [];
  try {
    if (!isRows(outcome)) return { value: await outcome };
    for await (const row of outcome) rows.push(row);
    return { value: rows };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { value: rows, error };
  }
}

type Printing = Pick<Running, 'world' | 'signal' | 'messages'> & {
  readonly options: GlobalValues;
  readonly filter: JsonFilter | undefined;
};

async function print(
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

async function* continued(first: IteratorResult<unknown>, rest: AsyncIterator<unknown>): AsyncGenerator {
  try {
    for (let item = first; !item.done; item = await rest.next()) yield item.value;
  } finally {
    await rest.return?.();
  }
}

async function* failing(failure: Failure): AsyncGenerator {
  throw failure;
  yield;
}

function isRows(outcome: unknown): outcome is AsyncIterable<unknown> {
  return typeof outcome === 'object' && outcome !== null && Symbol.asyncIterator in outcome;
}

async function* rowsOf(rows: readonly unknown[]): AsyncGenerator {
  yield* rows;
}

/** The exact requests of a dry run; the values of passwords are removed. */
async function printPlan(planned: readonly PlannedRequest[], running: Running & Printing): Promise<void> {
  const rows = planned.map((request) => cleaned(request, running.redactor));
  const { fields: asked, ...options } = running.options;
  const fields = namesIn(asked).filter((name) => planColumns.includes(name));
  const looks = { ...options, quiet: false, ...(fields.length > 0 && { fields: fields.join(',') }) };
  await print(Promise.resolve(rows), { show: planShow }, { ...running, options: looks });
}

const planColumns: readonly string[] = ['method', 'url', 'content_type', 'body'];

/** Whole on a terminal too: a request that is cut is not the exact one. */
const planShow: Show<unknown> = {
  columns: planColumns,
  line: (row) =>
    cellsOf(row, planColumns, undefined)
      .map((cell) => cellText(cell))
      .filter((text) => text !== '')
      .join(' '),
};

/** Value by value: a password may be a word or a sign of JSON itself. */
function cleaned(request: PlannedRequest, redactor: Redactor): object {
  return Object.fromEntries(Object.entries<string>({ ...request }).map(([name, text]) => [name, redactor.clean(text)]));
}
