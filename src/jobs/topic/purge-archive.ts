// The archive of a purge: what its looks showed is kept in it, and read back, before a call deletes it. Beside the
// messages it has purge.ndjson, in which the same command continues an interrupted purge.
import { resolve } from 'node:path';
import { asMessage, RawMessage } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { pageSize } from '../../schema/messages.ts';
import { readArchive, problemsOf } from '../../store/archive/archive.ts';
import { isKept } from '../../store/archive/kept-file.ts';
import type { ArchiveChange, PurgeStep } from '../../store/archive/line-file.ts';
import { takenAway } from '../../store/archive/open-archive.ts';
import { archiveForms, readPart, type ArchivedMessage, type PartMessages } from '../../store/archive/part.ts';
import { hashOf } from '../../store/disk/files.ts';
import { archivedMessages, chosenArchive, holdsMessage } from '../archive/archived-messages.ts';
import { fetchFiles, namedFiles } from '../archive/attached-files.ts';
import { formsOf } from '../archive/pull-pages.ts';
import { shownName, type Topic } from './find-channel.ts';
import { closeAll, openArchives, openOne, type ArchiveChat, type Keeping, type TopicArchive } from './purge-folders.ts';
import { after, nothingKnown, type PurgeState, type StateCounts } from './purge-state.ts';
import { topicSelection, type TopicSurvey } from './survey-topics.ts';

/** A failure of it ends the purge: unavailable of a page or the disk, incomplete where messages are missing. */
export class PurgeArchive {
  /** That of the purge's begin; absolute, since whoever reads the history is in another folder. */
  readonly folder: string;
  /** The knowledge of earlier runs; messages that they archived, and that no look of theirs showed, are expected. */
  readonly known: PurgeState;
  readonly #chat: ArchiveChat;
  readonly #survey: TopicSurvey;
  readonly #keeping: Keeping;
  /** The last one is added to; those before are of interrupted purges. */
  readonly #archives: readonly TopicArchive[];
  readonly #last: TopicArchive;
  /** The version of each message that is archived. */
  readonly #versions = new Map<number, string>();
  #isOpen = true;

