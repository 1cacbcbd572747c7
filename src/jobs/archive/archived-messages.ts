import { nextTurn } from '../../core/outside.ts';
import { Failure } from '../../core/failure.ts';
import { countBefore } from '../../core/halving.ts';
import { commandLine } from '../../core/shell-word.ts';
import type { Archive } from '../../store/archive/archive.ts';
import { readPart, type ArchivedMessage, type ArchiveForm, type ArchivePart } from '../../store/archive/part.ts';

/**
 * Every message of an archive in one form, ascending; a part at a time is held, and compared with its hash first.
 * @throws Failure incomplete for a damaged or missing part; the reason of the signal soon after it aborts
 */
export async function* archivedMessages(
  archive: Archive,
  form: ArchiveForm,
  signal?: AbortSignal,
): AsyncGenerator<ArchivedMessage> {
  for (const part of archive.parts) yield* heeding(signal, (await wholePart(archive, part, form)).messages, sizeOf);
}

/** The same messages as lines of JSON, byte for byte as they were archived. @throws as archivedMessages */
export async function* archivedLines(archive: Archive, form: ArchiveForm, signal: AbortSignal): AsyncGenerator<string> {
  for (const part of archive.parts)
    for await (const line of heeding(signal, (await wholePart(archive, part, form)).lines, ({ length }) => length))
      yield `${line}\n`;
}

/** Characters between two turns of the event loop: without a turn, no signal is heard and no deadline passes. */
const portion = 50_000;

async function* heeding<T>(
  signal: AbortSignal | undefined,
  items: Iterable<T>,
  sizeOf: (item: T) => number,
): AsyncGenerator<T> {
  let size = portion;
  for (const item of items) {
    if (size >= portion) {
      await nextTurn();
      signal?.throwIfAborted();
      size = 0;
    }
    // An export writes about as many around the content of a message.
    size += sizeOf(item) + 500;
    yield item;
  }
}

function sizeOf({ content }: ArchivedMessage): number {
  return typeof content === 'string' ? content.length : 0;
}

async function wholePart(archive: Archive, part: ArchivePart, form: ArchiveForm) {
  const read = await readPart(archive.folder, part, form);
  if (read.problem === undefined) return read;
  throw new Failure('incomplete', `the export ends before part ${part.part}: ${form}: ${read.problem}`, {
    hint: `Run: ${commandLine('archive pull', [archive.folder])}`,
    retryable: false,
  });
}

/** Whether the archive holds a message. */
export function holdsMessage({ parts }: Pick<Archive, 'parts'>, id: number): boolean {
  const part = parts[countBefore(parts, ({ first }) => first <= id) - 1];
  return part !== undefined && part.ids[countBefore(part.ids, (one) => one < id)] === id;
}
