import { Planned, type PlannedRequest } from '../api/http.ts';
import type { AnyCommand } from '../commands/command.ts';
import type { GlobalValues } from '../commands/context.ts';
import type { Show } from '../output/show.ts';
import { writeResult, type Result } from '../output/write.ts';
import { openSession, type Options } from './context.ts';
import { lookOf, openSink } from './look.ts';
import type { Messages } from './messages.ts';
import type { Redactor } from './redactor.ts';
import type { World } from './world.ts';

/** Runs a command and prints its result, or the requests of its dry run; the exit code. */
export async function runCommand(
  command: AnyCommand,
  values: Readonly<Record<string, unknown>>,
  options: Options,
  world: World,
  messages: Messages,
  redactor: Redactor,
): Promise<number> {
  if (options.sandbox && world.machine.env['CHATELAINE_SANDBOX'])
    messages.warn('CHATELAINE_SANDBOX is set: running against the embedded sandbox');
  const session = openSession(world, options, messages, redactor);
  try {
    await print(command.run(values, session.context), command.show, options, world);
    return session.planned.length > 0 ? await printPlan(session.planned, options, world, redactor) : 0;
  } catch (cause) {
    if (cause instanceof Planned) return await printPlan(session.planned, options, world, redactor);
    throw cause;
  } finally {
    await session.close();
  }
}

async function print(
  outcome: unknown,
  show: Show<unknown> | undefined,
  options: GlobalValues,
  world: World,
): Promise<void> {
  if (show?.single && isRows(outcome)) return printFirst(outcome, show, options, world);
  await writeResult(await resultOf(outcome), show, lookOf(options, world), openSink(world));
}

async function printFirst(
  rows: AsyncIterable<unknown>,
  show: Show<unknown>,
  options: GlobalValues,
  world: World,
): Promise<void> {
  let isFirst = true;
  for await (const row of rows) {
    if (isFirst) await writeResult({ one: row }, show, lookOf(options, world), openSink(world));
    isFirst = false;
  }
}

async function resultOf(outcome: unknown): Promise<Result> {
  if (isRows(outcome)) return { many: outcome };
  const value: unknown = await outcome;
  return Array.isArray(value) ? { many: rowsOf(value) } : { one: value };
}

function isRows(outcome: unknown): outcome is AsyncIterable<unknown> {
  return typeof outcome === 'object' && outcome !== null && Symbol.asyncIterator in outcome;
}

async function* rowsOf(rows: readonly unknown[]): AsyncGenerator {
  yield* rows;
}

/** The exact requests of a dry run; the values of passwords are removed. */
async function printPlan(
  planned: readonly PlannedRequest[],
  options: GlobalValues,
  world: World,
  redactor: Redactor,
): Promise<number> {
  const rows = planned.map((request) => cleaned(request, redactor));
  await print(
    Promise.resolve(rows),
    { columns: ['method', 'url', 'content_type', 'body'] },
    { ...options, quiet: false },
    world,
  );
  return 0;
}

/** Value by value: a password may be a word or a sign of JSON itself. */
function cleaned(request: PlannedRequest, redactor: Redactor): object {
  return Object.fromEntries(Object.entries<string>({ ...request }).map(([name, text]) => [name, redactor.clean(text)]));
}
