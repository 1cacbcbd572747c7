// A recheck compares each archived message with what the server shows now, and records what differs
// (docs/archive-format.md, Changes).
import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message, RawMessage } from '../../api/chat/chat-messages.ts';
import { quantity, type Milliseconds } from '../../core/duration.ts';
import { emptyTopicName } from '../../schema/topic.ts';
import { damagedFile, type ArchiveHead } from '../../store/archive/archive-head.ts';
import type { OpenArchive } from '../../store/archive/open-archive.ts';
import type { ArchiveChange, ReasonGone } from '../../store/archive/line-file.ts';
import { hasId, partsAmong, readPart, type ArchivedMessage, type ArchiveForm } from '../../store/archive/part.ts';
import { findMessages, type PrivateSearch } from '../messages/messages-by-ids.ts';
import { markdownOf } from './message-forms.ts';
import { countPlaces, reasons } from './visibility.ts';

export interface RecheckParts {
  now(): Milliseconds;
  note(text: string): void;
  warn(text: string): void;
  readonly search: PrivateSearch;
}

/** A message's last version, and why it is gone. */
interface MessageState {
  readonly message: ArchivedMessage;
  readonly why: ReasonGone | undefined;
}

export class Recheck {
  readonly #chat: ChatApi;
  readonly #archive: OpenArchive;
  readonly #head: ArchiveHead;
  readonly #parts: RecheckParts;
  readonly #form: ArchiveForm;
  readonly #changes: ArchiveChange[] = [];
  /** The last state of each message that has recorded changes. */
  readonly #recorded = new Map<number, Partial<MessageState>>();
  /** Archived messages that the server has not shown yet. */
  readonly #missing: Set<number>;

