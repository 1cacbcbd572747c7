import { Failure } from '../core/failure.ts';
import { rowOf } from '../output/formats.ts';
import { guarded, readerGone, streamSink } from '../output/sink.ts';
import { hasColor } from '../output/style.ts';
import { globalOptions, refuseSlips, twinOf } from '../commands/environment.ts';
import { variable } from '../core/system.ts';
import { formatDuration, type Milliseconds } from '../core/duration.ts';
import { checkRules } from '../schema/usage-rules.ts';
import { fillFromInput } from './input.ts';
import { completing, openMessages, type Completing, type Messages, type MessageStyle } from './messages.ts';
import { readCommandLine, type CommandRequest } from './program.ts';
import { openRedactor, type Redactor } from './redactor.ts';
import type { Summary } from './summary.ts';
import type { Typed } from './typed.ts';
import { readValues, typedLine, type Options, type Running } from './values.ts';
import type { Host } from './host.ts';

/** Reads the command line, runs the command, prints the result; the exit code. The only catch of last resort. */
export async function main(argv: readonly string[], host: Host): Promise<number> {
  const redactor = openRedactor();
  const complete = completing({
    profile: typedValues(argv, ['--profile']).at(-1),
    sandbox: optionsIn(argv).includes('--sandbox'),
  });
  const started: Started = {
    redactor,
    complete,
    messages: openMessages(host, guessedStyle(argv, host), redactor, complete),
    given: [...argv],
    end: (exit) => exit,
    release: () => undefined,
  };
  try {
    const request = await readCommandLine(argv, host).catch((cause: unknown) => refuse(cause, started, host));
    if ('command' in request) {
      const exit = await perform(request, started, host);
      return started.end(exit);
    }
    await guarded(streamSink(host.stdout, host.alarm, host.interrupt)).write(request.text);
    return 0;
  } catch (cause) {
    if (cause === readerGone) return started.end(0);
    return await report(cause, started, typedIn(started, host));
  } finally {
    started.release();
  }
}

/** What a failure needs to be reported, as far as the run has come. */
interface Started {
  readonly redactor: Redactor;
  readonly complete: Completing;
  messages: Messages;
  /** All that was typed, on the command line or on standard input: a key among it is not repeated. */
  readonly given: unknown[];
  /** Writes the summary, if there is one; the exit code. */
  end: (exit: number, failure?: Failure) => number;
  release: () => void;
}

/** A line that cannot be read writes its summary too: else an earlier run's would be taken for it. */
async function refuse(cause: unknown, started: Started, host: Host): Promise<never> {
  const { words, env } = typedIn(started, host);
  const path = typedValues(words, ['--summary']).at(-1) ?? variable(env, twinOf('summary'));
  try {
    if (path !== undefined) started.end = (await openedSummary(path, null, started)).end;
  } catch (unwritable) {
    if (!(unwritable instanceof Failure)) throw unwritable;
    const { keyHider } = await import('./typed.ts');
    started.messages.warn(keyHider({ words, env })(unwritable.message));
  }
  throw cause;
}

async function perform(request: CommandRequest, started: Started, host: Host): Promise<number> {
  const { redactor, complete } = started;
  // A command may have an --output of its own, which is not among the global options.
  const output = request.options.output ?? request.typed.findLast(({ flag }) => flag === 'output')?.text;
  const messages = openMessages(host, messageStyle({ ...request.options, output }, host), redactor, complete);
  const { signal, release } = openEnding(host, request.options.deadline);
  Object.assign(started, { messages, release });
  const { command, options } = request;
  // Opened before anything else is done.
  const summary =
    options.summary === undefined ? undefined : await openedSummary(options.summary, command.name, started);
  if (summary) started.end = summary.end;
  const { words, typed } = await fillFromInput(request, { host, messages, signal });
  // No option is before the first of them.
  started.given.push('', ...Object.values(words).flat(), ...typed.map(({ text = '' }) => text));
  const values = readValues(command, words, typed);
  checkRules(command.rules ?? [], { ...globalOptions, ...command.options }, { ...options, ...values });
  // doctor names them.
  if (command.name !== 'doctor') refuseSlips(host.system.env, messages.warn);
  // Help needs nothing of what runs a command.
  const { runCommand } = await import('./run.ts');
  const again: Running['again'] = (...change) => typedLine(command.name, request, ...change);
  const running = { options, host, messages, redactor, typed: typedIn(started, host), summary, signal, again };
  return runCommand(command, values, running);
}

