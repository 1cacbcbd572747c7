import { Planned, type PlannedRequest } from '../api/http.ts';
import type { GlobalValues } from '../commands/context.ts';
import type { AnyCommand } from '../commands/command.ts';
import { Failure } from '../core/failure.ts';
import type { Look, Show, Sink } from '../output/show.ts';
import type { Options } from './context.ts';
import { openMessages, type Messages, type MessageStyle } from './messages.ts';
import { readCommandLine } from './program.ts';
import { openRedactor, type Redactor } from './redactor.ts';
import { fillFromInput } from './input.ts';
import { readValues } from './values.ts';
import type { World } from './world.ts';
import { writeResult, type Result } from '../output/write.ts';
import { colorLevel } from '../output/style.ts';

/** Reads the command line, runs the command, prints the result; the exit code. The only catch of last resort. */
export async function main(argv: readonly string[], world: World): Promise<number> {
  const redactor = openRedactor();
  let messages = openMessages(world.stderr, guessedStyle(argv, world), redactor);
  try {
    const request = await readCommandLine(argv, world.machine.env);
    if ('text' in request) {
      await openSink(world).write(request.text);
      return 0;
    }
    messages = openMessages(world.stderr, styleOf(request.options, world), redactor);
    const values = readValues(request.command, await fillFromInput(request.words, world), request.flags);
    const options = { ...request.options, profileTyped: request.flags['profile'] !== undefined };
    return await runCommand(request.command, values, options, world, messages, redactor);
  } catch (cause) {
    if (isClosedPipe(cause)) return 0;
    return report(cause, messages);
  }
}

async function runCommand(
  command: AnyCommand,
  values: Readonly<Record<string, unknown>>,
  options: Options,
  world: World,
  messages: Messages,
  redactor: Redactor,
): Promise<number> {
  if (options.sandbox && world.machine.env['CHATELAINE_SANDBOX'])
    messages.warn('CHATELAINE_SANDBOX is set: running against the embedded sandbox');
  const { openSession } = await import('./context.ts');
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
  const rows = planned.map((request) => JSON.parse(redactor.clean(JSON.stringify(request))) as PlannedRequest);
  await print(
    Promise.resolve(rows),
    { columns: ['method', 'url', 'content_type', 'body'] },
    { ...options, quiet: false },
    world,
  );
  return 0;
}

async function report(cause: unknown, messages: Messages): Promise<number> {
  const failure = cause instanceof Failure ? cause : bug(cause);
  if (failure.kind !== 'differences') await messages.fail(failure);
  return failure.exit;
}

function bug(cause: unknown): Failure {
  const what = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return new Failure('internal', `this is a bug in chatelaine: ${what}`, {
    hint: 'Please report it with the command that you ran.',
    cause,
  });
}

function styleOf(options: GlobalValues, world: World): MessageStyle {
  return {
    json: options.output === 'json' || options.output === 'ndjson',
    quiet: options.quiet ?? false,
    verbose: (options.verbose ?? false) || (options.trace ?? false),
    color: hasColor(options, world, world.stderr.isTTY === true),
  };
}

/** How errors of the command line itself are told, before its options are known. */
function guessedStyle(argv: readonly string[], world: World): MessageStyle {
  const wanted = argv.flatMap((word, index) => {
    if (word === '--json') return ['json'];
    if (word === '-o' || word === '--output') return [argv[index + 1]];
    return /^(?:-o|--output=)(.+)$/.exec(word)?.[1] ?? [];
  });
  const format = wanted.at(-1) ?? world.machine.env['CHATELAINE_OUTPUT'];
  return {
    json: format === 'json' || format === 'ndjson',
    quiet: false,
    verbose: false,
    color: hasColor({}, world, world.stderr.isTTY === true),
  };
}

function hasColor({ color }: GlobalValues, { machine }: World, terminal: boolean): boolean {
  return colorLevel({ when: color ?? 'auto', terminal, env: machine.env }) > 0;
}

function lookOf(options: GlobalValues, world: World): Look {
  const terminal = world.stdout.isTTY === true;
  return {
    format: options.output ?? (terminal ? 'table' : 'tsv'),
    fields: options.fields?.split(',').map((name) => name.trim()),
    header: options.header ?? true,
    csvSafe: options.csv_safe ?? false,
    quiet: options.quiet ?? false,
    color: hasColor(options, world, terminal),
    terminal,
    width: world.stdout.columns ?? 0,
  };
}

function openSink({ stdout }: World): Sink {
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        stdout.write(text, (error) => (error ? reject(error) : resolve()));
      }),
  };
}

function isClosedPipe(cause: unknown): boolean {
  return cause instanceof Error && (cause as { code?: unknown }).code === 'EPIPE';
}
