// The archive of a purge, in a folder of its own: what a look showed is in it, and read back, before a call deletes it.
// In its purge.ndjson the same command continues an interrupted purge.
import { resolve } from 'node:path';
import { RawMessage } from '../../api/chat/chat-messages.ts';
import type { ChatApi } from '../../api/chat/chat.ts';
import { forward } from '../../api/chat/message-pages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { pageSize } from '../../schema/messages.ts';
import { problemsOf, readArchive, type Archive } from '../../store/archive/archive.ts';
import type { ArchiveChange, PurgeRecord, PurgeStep } from '../../store/archive/line-file.ts';
import { takenAway, type OpenArchive } from '../../store/archive/open-archive.ts';
import { archiveForms, readPart, type ArchivedMessage, type PartMessages } from '../../store/archive/part.ts';
import { hashOf } from '../../store/disk/files.ts';
import { fetchFiles, namedFiles } from '../archive/attached-files.ts';
import { headFor } from '../archive/pull-order.ts';
import { formsOf } from '../archive/pull-pages.ts';
import { shownName, type Topic } from './find-channel.ts';
import { after, nothingKnown, type PurgeState, type StateCounts } from './purge-state.ts';
import { checked, queryOf, topicSelection, type Doomed, type PurgeArchives } from './survey-topics.ts';

export interface ArchiveParts {
  archive(folder: string): Promise<OpenArchive>;
  now(): Milliseconds;
  say(text: string): void;
  note(text: string): void;
}

type ArchiveChat = Pick<ChatApi, 'messages' | 'level' | 'organization' | 'channels' | 'upload'>;

/** What is archived, and where. */
interface Keeping {
  readonly chat: ArchiveChat;
  readonly survey: Doomed;
  readonly place: PurgeArchives;
  readonly parts: ArchiveParts;
}

interface Opened extends Keeping {
  readonly archive: OpenArchive;
  readonly purge: PurgeRecord;
}

/** A failure of it ends the purge: unavailable of a page or the disk, incomplete where it is damaged. */
export class PurgeArchive {
  /** Absolute, since whoever reads the history is in another folder. */
  readonly folder: string;
  readonly #own: Opened;
  /** The version of each message that is archived. */
  readonly #versions = new Map<number, string>();
  #isOpen = true;

  private constructor(own: Opened) {
    this.#own = own;
    this.folder = resolve(own.archive.folder);
  }

  /**
   * Archives the surveyed messages in both forms, or what an interrupted purge lacks of them, and verifies them.
   * `archived`: called with the number of messages that were archived so far.
   */
  static async open(keeping: Keeping, archived: (count: number) => void): Promise<PurgeArchive> {
    const { folder, isBegun } = keeping.survey;
    const archive = await keeping.parts.archive(folder);
    try {
      const purge = await archive.purge();
      const meanwhile = `another process has just changed the deletion of ${folder}: nothing was deleted`;
      if (purge.stage !== (isBegun ? 'begun' : 'new'))
        throw new Failure('unavailable', meanwhile, { hint: 'Run the same command again.' });
      const opened = new PurgeArchive({ ...keeping, archive, purge });
      await opened.#begin(archived);
      return opened;
    } catch (cause) {
      await archive.close().catch(() => undefined);
      throw cause;
    }
  }

  /** The knowledge of earlier runs; messages that they archived, and that no look of theirs showed, are expected. */
  known(): PurgeState {
    const { archive, purge } = this.#own;
    if (purge.stage !== 'begun') return nothingKnown;
    const known = purge.steps.reduce(after, nothingKnown);
    const ids = archive.parts.flatMap((part) => part.ids);
    return after(known, { survey: ids.filter((id) => !known.messages.has(id)) });
  }

  /** Whether this version of a message is not kept yet: the message is new, or was edited since. */
  lacks(message: RawMessage): boolean {
    return versionOf(message) !== this.#versions.get(message.id);
  }