  private constructor(
    chat: ArchiveChat,
    survey: TopicSurvey,
    keeping: Keeping,
    archives: readonly [TopicArchive, ...TopicArchive[]],
  ) {
    this.#chat = chat;
    this.#survey = survey;
    this.#keeping = keeping;
    this.#archives = archives;
    this.#last = archives.at(-1) ?? archives[0];
    this.folder = resolve((archives.find(({ isBegun }) => isBegun) ?? this.#last).archive.folder);
    this.known = replayed(archives);
  }

  /** Archives the surveyed messages in both forms, or what an interrupted purge lacks of them, and verifies them. */
  static async open(chat: ArchiveChat, survey: TopicSurvey, keeping: Keeping): Promise<PurgeArchive> {
    keeping.archived(0);
    const opened = await openArchives(chat, survey, keeping);
    const archive = new PurgeArchive(chat, survey, keeping, opened);
    try {
      await archive.#begin();
      return archive;
    } catch (cause) {
      await archive.close().catch(() => undefined);
      throw cause;
    }
  }

  /** Whether this version of a message is not kept yet: the message is new, or was edited since. */
  lacks(message: RawMessage): boolean {
    return versionOf(message) !== this.#versions.get(message.id);
  }

  /** Messages of the topic that it lacks, ascending; may be none. */
  async add(messages: readonly RawMessage[]): Promise<void> {
    if (messages.length === 0) return;
    await this.confirm();
    const added: RawMessage[] = [];
    for (const isEdited of [true, false])
      for (const page of pagesOf(messages.filter(({ id }) => this.#versions.has(id) === isEdited))) {
        // The looks fetch the source form.
        const forms = await formsOf(this.#chat.raw, topicSelection(this.#survey), page, ['source', 'rendered']);
        await (isEdited ? this.#recordEdited(forms) : this.#addArrived(forms));
        // One that is gone meanwhile is in no form.
        added.push(...(forms.source ?? []));
      }
    await this.#keepFiles();
    for (const message of added) this.#versions.set(message.id, versionOf(message));
  }

  /** Before each call. @throws Failure incomplete where an archive does not lie where it was, as it was written */
  async confirm(): Promise<void> {
    for (const { archive, purge } of this.#archives) {
      const missing = (await archive.missing()) ?? ((await purge.isInPlace()) ? undefined : 'purge.ndjson');
      if (missing !== undefined) throw takenAway(archive.folder, missing, 'nothing more is deleted');
    }
  }

  /** Each look before its call, and each call before it is sent and after its response. */
  async record(step: PurgeStep): Promise<void> {
    await this.#last.purge.append(step);
  }

  /** The purge is over, and the archives were closed: a later one of the same name begins another archive. */
  async finish({ deleted, unseen }: StateCounts): Promise<void> {
    const end = { finished: this.#time(), deleted, unseen };
    for (const {
      archive: { folder },
    } of this.#archives) {
      const one = await openOne(folder, this.#keeping);
      try {
        if (!one.isBegun) throw takenAway(folder, 'purge.ndjson', 'nothing more is deleted');
        await one.purge.append(end);
      } finally {
        await closeAll([one]);
      }
    }
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await closeAll(this.#archives);
  }

  #time(): string {
    return new Date(this.#keeping.now()).toISOString();
  }

  async #begin(): Promise<void> {
    const { topic_name, spellings, channel, ids } = this.#survey;
    const { site, account, note } = this.#keeping;
    const { folder } = this.#last.archive;
    for await (const { file, problem } of problemsOf(await readArchive(folder)))
      throw unreadable(folder, file, problem);
    await this.#keepFiles();
    for (const one of this.#archives.filter((each) => each === this.#last || each.isBegun)) {
      const archive = await readArchive(one.archive.folder);
      for await (const message of archivedMessages(await chosenArchive(archive, 'source'), 'source'))
        this.#versions.set(message.id, versionOf(message));
      for (const { message } of archive.changes) if (message) this.#versions.set(message.id, versionOf(message));
    }
    const of = { site, account, stream_id: channel.stream_id, channel: channel.name, topic_name, spellings };
    await this.#last.purge.append({ purge: 1, begun: this.#time(), ...of, messages: ids.length });
    const reading = `to read it: ${commandLine('archive export', [folder], { output: 'text' })}`;
    if (ids.length > 0) note(`topic '${shownName(this.#survey)}' is archived and verified in ${folder}; ${reading}`);
  }

  /** Records edited messages in the archives that hold them, the source last. */
  async #recordEdited({ source = [], rendered = [] }: PartMessages<RawMessage>): Promise<void> {
    const seen = this.#time();
    const changes = [...rendered, ...source].map(({ id, text }): ArchiveChange => {
      return { id, change: 'edited', seen, message: asMessage(text.parse()) };
    });
    for (const { archive } of this.#archives)
      await archive.record(changes.filter(({ id }) => holdsMessage(archive, id)));
  }

  async #addArrived(forms: PartMessages<RawMessage>): Promise<void> {
    if (!forms.source?.length) return;
    const { archive } = this.#last;
    const part = await archive.add(forms);
    for (const form of archiveForms) {
      const { problem } = await readPart(archive.folder, part, form);
      if (problem !== undefined) throw unreadable(archive.folder, part[form]?.file ?? form, problem);
    }
  }

  /** Keeps attached files that are lacking. @throws Failure incomplete: the server may lose one with its message */
  async #keepFiles(): Promise<void> {
    const { maxFileSize, note } = this.#keeping;
    const earlier =
      maxFileSize === undefined ? this.#archives.flatMap(({ archive }) => [...archive.files.values()]) : [];
    const kept = earlier.filter(isKept).length;
    if (kept > 0) note(`attached files that an earlier run archived stay there: ${kept}`);
    for (const { archive } of this.#archives) {
      if (maxFileSize !== undefined) {
        const { refused } = await fetchFiles(this.#chat, archive, { maxFileSize, which: 'changed', gone: note });
        if (refused.length > 0) throw filesNotKept(this.#survey, refused);
      }
      await archive.seal();
    }
  }
}

function filesNotKept(survey: Topic, refused: readonly { readonly path: string; readonly refused: string }[]): Failure {
  const named = refused.slice(0, namedFiles).map(({ path, refused: why }) => `${path}: ${why}`);
  return new Failure(
    'incomplete',
    `attached files of '${shownName(survey)}' cannot be archived: ${refused.length}; nothing more is deleted\n${named.join('\n')}`,
    { hint: 'Increase --max-file-size, or delete without --files.', retryable: false },
  );
}

/** Tells the versions of a message's source apart; two edits of one second have one time. */
function versionOf(message: RawMessage | ArchivedMessage): string {
  const shown = message instanceof RawMessage ? message.text.parse() : message;
  return hashOf(Buffer.from(writeJson(versionParts.map((name) => shown[name]))));
}

/** All that people can change of a message, but for its place, which a purge asks for, and the reader's own flags. */
const versionParts = ['content', 'last_edit_timestamp', 'reactions', 'submessages'];

function replayed(archives: readonly TopicArchive[]): PurgeState {
  const held: number[] = [];
  let known = nothingKnown;
  for (const { archive, purge } of archives.filter(({ isBegun }) => isBegun)) {
    held.push(...archive.parts.flatMap(({ ids }) => ids));
    const { messages } = (known = purge.steps.reduce(after, known));
    known = after(known, { survey: held.filter((id) => !messages.has(id)) });
  }
  return known;
}

function pagesOf(messages: readonly RawMessage[]): (readonly RawMessage[])[] {
  return Array.from({ length: Math.ceil(messages.length / pageSize) }, (_, page) =>
    messages.slice(page * pageSize, (page + 1) * pageSize),
  );
}

function unreadable(folder: string, file: string, problem: string): Failure {
  return new Failure(
    'unavailable',
    `the archive ${folder} cannot be read back: ${file}: ${problem}; nothing more is deleted`,
    { hint: 'Look at the disk, or name another folder with --archive.' },
  );
}
