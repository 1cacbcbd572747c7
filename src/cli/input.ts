import type { GlobalValues } from '../commands/context.ts';
import { Failure, labelled, systemReason, usage } from '../core/failure.ts';
import { decodeText, readFileBytes, readStartText, readStreamBytes, type ReadLimits } from '../core/read.ts';
import { namesInList } from '../core/tsv.ts';
import { flagOf, type Field } from '../schema/field.ts';
import type { CommandRequest } from './program.ts';
import type { RunParts, TypedOption } from './values.ts';
import type { Host } from './host.ts';

type InputParts = Pick<RunParts, 'host' | 'signal' | 'messages'>;

/** True if a person can answer: at a terminal, in the foreground. A CI may have a terminal with nobody at it. */
export function isInteractive({ stderr, system, terminal }: Host, { input }: GlobalValues): boolean {
  const isCi = !/^(false|0|no)?$/i.test(system.env['CI'] ?? '');
  return input !== false && !isCi && stderr.isTTY === true && terminal.isForeground();
}

/** A string of Node holds half a gigabyte, and what is parsed becomes several times larger. */
const maxBytes = 256 * 1024 * 1024;
const maxLineBytes = 64 * 1024;

/** The bytes of a file; `-` is standard input. @throws Failure usage, or the signal's reason */
export async function readBytes(reading: InputParts, file: string): Promise<Buffer> {
  if (file !== '-') return readable(file, reading, (limits) => readFileBytes(file, limits));
  announce(reading);
  return readable(standardInput, reading, (limits) => readStreamBytes(reading.host.stdin, limits));
}

/** The text of a file; `-` is standard input. @throws as readBytes, and Failure usage for what is not UTF-8 */
export async function readInputText(reading: InputParts, file: string): Promise<string> {
  const bytes = await readBytes(reading, file);
  return labelled(file === '-' ? standardInput : file, () => decodeText(bytes));
}

/** The first line of standard input; what follows is not read. @throws Failure usage, or the signal's reason */
export async function readInputLine(reading: InputParts): Promise<string> {
  announce(reading);
  const text = await readable(standardInput, reading, ({ signal }) =>
    readStartText(reading.host.stdin, { signal, maxBytes: maxLineBytes }),
  );
  return text.replace(/\r?\n[^]*$/, '');
}

/**
 * Replaces arguments written as `-` by the lines of standard input, and that of `--remote-user -` by its one line. A
 * file named `-` is left to the command.
 * @throws Failure usage where two ask for it, it is empty, or one word has several lines; the signal's reason
 */
export async function fillFromInput(request: CommandRequest, reading: InputParts) {
  const { words, typed, command } = request;
  const args = Object.entries(words).filter(([name, word]) => asksForInput(command.args?.[name], word));
  const stdinOptions = Object.entries<Field>(command.options ?? {}).filter(([, { stdin }]) => stdin);
  const flags = stdinOptions
    .map((row) => flagOf(...row))
    .filter((one) => typed.some(({ flag, text }) => flag === one && text === '-'));
  const [name, other] = [...args.map(([argument]) => argument), ...flags.map((flag) => `--${flag}`)];
  if (name === undefined) return request;
  if (other !== undefined) throw usage('only one argument can come from standard input');
  const text = await readInputText(reading, '-');
  const lines = text.split(/\r?\n/).filter((one) => one !== '');
  const column = name.replace(/^--/, '').replaceAll('-', '_');
  // Where two readings are possible, the command looks up which topic, view or snippet exists; users it cannot list.
  const unclear = ['topic', 'fragment', 'snippet'].includes(column) ? 'keep' : 'refuse';
  const names = labelled(name, () => namesInList(lines, [column, ...(columnsOf[column] ?? [])], unclear));
  const [line = '', ...more] = names;
  if (line === '') throw usage(`${name}: standard input is empty`);
  const word = words[name];
  if (!Array.isArray(word) && more.length > 0)
    throw usage(`${name}: standard input has ${more.length + 1} lines`, 'Give one of them.');
  const isFilled = ({ flag, text }: TypedOption): boolean => flags.includes(flag) && text === '-';
  const filled = Array.isArray(word)
    ? word.flatMap((item: unknown) => (item === '-' ? [line, ...more] : [item]))
    : line;
  return {
    words: args.length > 0 ? { ...words, [name]: filled } : words,
    typed: typed.map((one) => (isFilled(one) ? { ...one, text: line } : one)),
  };
}

/** The other names that the columns of results have for the values of an argument. */
const columnsOf: Readonly<Record<string, readonly string[]>> = {
  channel: ['stream_id', 'name'],
  fragment: ['name'],
  name: ['profile'],
  snippet: ['id', 'saved_snippet_id', 'title'],
  topic: ['topic_name'],
};

function asksForInput(field: Field | undefined, word: unknown): boolean {
  const isFile = field?.kind === 'string' && field.file === true;
  return !isFile && (word === '-' || (Array.isArray(word) && word.includes('-')));
}

const standardInput = 'standard input';

/** Says that standard input is read: a terminal shows nothing by itself, as if the program hung. */
function announce({ host, messages }: InputParts): void {
  if (host.stdin.isTTY === true) messages.say('Reading standard input; end with Ctrl-D');
}

async function readable<T>(source: string, { signal }: InputParts, read: (limits: ReadLimits) => Promise<T>) {
  try {
    return await read({ signal, maxBytes });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (cause instanceof Failure) throw cause.as(cause.kind, `${source}: ${cause.message}`);
    if (cause instanceof Error && cause.message.startsWith('EBUSY'))
      throw new Failure('unavailable', `cannot read ${source}: another program has it open`, {
        hint: 'Close it there, then run the same command again.',
        cause,
      });
    throw usage(`cannot read ${source}: ${systemReason(cause)}`, 'Give a file that exists, or - for standard input.');
  }
}
