import { nextTurn } from '../core/outside.ts';
import { incompleteWith } from '../api/http/answer.ts';
import { Planned, type PlannedCall } from '../api/http/call.ts';
import type { AnyCommand } from '../commands/command.ts';
import { isZoneKnown } from '../core/moment.ts';
import { Failure, usage, abortReason, type FailureKind } from '../core/failure.ts';
import { asObject, cellsOf, namesOf } from '../output/columns.ts';
import { singly } from '../output/json-rows.ts';
import type { Clock } from '../core/system.ts';
import type { JsonFilter, Presentation } from '../output/presentation.ts';
import { streamSink, type Sink } from '../output/sink.ts';
import { writeResult } from '../output/write.ts';
import { openSession } from './session.ts';
import { presentationOf, type RunPresentation } from './run-presentation.ts';
import type { RunParts } from './values.ts';

/** Runs a command and prints its result, or the requests of its dry run. */
export async function runCommand(command: AnyCommand, values: Readonly<Record<string, unknown>>, given: RunParts) {
  const { host, messages } = given;
  const presentation = presentationOf(command, given.options, host);
  const { options, result, plan, checkFields } = presentation;
  const running = { ...given, options };
  const filter = await filterOf(running);
  if (options.sandbox && host.system.env['CHATELAINE_SANDBOX'])
    messages.warn('CHATELAINE_SANDBOX is set: running against the embedded sandbox');
  if (options.dry_run && !options.typed.has('dry_run')) messages.warn('CHATELAINE_DRY_RUN is set: nothing is changed');
  if (options.sandbox && options.typed.has('profile')) throw usage('--sandbox and --profile exclude each other');
  if (command.show?.others !== 'kept') checkFields([]);
  const isWrite = command.dryRun?.includes('requests') === true && !options.dry_run && values['method'] !== 'GET';
  const session = openSession(running, command, checkFields, isWrite ? 'write' : 'read');
  // The signal does not cut the rows of a write: the run ends them itself, and says what is left.
  const turn = openTurn(isWrite ? undefined : given.signal, host.clock);
  const asides: string[] = [];
  const printed = {
    say: messages.say,
    aside: (line: string) => void asides.push(line),
    zoneMark: zoneMarkOf(running),
    filter,
    turn,
    conclusions: session.concluded,
  };
  const print = printer(command, { ...presentation, result: { ...result, ...printed } }, running);
  try {
    const outcome = command.run(values, session.context);
    await (plan ? printDry(outcome, print, { ...plan, ...printed }, session.planned, running) : print(outcome));
    if (options.dry_run && options.verbose && !plan)
      for (const { request, shown } of session.planned)
        messages.say(Object.values({ ...request, url: shown }).join(' '));
    await session.finish();
  } catch (cause) {
    throw session.hasWritten() ? afterWrites(cause) : cause;
  } finally {
    for (const line of session.conclusions()) messages.say(line);
    for (const line of asides) messages.say(line);
    await session.close();
  }
}

/** The exit codes of these kinds say that nothing was changed. */
const withoutWrites: ReadonlySet<FailureKind> = new Set(['usage', 'config']);

function afterWrites(cause: unknown): unknown {
  if (!(cause instanceof Failure) || !withoutWrites.has(cause.kind)) return cause;
  const { hint = 'Fix this, then run the same command again: it continues.' } = cause.details;
  return cause.as('incomplete', `after requests that change something: ${cause.message}`, { hint });
}

/** The mark behind local times: none, or Z for UTC, after a warning that the time zone is not known. */
function zoneMarkOf({ host, messages }: RunParts): () => string {
  let mark: string | undefined;
  return () => {
    if (mark === undefined && !isZoneKnown(host.system.env))
      messages.warn(`TZ names no time zone ('${host.system.env['TZ'] ?? ''}'): times are shown in UTC, marked Z`);
    return (mark ??= isZoneKnown(host.system.env) ? '' : 'Z');
  };
}

async function filterOf({ options, host, signal }: RunParts): Promise<JsonFilter | undefined> {
  if (options.jq === undefined) return undefined;
  const { openFilter } = await import('../output/jq.ts');
  return openFilter(options.jq, { signal, alarm: host.alarm, env: host.system.env });
}

/** Yields to the event loop if its last turn is so long ago that a user would notice; ends the rows on the signal. */
function openTurn(signal: AbortSignal | undefined, { elapsed }: Clock): () => Promise<void> | undefined {
  let last = elapsed();
  const turn = async (): Promise<void> => {
    await nextTurn();
    last = elapsed();
    if (signal?.aborted) throw incompleteWith('not all rows were written', abortReason(signal));
  };
  return () => (elapsed() - last > moment ? turn() : undefined);
}

