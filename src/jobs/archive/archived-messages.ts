import { nextTurn } from '../../core/outside.ts';
import { Failure, usage } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import type { Archive } from '../../store/archive/archive.ts';
import {
  hasId,
  idsOfFile,
  readPart,
  type ArchiveForm,
  type ArchivePart,
  type ReadMessage,
} from '../../store/archive/part.ts';
import type { JsonObject } from '../../core/json.ts';
import type { NarrowTerm } from '../../schema/narrow.ts';
import { foldName, isSameName, isSameTopic } from '../../schema/topic.ts';

/** A part, and the messages that an export takes of it: one or more, ascending. */
export interface ChosenPart {
  readonly part: ArchivePart;
  readonly ids: readonly number[];
}

export interface ChosenArchive extends Omit<Archive, 'parts'> {
  readonly parts: readonly ChosenPart[];
  /** Where messages are shown under the last name of their channel. */
  readonly names?: ChannelNames | undefined;
}

/** The names that mean each channel, and its last one, by which it is shown: with its id where another has the same. */
export type ChannelNames = ReadonlyMap<unknown, { readonly names: readonly string[]; readonly shown: string }>;

/** Damaged parts tell none. */
export async function channelNames(
  archives: readonly Archive[],
  form: ArchiveForm,
  signal: AbortSignal,
): Promise<ChannelNames> {
  const newest = new Map<unknown, Map<string, number>>();
  for (const { folder, parts } of archives)
    for (const part of parts)
      for await (const { message } of heeding(signal, (await readPart(folder, part, form)).messages)) {
        const { id, stream_id, display_recipient: name } = message;
        const ids = newest.get(stream_id) ?? new Map<string, number>();
        if (typeof name === 'string') newest.set(stream_id, ids.set(name, Math.max(ids.get(name) ?? 0, id)));
      }
  const last = [...newest].map(
    ([id, ids]) => [id, [...ids].sort(([, one], [, other]) => other - one)[0]?.[0]] as const,
  );
  const holders = new Map<string, unknown[]>();
  for (const [id, name = ''] of last) holders.set(foldName(name), [...(holders.get(foldName(name)) ?? []), id]);
  return new Map(
    last.map(([id, name = '']) => {
      const isOther = (one: string) => (holders.get(foldName(one)) ?? []).some((other) => other !== id);
      const names = [...(newest.get(id)?.keys() ?? [])].filter((one) => one === name || !isOther(one));
      return [id, { names, shown: isOther(name) ? `${name} (id ${String(id)})` : name }];
    }),
  );
}

/** All messages, or the chosen ones alone, but all of a damaged part, where the export ends. @throws as `isChosen` */
export async function chosenArchive(
  { parts, ...archive }: Archive,
  form: ArchiveForm,
  { isChosen, names, signal }: ArchiveChoice = {},
): Promise<ChosenArchive> {
  const chosen: ChosenPart[] = [];
  const places = recordedPlaces(archive.changes);
  for (const part of parts) {
    let ids = idsOfFile(part, form);
    const read = isChosen && (await readPart(archive.folder, part, form));
    if (read && read.problem === undefined) {
      ids = [];
      for await (const { message } of heeding(signal, read.messages))
        if (isChosen({ ...message, ...places.get(message.id) })) ids.push(message.id);
    }
    if (ids.length > 0) chosen.push({ part, ids });
  }
  return { ...archive, parts: chosen, names };
}

/** Where rechecks found messages that were moved: a channel or topic that is chosen means this place. */
export function recordedPlaces(changes: Archive['changes']): ReadonlyMap<number, JsonObject> {
  return new Map(
    changes.flatMap(({ id, change, message }) => {
      if (change !== 'moved') return [];
      const { stream_id, display_recipient, subject } = message;
      return [[id, { stream_id, display_recipient, subject }] as const];
    }),
  );
}

interface ArchiveChoice {
  readonly isChosen?: ((message: JsonObject) => boolean) | undefined;
  readonly names?: ChannelNames | undefined;
  readonly signal?: AbortSignal;
}

