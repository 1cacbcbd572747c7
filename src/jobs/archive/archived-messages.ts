import { nextTurn } from '../../core/outside.ts';
import { Failure, usage } from '../../core/failure.ts';
import { countBefore } from '../../core/halving.ts';
import { commandLine } from '../../core/shell-word.ts';
import type { Archive } from '../../store/archive/archive.ts';
import { readPart, type ArchivedMessage, type ArchiveForm, type ArchivePart } from '../../store/archive/part.ts';
import type { JsonObject } from '../../core/json.ts';
import type { NarrowTerm } from '../../schema/narrow.ts';
import { isSameName } from '../../schema/topic.ts';

/** A part of which an export takes some messages: `chosen` are their ids, and number, first and last are of them. */
export interface ChosenPart extends ArchivePart {
  readonly chosen?: readonly number[];
}

export type ChosenArchive = Archive & { readonly parts: readonly ChosenPart[] };

/** Every message in one form, ascending; holds one part. @throws Failure incomplete for a damaged or missing part */
export async function* archivedMessages(
  archive: ChosenArchive,
  form: ArchiveForm,
  signal?: AbortSignal,
): AsyncGenerator<ArchivedMessage> {
  for (const part of archive.parts) {
    const { messages } = await wholePart(archive, part, form);
    yield* heeding(signal, chosenOf(part, form, messages), sizeOf);
  }
}

/** The same messages as lines of JSON, byte for byte as they were archived. @throws as archivedMessages */
export async function* archivedLines(
  archive: ChosenArchive,
  form: ArchiveForm,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for (const part of archive.parts) {
    const { lines } = await wholePart(archive, part, form);
    for await (const line of heeding(signal, chosenOf(part, form, lines), ({ length }) => length)) yield `${line}\n`;
  }
}

/** Of the items of a whole part, one for each message, those that are chosen. */
function* chosenOf<T>(part: ChosenPart, form: ArchiveForm, items: Iterable<T>): Generator<T> {
  if (!part.chosen) {
    yield* items;
    return;
  }
  const [chosen, absent] = [new Set(part.chosen), new Set(part[form]?.absent)];
  const ids = part.ids.filter((id) => !absent.has(id)).values();
  for (const item of items) if (chosen.has(Number(ids.next().value))) yield item;
}

/** Characters between two turns of the event loop: without a turn, no signal is heard and no deadline passes. */
const portion = 50_000;

/** The same items; the event loop turns between them. @throws the reason of the signal soon after it aborts */
export async function* heeding<T>(
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

export function sizeOf({ content }: ArchivedMessage): number {
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

export function holdsMessage({ parts }: Pick<ChosenArchive, 'parts'>, id: number): boolean {
  const part = parts[countBefore(parts, ({ first }) => first <= id) - 1];
  const ids = part?.chosen ?? part?.ids ?? [];
  return ids[countBefore(ids, (one) => one < id)] === id;
}

/** The chosen messages alone, but all at a damaged part, where the export ends. @throws as `isChosen` */
export async function chosenArchive(
  archive: Archive,
  form: ArchiveForm,
  isChosen: (message: JsonObject) => boolean,
  signal: AbortSignal,
): Promise<ChosenArchive> {
  const parts: ChosenPart[] = [];
  for (const part of archive.parts) {
    const read = await readPart(archive.folder, part, form);
    const chosen: number[] = [];
    for await (const message of heeding(signal, read.problem === undefined ? read.messages : [], sizeOf))
      if (isChosen(message)) chosen.push(message.id);
    const [first, last] = [chosen[0], chosen.at(-1)];
    if (read.problem !== undefined) parts.push(part);
    else if (first !== undefined && last !== undefined)
      parts.push({ ...part, chosen, first, last, count: chosen.length });
  }
  return { ...archive, parts };
}

/** Of archives that overlap each message is in the last one alone. */
export function withoutRepeated(archives: readonly ChosenArchive[], form: ArchiveForm): readonly ChosenArchive[] {
  const seen = new Set<number>();
  const lastFirst = archives.toReversed().map((archive): ChosenArchive => {
    return { ...archive, parts: archive.parts.flatMap((part) => unseenOf(part, form, seen)) };
  });
  return lastFirst.reverse();
}

function unseenOf(part: ChosenPart, form: ArchiveForm, seen: Set<number>): readonly ChosenPart[] {
  const absent = new Set(part[form]?.absent);
  const ids = (part.chosen ?? part.ids).filter((id) => !absent.has(id));
  const chosen = ids.filter((id) => !seen.has(id));
  for (const id of chosen) seen.add(id);
  const [first, last] = [chosen[0], chosen.at(-1)];
  if (chosen.length === ids.length) return [part];
  return first === undefined || last === undefined ? [] : [{ ...part, chosen, first, last, count: chosen.length }];
}

/** Whether a message matches a term. @throws Failure usage for a term that an archive cannot tell */
export function matches(message: JsonObject, { operator, operand, negated }: NarrowTerm): boolean {
  const { stream_id, display_recipient, subject, sender_id, sender_email, sender_full_name } = message;
  const fields: Partial<Record<string, readonly unknown[]>> = {
    channel: [stream_id, display_recipient],
    topic: [Array.isArray(display_recipient) ? undefined : subject],
    sender: [sender_id, sender_email, sender_full_name],
  };
  const values = fields[operator];
  if (!values) throw usage(`an archive is selected by channel, topic and sender: '${operator}' is none of them`);
  const isSame = (value: unknown): boolean =>
    typeof operand === 'number' ? value === operand : typeof value === 'string' && isSameName(value, String(operand));
  return values.some(isSame) !== (negated ?? false);
}