  constructor(chat: ChatApi, archive: OpenArchive, head: ArchiveHead, parts: RecheckParts) {
    [this.#chat, this.#archive, this.#head, this.#parts] = [chat, archive, head, parts];
    this.#form = head.forms.includes('source') ? 'source' : 'rendered';
    this.#missing = new Set(archive.parts.flatMap(({ ids }) => ids));
    for (const change of archive.changes) {
      const message = change.message ?? this.#recorded.get(change.id)?.message;
      this.#recorded.set(change.id, {
        ...(message && { message }),
        why: change.change === 'gone' ? change.why : undefined,
      });
    }
  }

  /** Records how messages that the server shows, in the form of the recheck, differ from the archive. */
  async compare(shown: readonly RawMessage[]): Promise<void> {
    const seen = this.#time();
    const states = await this.#statesOf(shown.map(({ id }) => id));
    const changes: ArchiveChange[] = [];
    for (const raw of shown) {
      const { id } = raw;
      this.#missing.delete(id);
      const [message, before] = [raw.parse(), states.get(id)];
      for (const change of before ? changesOf(before, message, this.#form) : [])
        changes.push({ id, change, seen, message });
    }
    await this.#record(changes);
  }

  /**
   * Searches for messages that the selection did not show: in their channel, all public ones, received messages, and
   * private channels. Reports those that are no longer visible, and returns how many changes of each kind are new.
   */
  async finish() {
    const query = { ...this.#head.selection.form, ...markdownOf(this.#form) };
    const reasonOf = reasons(this.#chat);
    const gone = new Map<number, { readonly why: ReasonGone; readonly isNew: boolean }>();
    for (const { part, ids } of [...this.#archive.parts]) {
      const channels = new Map<number | undefined, number[]>();
      for (const [id, { message, why: before }] of await this.#statesOf(ids.filter((id) => this.#missing.has(id)))) {
        const channel = typeof message['stream_id'] === 'number' ? message['stream_id'] : undefined;
        const reason = await reasonOf(id, channel);
        if (reason !== 'limit') channels.set(channel, [...(channels.get(channel) ?? []), id]);
        // A message that another account archived may never have been visible to this account.
        const now = part <= (this.#head.adopted ?? 0) && reason !== 'limit' ? 'account' : reason;
        // A message that was gone before keeps its recorded reason, until that is disproved.
        const why = now === 'unknown' ? now : (before ?? now);
        gone.set(id, { why, isNew: why !== before });
      }
      const found: RawMessage[] = [];
      for (const [channel, some] of channels)
        for await (const message of findMessages(this.#chat, query, channel, some)) found.push(message);
      await this.compare(found);
    }
    const open = [...this.#missing].filter((id) => gone.get(id)?.why !== 'limit');
    const found: RawMessage[] = [];
    const unsearched = await this.#parts.search.find(query, open, (message) => found.push(message));
    await this.compare(found);
    const seen = this.#time();
    const left = [...gone].filter(([id]) => this.#missing.has(id));
    await this.#record(left.flatMap(([id, { why, isNew }]) => (isNew ? [{ id, change: 'gone', seen, why }] : [])));
    const counts: Record<ReasonGone, number> = { limit: 0, 'no-access': 0, account: 0, unknown: 0 };
    for (const [, { why }] of left) counts[why] += 1;
    sayGone(counts, unsearched, this.#parts);
    const moved = countPlaces(this.#changes.flatMap(({ change, message }) => (change === 'moved' ? message : [])));
    if (moved !== '') this.#parts.note(`moved to ${moved}`);
    const count = (kind: string): number => this.#changes.filter(({ change }) => change === kind).length;
    return { edited: count('edited'), moved: count('moved'), gone: count('gone'), back: count('back') };
  }

  #time(): string {
    return new Date(this.#parts.now()).toISOString();
  }

  async #record(changes: readonly ArchiveChange[]): Promise<void> {
    await this.#archive.record(changes);
    this.#changes.push(...changes);
  }

  /** The states of archived messages. @throws Failure config where a file was damaged meanwhile */
  async #statesOf(ids: readonly number[]): Promise<Map<number, MessageState>> {
    const states = new Map<number, MessageState>();
    const wanted = new Set(ids);
    for (const part of partsAmong(this.#archive.parts, ids)) {
      if (!ids.some((id) => hasId(part.ids, id))) continue;
      const { messages, problem } = await readPart(this.#archive.folder, part, this.#form);
      const file = part[this.#form]?.file ?? this.#form;
      if (problem !== undefined) throw damagedFile(this.#archive.folder, { file, problem });
      for (const { message: archived } of messages) {
        const { message = archived, why } = this.#recorded.get(archived.id) ?? {};
        if (wanted.has(archived.id)) states.set(archived.id, { message, why });
      }
    }
    return states;
  }
}

/** Reports all messages that are gone, also earlier ones. `unsearched`: private channels not searched for some. */
export function sayGone(
  gone: Readonly<Record<ReasonGone, number>>,
  unsearched: number,
  { note, warn }: Pick<RecheckParts, 'note' | 'warn'>,
): void {
  for (const [why, say, words] of [
    ['limit', warn, 'no longer visible: the plan of the organization hides messages of their age'],
    ['no-access', warn, 'no longer visible, nor is anything else of their channels'],
    ['account', note, 'not visible to this account; the previous one saw them'],
    ['unknown', note, 'no longer visible: deleted, or moved where this account cannot see them'],
  ] as const)
    if (gone[why] > 0) say(`${quantity(gone[why], 'archived message is', 'archived messages are')} ${words}`);
  if (unsearched > 0)
    warn(
      `messages that are no longer visible were not searched for in ${unsearched} private channels: too many requests`,
    );
}

/** The ways in which a message that is shown differs from its last recorded state. */
function changesOf({ message: before, why }: MessageState, now: Message, form: ArchiveForm) {
  // An edit alone changes the source; the rendered form also changes where the server adds a preview later.
  const isEdit = form === 'source' || before['last_edit_timestamp'] !== now['last_edit_timestamp'];
  return [
    ...(why === undefined ? [] : (['back'] as const)),
    ...(isEdit && before['content'] !== now['content'] ? (['edited'] as const) : []),
    ...(isMoved(before, now) ? (['moved'] as const) : []),
  ];
}

function isMoved(before: ArchivedMessage, now: Message): boolean {
  // Clients that do not declare the empty topic see a name in its place.
  const [known, name] = [before, now].map(({ subject }) => subject || emptyTopicName);
  return before['stream_id'] !== now['stream_id'] || known !== name;
}