/** Of archives that overlap each message is in the last one alone. */
export function withoutRepeated(archives: readonly ChosenArchive[]): readonly ChosenArchive[] {
  const seen = new Set<number>();
  const lastFirst = archives.toReversed().map(({ parts, ...archive }) => {
    const unseen = parts.map(({ part, ids }) => ({ part, ids: ids.filter((id) => !seen.has(id) && seen.add(id)) }));
    return { ...archive, parts: unseen.filter(({ ids }) => ids.length > 0) };
  });
  return lastFirst.reverse();
}

export function holdsMessage({ parts }: { readonly parts: readonly Pick<ChosenPart, 'ids'>[] }, id: number): boolean {
  return parts.some(({ ids }) => hasId(ids, id));
}

/** Every message in one form, ascending; holds a part, and what is late in it. @throws Failure incomplete for damage */
export async function* archivedMessages(archive: ChosenArchive, form: ArchiveForm, signal?: AbortSignal) {
  for await (const { message } of archived(archive, form, signal)) {
    const name = archive.names?.get(message['stream_id'])?.shown ?? message['display_recipient'];
    yield name === message['display_recipient'] ? message : { ...message, display_recipient: name };
  }
}

/** The same messages as JSON, byte for byte as they were archived. @throws as archivedMessages */
export async function* archivedLines(archive: ChosenArchive, form: ArchiveForm, signal?: AbortSignal) {
  for await (const { line } of archived(archive, form, signal)) yield line;
}

async function* archived({ folder, parts }: ChosenArchive, form: ArchiveForm, signal: AbortSignal | undefined) {
  for (const span of spansOf(parts)) {
    const found: ReadMessage[] = [];
    for (const { part, ids } of span) {
      const { problem, messages } = await readPart(folder, part, form);
      if (problem !== undefined)
        throw new Failure('incomplete', `the export ends before part ${part.part}: ${form}: ${problem}`, {
          hint: `archive verify says what to do: ${commandLine('archive verify', [folder])}`,
          retryable: false,
        });
      const chosen = new Set(ids);
      found.push(...messages.filter(({ message }) => chosen.has(message.id)));
    }
    if (span.length > 1) found.sort((one, other) => one.message.id - other.message.id);
    yield* heeding(signal, found);
  }
}

/** Each part, with what came late below its end: the spans ascend, and their parts overlap. */
export function spansOf(parts: readonly ChosenPart[]): (readonly ChosenPart[])[] {
  const [own, late] = [parts.filter(({ part }) => !part.late), parts.filter(({ part }) => part.late)];
  if (own.length === 0) return late.length === 0 ? [] : [late];
  return own.map((one, index) => {
    const below = own[index - 1]?.ids.at(-1) ?? -Infinity;
    const end = (index < own.length - 1 && one.ids.at(-1)) || Infinity;
    const inside = late.map(({ part, ids }) => ({ part, ids: ids.filter((id) => below < id && id <= end) }));
    return [one, ...inside.filter(({ ids }) => ids.length > 0)];
  });
}

/** Characters between two turns of the event loop: without a turn, no signal is heard and no deadline passes. */
const portion = 50_000;

/** The same messages; the event loop turns between them. @throws the reason of the signal soon after it aborts */
async function* heeding(signal: AbortSignal | undefined, messages: readonly ReadMessage[]) {
  let size = portion;
  for (const one of messages) {
    if (size >= portion) {
      await nextTurn();
      signal?.throwIfAborted();
      size = 0;
    }
    size += one.line.length;
    yield one;
  }
}

/** Whether a message matches a term. @throws Failure usage for a term that an archive cannot tell */
export function matches(message: JsonObject, { operator, operand, negated }: NarrowTerm, channels: ChannelNames) {
  const { stream_id, display_recipient, subject, sender_id, sender_email, sender_full_name } = message;
  const fields: Partial<Record<string, readonly unknown[]>> = {
    channel: [stream_id, ...(channels.get(stream_id)?.names ?? [display_recipient])],
    topic: [Array.isArray(display_recipient) ? undefined : subject],
    sender: [sender_id, sender_email, sender_full_name],
  };
  const values = fields[operator];
  if (!values) throw usage(`an archive is selected by channel, topic and sender: '${operator}' is none of them`);
  const isSameText = operator === 'topic' ? isSameTopic : isSameName;
  const isSame = (value: unknown): boolean =>
    typeof operand === 'number' ? value === operand : typeof value === 'string' && isSameText(value, String(operand));
  return values.some(isSame) !== (negated ?? false);
}