function typedIn({ given }: Started, { system }: Host): Typed {
  return { words: given.map(String), env: system.env };
}

/** @throws Failure where it cannot be written */
async function openedSummary(path: string, command: string | null, started: Started): Promise<Summary> {
  const { openSummary } = await import('./summary.ts');
  return openSummary(path, command, started);
}

async function report(cause: unknown, { messages, complete, end }: Started, typed: Typed): Promise<number> {
  const { withoutKeys } = await import('./typed.ts');
  const { kind, message, details } = withoutKeys(cause instanceof Failure ? cause : bug(cause), typed);
  const failure = new Failure(kind, message, { ...details, hint: details.hint && complete(details.hint) });
  if (failure.kind !== 'differences') await messages.fail(failure);
  return end(failure.exit, failure);
}

function bug(cause: unknown): Failure {
  const what = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return new Failure('internal', `this is a bug in chatelaine: ${what}`, {
    hint: 'Please report it with the command that you ran.',
    cause,
  });
}

/** How errors of the command line itself are written before its options are known. */
function guessedStyle(argv: readonly string[], host: Host): MessageStyle {
  const words = argv.map((word) => (word === '--json' ? '-ojson' : word));
  const output = typedValues(words, ['-o', '--output']).at(-1) ?? host.system.env['CHATELAINE_OUTPUT'];
  return messageStyle({ output }, host);
}

/** Behind `--` there are no options. */
function optionsIn(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end === -1 ? argv : argv.slice(0, end);
}

/** The values of an option in a line that may not be readable. */
function typedValues(argv: readonly string[], spellings: readonly string[]): readonly string[] {
  return optionsIn(argv).flatMap((word, index) => {
    if (spellings.includes(word)) return argv[index + 1] ?? [];
    const [, name = '', value] = /^(-[a-z]|--[a-z]+=)([^]+)$/.exec(word) ?? [];
    return value !== undefined && spellings.includes(name.replace('=', '')) ? value : [];
  });
}

/** The options that messages follow; `output` may be any text. */
type Styling = Partial<Pick<Options, 'quiet' | 'verbose' | 'trace' | 'color'>> & { readonly output: unknown };

function messageStyle({ output, quiet, verbose, trace, color }: Styling, host: Host): MessageStyle {
  return {
    json: rowOf(typeof output === 'string' ? output : undefined)?.isJson ?? false,
    quiet: quiet ?? false,
    verbose: (verbose ?? false) || (trace ?? false),
    get color() {
      return hasColor({ when: color, terminal: host.stderr.isTTY === true, env: host.system.env });
    },
  };
}

/**
 * What ends a command early: Ctrl-C, SIGTERM and the deadline abort `signal` with a Failure; `release` cancels the
 * deadline's timer, for which the process would wait.
 */
function openEnding({ interrupt, alarm }: Host, deadline: Milliseconds | undefined) {
  if (deadline === undefined) return { signal: interrupt, release: () => undefined };
  const late = new AbortController();
  const reached = new Failure('unavailable', `the deadline of ${formatDuration(deadline)} was reached`, {
    hint: 'Run the command again, or give --deadline more.',
  });
  const release = alarm(deadline, () => late.abort(reached));
  return { signal: AbortSignal.any([interrupt, late.signal]), release };
}
