import { nextTurn } from '../../core/outside.ts';
import { Failure, usage } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import type { Archive } from '../../store/archive/archive.ts';
import {
  hasId,
  lastIdOf,
  readPart,
  type ArchivedMessage,
  type ArchiveForm,
  type ArchivePart,
} from '../../store/archive/part.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import type { NarrowTerm } from '../../schema/narrow.ts';
import { foldTopic, isSameName } from '../../schema/topic.ts';
import { channelsIn } from '../messages/selection.ts';

/** A part of which an export takes some messages: `chosen` are their ids, and number, first and last are of them. */
export interface ChosenPart extends ArchivePart {
  readonly chosen?: readonly number[];
}

export type ChosenArchive = Archive & {
  readonly parts: readonly ChosenPart[];
  /** Their messages are shown under the last name of their channel. */
  readonly names?: ChannelNames;
};

/** Every name that a channel had, the last one last, by its id. */
export type ChannelNames = ReadonlyMap<unknown, readonly string[]>;

/** `last`: of an archive of one channel its last name alone, for which one part is read. Damaged parts tell none. */
export async function channelNames(
  archives: readonly Archive[],
  form: ArchiveForm,
  which: 'all' | 'last',
  signal: AbortSignal,
): Promise<ChannelNames> {
  const newest = new Map<unknown, Map<string, number>>();
  for (const archive of archives)
    for (const part of which === 'last' && isOfOneChannel(archive) ? newestOf(archive) : archive.parts) {
      const read = await readPart(archive.folder, part, form);
      for await (const { id, ...message } of heeding(signal, read.problem === undefined ? read.messages : [], sizeOf)) {
        const { stream_id, display_recipient: name } = message;
        const ids = newest.get(stream_id) ?? new Map<string, number>();
        if (typeof name === 'string') newest.set(stream_id, ids.set(name, Math.max(ids.get(name) ?? 0, id)));
      }
    }
  return new Map(
    [...newest].map(([id, ids]) => [id, [...ids].sort(([, one], [, other]) => one - other).map(([name]) => name)]),
  );
}

function isOfOneChannel({ head: { selection } }: Archive): boolean {
  const narrow: unknown = isObject(selection) ? selection['narrow'] : undefined;
  const channels = Array.isArray(narrow) ? channelsIn(narrow) : [];
  return channels.length === 1 && typeof channels[0] === 'number';
}

function newestOf({ parts }: Archive): readonly ArchivePart[] {
  return parts.filter(({ last }) => last === lastIdOf(parts));
}

/** Every message in one form, ascending; holds a part, and what is late in it. @throws Failure incomplete for damage */
export async function* archivedMessages(
  archive: ChosenArchive,
  form: ArchiveForm,
  signal?: AbortSignal,
): AsyncGenerator<ArchivedMessage> {
  for (const span of spansOf(archive.parts)) {
    const found = await itemsOf(archive, span, form, ({ messages }) => messages);
    for await (const message of heeding(signal, found, sizeOf)) {
      const name = archive.names?.get(message['stream_id'])?.at(-1);
      yield name === undefined || name === message['display_recipient']
        ? message
        : { ...message, display_recipient: name };
    }
  }
}

/** The same messages as lines of JSON, byte for byte as they were archived. @throws as archivedMessages */
export async function* archivedLines(
  archive: ChosenArchive,
  form: ArchiveForm,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for (const span of spansOf(archive.parts)) {
    const found = await itemsOf(archive, span, form, ({ lines }) => lines);
    for await (const line of heeding(signal, found, ({ length }) => length)) yield `${line}\n`;
  }
}

