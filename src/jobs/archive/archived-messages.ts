// The messages of archives for an export: which of them are chosen, and the chosen ones ascending, in one form.
import { nextTurn } from '../../core/outside.ts';
import { Failure, usage } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import type { Archive } from '../../store/archive/archive.ts';
import { partsAmong, readPart } from '../../store/archive/part.ts';
import type { ArchiveForm, ArchivePart, ReadMessage } from '../../store/archive/part.ts';
import type { JsonObject } from '../../core/json.ts';
import type { NarrowTerm } from '../../schema/narrow.ts';
import { isSameName, isSameTopic } from '../../schema/topic.ts';

export interface ChosenArchive extends Archive {
  /** The ids of the chosen messages, ascending. */
  readonly ids: readonly number[];
}

/** Yields every message, but none of a damaged part. @throws the reason of the signal */
export async function* allMessages(archives: readonly Archive[], form: ArchiveForm, signal: AbortSignal) {
  for (const { folder, parts } of archives)
    for (const part of parts)
      for await (const { message } of heeding(signal, (await readPart(folder, part, form)).messages)) yield message;
}

/**
 * Chooses all messages, or those of `isChosen`, and all of a damaged part, where the export ends. A message of several
 * archives is chosen in the last of them. @throws as `isChosen`
 */
export async function chooseMessages(
  archives: readonly Archive[],
  form: ArchiveForm,
  isChosen: ((message: JsonObject) => boolean) | undefined,
  signal: AbortSignal,
): Promise<readonly ChosenArchive[]> {
  const chosen: ChosenArchive[] = [];
  const seen = new Set<number>();
  for (const archive of archives.toReversed()) {
    const places = recordedPlaces(archive.changes);
    const ids: number[] = [];
    for (const part of archive.parts) {
      const read = isChosen && (await readPart(archive.folder, part, form));
      if (!isChosen || !read || read.problem !== undefined) ids.push(...part.ids);
      else
        for await (const { message } of heeding(signal, read.messages))
          if (isChosen({ ...message, ...places.get(message.id) })) ids.push(message.id);
    }
    const own = ids.filter((id) => !seen.has(id)).sort((one, other) => one - other);
    for (const id of own) seen.add(id);
    chosen.unshift({ ...archive, ids: own });
  }
  return chosen;
}

/** Where rechecks found messages that were moved: this is the place that --channel and --topic select. */
export function recordedPlaces(changes: Archive['changes']): ReadonlyMap<number, JsonObject> {
  return new Map(
    changes.flatMap(({ id, change, message }) => {
      if (change !== 'moved') return [];
      const { stream_id, display_recipient, subject } = message;
      return [[id, { stream_id, display_recipient, subject }] as const];
    }),
  );
}

/** Messages that are held in memory: as many as a full part has. */
const atOnce = 1000;

/** The chosen messages, ascending. @throws Failure incomplete at a damaged part; the reason of the signal */
export async function* archivedMessages({ folder, parts, ids }: ChosenArchive, form: ArchiveForm, signal: AbortSignal) {
  // Often the last part of some messages is also the first part of the next ones.
  let last: { readonly part: ArchivePart; readonly messages: readonly ReadMessage[] } | undefined;
  for (let at = 0; at < ids.length; at += atOnce) {
    const some = ids.slice(at, at + atOnce);
    const wanted = new Set(some);
    const found: ReadMessage[] = [];
    let damage: { readonly part: ArchivePart; readonly problem: string } | undefined;
    for (const part of partsAmong(parts, some)) {
      const read = last?.part === part ? last : await readPart(folder, part, form);
      if ('problem' in read && read.problem !== undefined) damage ??= { part, problem: read.problem };
      last = { part, messages: read.messages };
      found.push(...read.messages.filter(({ message }) => wanted.has(message.id)));
    }
    found.sort((one, other) => one.message.id - other.message.id);
    yield* heeding(signal, damage ? found.filter(({ message }) => message.id < damage.part.first) : found);
    if (damage)
      throw new Failure('incomplete', `the export ends before part ${damage.part.part}: ${form}: ${damage.problem}`, {
        hint: `archive verify says what to do: ${commandLine('archive verify', [folder])}`,
        retryable: false,
      });
  }
}

/** Characters between two turns of the event loop: without a turn, no signal and no deadline is noticed. */
const portion = 50_000;

/** Yields the messages with turns of the event loop between them. @throws the signal's reason soon after it aborts */
async function* heeding(signal: AbortSignal, messages: readonly ReadMessage[]) {
  let size = portion;
  for (const one of messages) {
    if (size >= portion) {
      await nextTurn();
      signal.throwIfAborted();
      size = 0;
    }
    size += one.line.length;
    yield one;
  }
}

/**
 * Whether a message matches a term. `channels`: by the id of a channel, each name that its messages have.
 * @throws Failure usage for a term that cannot be matched in an archive
 */
export function matches(
  message: JsonObject,
  { operator, operand, negated }: NarrowTerm,
  channels: ReadonlyMap<unknown, ReadonlySet<unknown>>,
) {
  const { stream_id, display_recipient, subject, sender_id, sender_email, sender_full_name } = message;
  const fields: Partial<Record<string, readonly unknown[]>> = {
    channel: [stream_id, display_recipient, ...(channels.get(stream_id) ?? [])],
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
