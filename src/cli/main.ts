import { Failure, usage } from '../core/failure.ts';
import { guard, readerGone, streamSink } from '../output/sink.ts';
import { checkRules } from '../schema/usage-rules.ts';
import { globalOptions, refuseTypos } from '../commands/environment.ts';
import { formatDuration, type Milliseconds } from '../core/duration.ts';
import { fillFromInput } from './input.ts';
import { completing, openMessages, openRedactor, redact } from './messages.ts';
import { partLine, readCommandLine, type CommandRequest } from './program.ts';
import { keyHider } from './typed.ts';
import { readable, readGlobals, readValues, typedLine, type RunParts } from './values.ts';
import type { Host } from './host.ts';

/** Reads the command line, runs the command, prints the result and returns the exit code. The last catch of all. */
export async function main(argv: readonly string[], host: Host): Promise<number> {
  const line = openLine(argv, host);
  try {
    // Node reads U+FFFD in place of bytes that are not UTF-8: the word would then name somebody else.
    const word = argv.find((text) => text.includes('\ufffd'));
    if (word !== undefined) throw usage(`'${word}' is not valid UTF-8`, 'Set the terminal to UTF-8, or use an id.');
    const request = await readCommandLine(argv, host);
    if ('text' in request) await guard(streamSink(host.stdout, host.alarm, host.interrupt)).write(request.text);
    else await perform(request, line, host);
    return 0;
  } catch (cause) {
    return cause === readerGone ? 0 : (await report(cause, line)).exit;
  }
}

/** A line whose global options are read as far as possible, which is enough to report any failure of it. */
type OpenLine = ReturnType<typeof openLine>;

function openLine(argv: readonly string[], host: Host) {
  const { env } = host.system;
  const options = readGlobals(partLine(argv, globalOptions).typed, env, {}, readable);
  const redactor = openRedactor();
  const complete = completing({
    profile: options.typed.has('profile') ? options.profile : undefined,
    sandbox: options.typed.has('sandbox'),
  });
  const messages = openMessages(host, options, redactor, complete);
  // The words of the command line and, later, of standard input: a key among them is not repeated.
  return { options, redactor, complete, messages, typed: { words: [...argv], names: new Set<string>(), env } };
}

async function perform(
  request: CommandRequest,
  { messages, redactor, typed: known }: OpenLine,
  host: Host,
): Promise<void> {
  const { command, options } = request;
  const { signal, release } = openEnding(host, options.deadline);
  try {
    const { words, typed } = await fillFromInput(request, { host, messages, signal });
    // The empty word parts them from the line, whose last word may be an option without a value.
    known.words.push('', ...Object.values(words).flat().map(String), ...typed.map(({ text = '' }) => text));
    const given = [...Object.entries(words), ...typed.map(({ flag, text }) => [flag, text] as const)];
    for (const text of given.flatMap(([name, value]) => (ofNames.test(name) ? [value].flat() : [])))
      known.names.add(String(text));
    const values = readValues(command, words, typed);
    checkRules(command.rules ?? [], { ...globalOptions, ...command.options }, { ...options, ...values });
    // doctor reports typos as a part of its result.
    if (command.name !== 'doctor') refuseTypos(host.system.env, messages.warn);
    // This is loaded late, because help needs none of it.
    const { runCommand } = await import('./run.ts');
    const again: RunParts['again'] = (changed, words) =>
      typedLine(command.name, words ? { ...request, words: { own: words } } : request, changed);
    await runCommand(command, values, { host, signal, options, messages, redactor, typed: known, again });
  } finally {
    release();
  }
}

/** Arguments and options that hold a user, a topic or a channel. */
const ofNames = /^((new_)?remote[_-]user|send-again|match|sender|dm(-including)?|(not-)?channel|topic|confirm)$/;

async function report(cause: unknown, { messages, complete, redactor, typed }: OpenLine): Promise<Failure> {
  const hide = keyHider(typed);
  const raw = cause instanceof Failure ? cause : bug(cause);
  const { kind, message, details } = redact(raw, (text) => hide(redactor.clean(text)));
  const failure = new Failure(kind, message, { ...details, hint: details.hint && complete(details.hint) });
  if (failure.kind !== 'differences') await messages.fail(failure);
  return failure;
}

function bug(cause: unknown): Failure {
  const what = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  // Node compiles its parser of HTTP at the first request, which takes a file and memory.
  const [limit] = /\b(?:EMFILE|ENFILE|ENOMEM)\b|WebAssembly\.\w+|out of memory/i.exec(what) ?? [];
  if (limit !== undefined)
    return new Failure('unavailable', `this process reached a system limit (${limit})`, {
      hint: 'Raise the limits on open files (ulimit -n) and memory (ulimit -v), then run the same command again.',
      cause,
    });
  return new Failure('internal', `this is a bug in chatelaine: ${what}`, {
    hint: 'Please report it with the command that you ran.',
    cause,
  });
}

/**
 * Opens what ends a command early: Ctrl-C, SIGTERM and the deadline abort `signal` with a Failure. `release` cancels
 * the deadline's timer, for which the process would wait.
 */
function openEnding({ interrupt, alarm }: Host, deadline: Milliseconds | undefined) {
  if (deadline === undefined) return { signal: interrupt, release: () => undefined };
  const late = new AbortController();
  const reached = new Failure('unavailable', `the deadline of ${formatDuration(deadline)} was reached`, {
    hint: 'Run the command again, or increase --deadline.',
  });
  const release = alarm(deadline, () => late.abort(reached));
  const signal = AbortSignal.any([interrupt, late.signal]);
  interrupt.addEventListener('again', (event) => {
    if (!signal.dispatchEvent(new Event('again', { cancelable: true }))) event.preventDefault();
  });
  return { signal, release };
}