/** Each part, with what came late below its end: the spans ascend, and their parts overlap. */
export function spansOf(parts: readonly ChosenPart[]): ChosenPart[][] {
  const [own, late] = [parts.filter((part) => !part.late), parts.filter((part) => part.late)];
  if (late.length === 0) return own.map((part) => [part]);
  if (own.length === 0) return [late];
  const ends = own.map(({ last }, index) => (index === own.length - 1 ? Infinity : last));
  return own.map((part, index) => {
    const [below, end] = [ends[index - 1] ?? -Infinity, ends[index] ?? Infinity];
    const isInside = (id: number): boolean => below < id && id <= end;
    return [part, ...late.flatMap((one) => withChosen(one, (one.chosen ?? one.ids).filter(isInside)))];
  });
}

/** The part with those of its messages alone; none where they are none. */
function withChosen(part: ChosenPart, chosen: readonly number[]): ChosenPart[] {
  const [first, last] = [chosen[0], chosen.at(-1)];
  return first === undefined || last === undefined ? [] : [{ ...part, chosen, first, last, count: chosen.length }];
}

async function itemsOf<T>(
  archive: Archive,
  span: readonly ChosenPart[],
  form: ArchiveForm,
  itemsIn: (read: Awaited<ReturnType<typeof wholePart>>) => Iterable<T>,
): Promise<Iterable<T>> {
  const lists: Iterable<Numbered<T>>[] = [];
  for (const part of span) lists.push(chosenOf(part, form, itemsIn(await wholePart(archive, part, form))));
  return merge(lists);
}

type Numbered<T> = readonly [id: number, item: T];

/** The items of ascending lists in the order of their ids. */
function* merge<T>(lists: readonly Iterable<Numbered<T>>[]): Generator<T> {
  const heads = lists.map((list) => {
    const items = list[Symbol.iterator]();
    return { items, next: items.next() };
  });
  for (;;) {
    let least: { readonly head: (typeof heads)[number]; readonly item: Numbered<T> } | undefined;
    for (const head of heads)
      if (head.next.done !== true && (!least || head.next.value[0] < least.item[0]))
        least = { head, item: head.next.value };
    if (!least) return;
    yield least.item[1];
    least.head.next = least.head.items.next();
  }
}

/** Of the items of a whole part, one for each message, those that are chosen. */
function* chosenOf<T>(part: ChosenPart, form: ArchiveForm, items: Iterable<T>): Generator<Numbered<T>> {
  const [chosen, absent] = [part.chosen && new Set(part.chosen), new Set(part[form]?.absent)];
  const ids = part.ids.filter((one) => !absent.has(one)).values();
  for (const item of items) {
    const id = Number(ids.next().value);
    if (!chosen || chosen.has(id)) yield [id, item];
  }
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

export function holdsMessage({ parts }: { readonly parts: readonly ChosenPart[] }, id: number): boolean {
  return parts.some(({ first, last, ids, chosen = ids }) => hasId({ first, last, ids: chosen }, id));
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
    parts.push(...(read.problem === undefined ? withChosen(part, chosen) : [part]));
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
  return chosen.length === ids.length ? [part] : withChosen(part, chosen);
}

/** Whether a message matches a term. @throws Failure usage for a term that an archive cannot tell */
export function matches(
  message: JsonObject,
  { operator, operand, negated }: NarrowTerm,
  names?: ChannelNames,
): boolean {
  const { stream_id, display_recipient, subject, sender_id, sender_email, sender_full_name } = message;
  const fields: Partial<Record<string, readonly unknown[]>> = {
    channel: [stream_id, ...(names?.get(stream_id) ?? [display_recipient])],
    topic: [Array.isArray(display_recipient) ? undefined : subject],
    sender: [sender_id, sender_email, sender_full_name],
  };
  const values = fields[operator];
  if (!values) throw usage(`an archive is selected by channel, topic and sender: '${operator}' is none of them`);
  const isName = (value: string): boolean =>
    operator === 'topic' ? foldTopic(value) === foldTopic(String(operand)) : isSameName(value, String(operand));
  const isSame = (value: unknown): boolean =>
    typeof operand === 'number' ? value === operand : typeof value === 'string' && isName(value);
  return values.some(isSame) !== (negated ?? false);
}