  /** Messages of the topic that it lacks, ascending; may be none. */
  async add(messages: readonly RawMessage[]): Promise<void> {
    if (messages.length === 0) return;
    await this.confirm();
    const isHeld = ({ id }: RawMessage): boolean => this.#versions.has(id);
    for (const some of [messages.filter(isHeld), messages.filter((message) => !isHeld(message))])
      for (let at = 0; at < some.length; at += pageSize) {
        // The looks fetch the source form.
        const page = some.slice(at, at + pageSize);
        const forms = await formsOf(this.#own.chat, topicSelection(this.#own.survey), page, ['source', 'rendered']);
        await (page.every(isHeld) ? this.#recordEdited(forms) : this.#addArrived(forms));
        // One that is gone meanwhile is in no form.
        for (const message of forms.source ?? []) this.#versions.set(message.id, versionOf(message));
      }
    await this.#keepFiles();
  }

  /** Before each call. @throws Failure incomplete where the archive does not lie where it was, as it was written */
  async confirm(): Promise<void> {
    const missing = await this.#own.archive.missing();
    if (missing !== undefined) throw takenAway(this.folder, missing, 'nothing more is deleted');
  }

  /** Each look before its call, and each call before it is sent and after its response. */
  async record(step: PurgeStep): Promise<void> {
    await this.#own.archive.recordPurge(step);
  }

  /** The purge is over, and the archive was closed: a later one of the same name begins another archive. */
  async finish({ deleted, unseen }: StateCounts): Promise<void> {
    const archive = await this.#own.parts.archive(this.folder);
    try {
      const { stage } = await archive.purge();
      if (stage !== 'begun') throw takenAway(this.folder, 'purge.ndjson', 'nothing more is deleted');
      await archive.recordPurge({ finished: this.#time(), deleted, unseen });
    } finally {
      await archive.close();
    }
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#own.archive.close();
  }

  #time(): string {
    return new Date(this.#own.parts.now()).toISOString();
  }

  async #begin(archived: (count: number) => void): Promise<void> {
    const { chat, survey, place, archive, parts } = this.#own;
    const { topic_name, spellings, channel, ids } = survey;
    const { folder } = archive;
    const head = await headFor(chat, archive, orderOf(survey, place));
    if (!archive.head) await archive.setHead(head);
    const before = await readWhole(folder);
    for (const part of before.parts)
      for (const { message } of (await readPart(folder, part, 'source')).messages)
        this.#versions.set(message.id, versionOf(message));
    for (const { message } of before.changes) if (message) this.#versions.set(message.id, versionOf(message));
    for await (const { messages, history_limited } of checked(
      chat,
      survey,
      forward(chat, queryOf(survey), { anchor: 'oldest' }),
    )) {
      if (history_limited && !head.history_limited) await archive.setHead({ ...head, history_limited });
      await this.add(messages.filter((message) => this.lacks(message)));
      archived(this.#versions.size);
    }
    archive.mark({ complete: true });
    await this.#keepFiles();
    await readWhole(folder);
    const of = { site: place.site, account: place.account, stream_id: channel.stream_id, channel: channel.name };
    await archive.recordPurge({ purge: 1, begun: this.#time(), ...of, topic_name, spellings, messages: ids.length });
    const reading = `to read it: ${commandLine('archive export', [folder], { output: 'text' })}`;
    if (ids.length > 0) parts.say(`topic '${shownName(survey)}' is archived and verified in ${folder}; ${reading}`);
  }

  /** The source last. */
  async #recordEdited({ source = [], rendered = [] }: PartMessages<RawMessage>): Promise<void> {
    const seen = this.#time();
    const changes = [...rendered, ...source].map((message): ArchiveChange => {
      return { id: message.id, change: 'edited', seen, message: message.parse() };
    });
    await this.#own.archive.record(changes);
  }

  async #addArrived(forms: PartMessages<RawMessage>): Promise<void> {
    if (!forms.source?.length) return;
    const part = await this.#own.archive.add(forms);
    for (const form of archiveForms) {
      const { problem } = await readPart(this.#own.archive.folder, part, form);
      if (problem !== undefined) throw damaged(this.#own.archive.folder, `${part[form]?.file ?? form}: ${problem}`);
    }
  }

  /** Keeps attached files that are lacking. @throws Failure incomplete: the server may lose one with its message */
  async #keepFiles(): Promise<void> {
    const { chat, archive, survey, place, parts } = this.#own;
    if (place.maxFileSize !== undefined) {
      const limits = { maxFileSize: place.maxFileSize, which: 'changed', gone: parts.note } as const;
      const { refused } = await fetchFiles(chat, archive, limits);
      if (refused.length > 0) throw filesNotKept(survey, refused);
    }
    await archive.seal();
  }
}

function orderOf(survey: Doomed, { site, account, maxFileSize }: PurgeArchives) {
  const options = { channel: [String(survey.channel.stream_id)], topic: [survey.topic_name] };
  const selection = () => topicSelection(survey);
  return { site, account, forms: archiveForms, files: maxFileSize !== undefined, options, selection };
}

/** @throws Failure incomplete */
async function readWhole(folder: string): Promise<Archive> {
  const archive = await readArchive(folder);
  for await (const { kind, file, problem } of problemsOf(archive))
    if (kind !== 'unfinished') throw damaged(folder, `${file}: ${problem}`);
  return archive;
}

/** Tells the versions of a message's source apart; two edits of one second have one time. */
function versionOf(message: RawMessage | ArchivedMessage): string {
  const shown = message instanceof RawMessage ? message.parse() : message;
  return hashOf(Buffer.from(writeJson(versionParts.map((name) => shown[name]))));
}

/** All that people can change of a message, but for its place, which a purge asks for, and the reader's own flags. */
const versionParts = ['content', 'last_edit_timestamp', 'reactions', 'submessages'];

function damaged(folder: string, problem: string): Failure {
  return new Failure('incomplete', `the archive ${folder} is damaged: ${problem}; nothing more is deleted`, {
    hint: 'Put the file back from a copy; or move the folder away: then the same command archives and deletes what is left.',
    retryable: false,
  });
}

function filesNotKept(survey: Topic, refused: readonly { readonly path: string; readonly refused: string }[]): Failure {
  const named = refused.slice(0, namedFiles).map(({ path, refused: why }) => `${path}: ${why}`);
  return new Failure(
    'incomplete',
    `attached files of '${shownName(survey)}' cannot be archived: ${refused.length}; nothing more is deleted\n${named.join('\n')}`,
    { hint: 'Increase --max-file-size, or delete without --files.', retryable: false },
  );
}