const moment = 100;

function printer(command: AnyCommand, looks: Pick<RunPresentation, 'result' | 'open' | 'noFields'>, running: RunParts) {
  const { show, dryRun, result } = command;
  const { result: given, open, noFields } = looks;
  const presentation = { ...given, isWrite: dryRun?.includes('requests') === true && !given.isText };
  const sink = sinkOf(running);
  const lacking = (row: unknown, names: readonly string[]): readonly string[] =>
    names.filter((name) => cellsOf(row, [name], show)[0] === undefined);
  const lacks = (missing: readonly string[], row: unknown): Failure =>
    noFields(missing, [...new Set([...namesOf(show ?? {}), ...Object.keys(asObject(row, show) ?? {})])]);
  const printOne = async (one: unknown): Promise<void> => {
    const missing = lacking(one, open);
    if (missing.length === 0) return writeResult({ one }, presentation, sink);
    const failure = lacks(missing, one);
    if (dryRun === undefined) throw failure;
    // A write's row may hold a key that exists nowhere else.
    running.messages.warn(`${failure.message}; the complete result is shown`);
    return writeResult({ one }, { ...presentation, fields: undefined }, sink);
  };
  /** Holds back the rows of a read until each requested field was in one of them. */
  const checked = async function* (rows: AsyncIterable<unknown>): AsyncGenerator {
    const heldBack: unknown[] = [];
    let missing = open;
    for await (const row of singly(rows)) {
      if (missing.length > 0) {
        heldBack.push(row);
        missing = lacking(row, missing);
        if (missing.length === 0) yield* heldBack.splice(0);
      } else yield row;
    }
    if (heldBack.length > 0) throw lacks(missing, heldBack[0]);
  };
  return async (outcome: unknown) => {
    if (!isRows(outcome)) return printOne(await outcome);
    if (result !== 'one')
      return writeResult({ many: open.length > 0 ? checked(outcome) : outcome }, presentation, sink);
    for await (const row of outcome) await printOne(row);
  };
}

/** Standard output; on a terminal the line of progress is erased first, or a row would continue it. */
function sinkOf({ host, messages, signal }: RunParts): Sink {
  const sink = streamSink(host.stdout, host.alarm, signal);
  if (!host.stdout.isTTY) return sink;
  return {
    write(piece) {
      messages.status(undefined);
      return sink.write(piece);
    },
  };
}

function isRows(outcome: unknown): outcome is AsyncIterable<unknown> {
  return typeof outcome === 'object' && outcome !== null && Symbol.asyncIterator in outcome;
}

/** Prints the requests that would have been sent, or the command's own result where there are none. */
async function printDry(
  outcome: unknown,
  print: (outcome: unknown) => Promise<void>,
  plan: Presentation,
  planned: readonly PlannedCall[],
  running: RunParts,
): Promise<void> {
  const { value, error } = await collectRows(outcome);
  if (plan.isText || planned.length > 0) {
    const rows = planRows(plan, planned, running);
    // Several requests are a line each; a single one is a record on a terminal.
    const isRecord = plan.terminal && plan.sentence !== undefined && rows.length === 1;
    const printed = isRecord ? { ...plan, sentence: undefined } : plan;
    await writeResult({ one: isRecord ? rows[0] : rows }, printed, sinkOf(running));
  } else if (error === undefined) await print(value);
  if (error !== undefined && !(error instanceof Planned)) throw error;
}

async function collectRows(outcome: unknown): Promise<{ value: unknown; error?: Error }> {
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

/** The exact requests without passwords, or their lines of curl that bash can run. */
function planRows({ isText }: Presentation, planned: readonly PlannedCall[], { messages, redactor }: RunParts) {
  // Each value is redacted alone, since a password may be a word or a character of the JSON itself.
  const redact = (texts: object) =>
    Object.entries<string>({ ...texts }).map(([name, text]) => [name, redactor.clean(text)] as const);
  if (!isText) return planned.map(({ request }) => Object.fromEntries<string>(redact(request)));
  const passwords = [...new Set(planned.flatMap((call) => call.passwords))];
  if (planned.length === 0) messages.say('no request would be sent');
  else if (passwords.length > 0)
    messages.say(`set first: ${passwords.map((name) => `read -rs ${name}; export ${name}`).join('; ')}`);
  return [
    ...new Set(planned.flatMap(({ setup }) => setup)),
    // These lines stop at an unset variable: inside <( ) bash would go on with an empty password.
    ...passwords.map((name) => `: "\${${name}:?}"`),
    ...planned.map(({ curl }) => redactor.clean(curl)),
  ].map((line) => `${line}\n`);
}
