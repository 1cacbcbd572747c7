// The archive of a purge, in a folder of its own. What was read is archived and read back before a call deletes
// it. By its purge.ndjson the same command continues an interrupted purge.
import { resolve } from 'node:path';
import type { RawMessage } from '../../api/chat/chat-messages.ts';
import type { ChatApi } from '../../api/chat/chat.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson, type JsonObject } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { pageSize } from '../../schema/messages.ts';
import { problemsOf, readArchive, type Archive } from '../../store/archive/archive.ts';
import { readPurge, type PurgeRecord, type PurgeStep } from '../../store/archive/line-file.ts';
import { takenAway, type OpenArchive } from '../../store/archive/open-archive.ts';
import { archiveForms, readPart } from '../../store/archive/part.ts';
import { hashOf } from '../../store/disk/files.ts';
import { fetchFiles, namedFiles } from '../archive/attached-files.ts';
import { formsOf } from '../archive/message-forms.ts';
import { headFor } from '../archive/pull-order.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import type { TopicHold } from './holds.ts';
import { after, nothingKnown, type PurgeState, type StateCounts } from './purge-state.ts';
import { hiddenMessages, topicPages, topicSelection, type PurgePlace, type TopicSurvey } from './survey-topics.ts';

/** What the purges of a run share. */
export interface PurgeRun extends WorkMessages {
  readonly chat: ChatApi;
  readonly place: PurgePlace;
  readonly holds: readonly TopicHold[];
  /** A topic with a message from then on is refused. */
  readonly before?: Milliseconds | undefined;
  /** Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  archive(folder: string): Promise<OpenArchive>;
  /** The command that continues the purge. */
  again(): string;
  now(): Milliseconds;
  elapsed(): Milliseconds;
  sleep(span: Milliseconds): Promise<void>;
}

/** Any failure here ends the purge: unavailable for a page or the disk, incomplete where the archive is damaged. */
export class PurgeArchive {
  /** The absolute path, since whoever reads the history is in another folder. */
  readonly folder: string;
  readonly #run: PurgeRun;
  readonly #survey: TopicSurvey;
  readonly #archive: OpenArchive;
  readonly #purge: PurgeRecord;
  /** The version of each message that is archived. */
  readonly #versions = new Map<number, string>();
  #isOpen = true;

  private constructor(run: PurgeRun, survey: TopicSurvey, archive: OpenArchive, purge: PurgeRecord) {
    [this.#run, this.#survey, this.#archive, this.#purge] = [run, survey, archive, purge];
    this.folder = resolve(archive.folder);
  }

  /**
   * Archives the surveyed messages in both forms, or what an interrupted purge lacks of them, and verifies them.
   * `archived`: called with the number of messages that were archived so far.
   */
  static async open(run: PurgeRun, survey: TopicSurvey, archived: (count: number) => void): Promise<PurgeArchive> {
    const archive = await run.archive(survey.folder);
    try {
      const purge = await readPurge(survey.folder);
      const meanwhile = `another process has just changed the deletion of ${survey.folder}: nothing of it was deleted`;
      if (purge.stage !== (survey.isBegun ? 'begun' : 'new'))
        throw new Failure('unavailable', meanwhile, { hint: 'Run the same command again.' });
      const opened = new PurgeArchive(run, survey, archive, purge);
      await opened.#begin(archived);
      return opened;
    } catch (cause) {
      await archive.close().catch(() => undefined);
      throw cause;
    }
  }

  /** The state after earlier runs. Messages that they archived, and that no look of theirs showed, count as present. */
  known(): PurgeState {
    if (this.#purge.stage !== 'begun') return nothingKnown;
    const known = this.#purge.steps.reduce(after, nothingKnown);
    const ids = this.#archive.parts.flatMap((part) => part.ids);
    return after(known, { survey: ids.filter((id) => !known.messages.has(id)) });
  }

  /** True if this version of a message is not archived yet: the message is new, or was edited since. */
  lacks(message: RawMessage): boolean {
    return versionOf(message.parse()) !== this.#versions.get(message.id);
  }

  /** Archives those of the ascending messages that it lacks. */
  async add(messages: readonly RawMessage[]): Promise<void> {
    const lacking = messages.filter((message) => this.lacks(message));
    if (lacking.length === 0) return;
    await this.confirm();
    const isHeld = ({ id }: RawMessage): boolean => this.#versions.has(id);
    for (const some of [lacking.filter(isHeld), lacking.filter((message) => !isHeld(message))])
      for (let at = 0; at < some.length; at += pageSize) {
        const page = some.slice(at, at + pageSize);
        // The page is in the source form, which looks fetch.
        const forms = await formsOf(this.#run.chat, topicSelection(this.#survey), page, ['source', 'rendered']);
        const { source = [], rendered = [] } = forms;
        // A message that is gone meanwhile is in no form; for an edited one the source that the look showed is kept.
        const last = new Map([...page, ...source].map((message) => [message.id, message]));
        if (page.every(isHeld)) await this.#recordEdited([...rendered, ...last.values()]);
        else if (source.length > 0) await this.#checkPart(await this.#archive.add(forms));
        for (const message of source) this.#versions.set(message.id, versionOf(message.parse()));
      }
    await this.#keepFiles();
  }

  /** Checks before each call. @throws Failure incomplete where a file of the archive was moved or changed */
  async confirm(): Promise<void> {
    const missing = await this.#archive.missing();
    if (missing !== undefined) throw takenAway(this.folder, missing, 'nothing more is deleted');
  }

  /** Records each look before its call, and each call before it is sent and after its response. */
  async record(step: PurgeStep): Promise<void> {
    await this.#archive.recordPurge(step);
  }

  /** Records that the purge is over, in the closed archive: a later purge of the topic begins another archive. */
  async finish({ deleted, unseen }: StateCounts): Promise<void> {
    const archive = await this.#run.archive(this.folder);
    try {
      const { stage } = await readPurge(this.folder);
      if (stage !== 'begun') throw takenAway(this.folder, 'purge.ndjson', 'nothing more is deleted');
      await archive.recordPurge({ finished: this.#time(), deleted, unseen });
    } finally {
      await archive.close();
    }
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#archive.close();
  }

  #time(): string {
    return new Date(this.#run.now()).toISOString();
  }

  async #begin(archived: (count: number) => void): Promise<void> {
    const { chat, place, say } = this.#run;
    const { topic_name, spellings, channel, ids, label, isLimited } = this.#survey;
    const { site, account, maxFileSize } = place;
    const { folder } = this.#archive;
    const options = { channel: [String(channel.stream_id)], topic: [topic_name] };
    const selection = () => topicSelection(this.#survey);
    const order = { site, account, forms: archiveForms, files: maxFileSize !== undefined, options, selection };
    const head = await headFor(chat, this.#archive, order);
    if (!this.#archive.head) await this.#archive.setHead(head);
    const before = await readWhole(folder);
    for (const part of before.parts)
      for (const { message } of (await readPart(folder, part, 'source')).messages)
        this.#versions.set(message.id, versionOf(message));
    for (const { message } of before.changes) if (message) this.#versions.set(message.id, versionOf(message));
    for await (const page of topicPages(chat, this.#survey, 'oldest', {}, pageSize)) {
      const { messages, history_limited, view_changed } = page;
      if ((history_limited || view_changed) && !isLimited) throw hiddenMessages([this.#survey], 'rejected');
      if (history_limited && !head.history_limited) await this.#archive.setHead({ ...head, history_limited });
      await this.add(messages);
      archived(this.#versions.size);
    }
    this.#archive.mark({ complete: true });
    await this.#keepFiles();
    await readWhole(folder);
    const of = { site, account, stream_id: channel.stream_id, channel: channel.name, topic_name, spellings };
    await this.#archive.recordPurge({ purge: 1, begun: this.#time(), ...of, messages: ids.length });
    const reading = `to read it: ${commandLine('archive export', [folder], { output: 'text' })}`;
    if (ids.length > 0) say(`topic '${label}' is archived and verified; ${reading}`);
  }

  /** Records edited messages, the source form of each last. */
  async #recordEdited(messages: readonly RawMessage[]): Promise<void> {
    const edited = { change: 'edited', seen: this.#time() } as const;
    await this.#archive.record(messages.map((message) => ({ id: message.id, ...edited, message: message.parse() })));
  }

  async #checkPart(part: Archive['parts'][number]): Promise<void> {
    for (const form of archiveForms) {
      const { problem } = await readPart(this.#archive.folder, part, form);
      if (problem !== undefined) throw damageFailure(this.#archive.folder, `${part[form]?.file ?? form}: ${problem}`);
    }
  }

  /** Keeps attached files that are lacking. @throws Failure incomplete: the server may lose one with its message */
  async #keepFiles(): Promise<void> {
    const { chat, place, note } = this.#run;
    if (place.maxFileSize !== undefined) {
      const limits = { maxFileSize: place.maxFileSize, which: 'changed', gone: note } as const;
      const { lacking } = await fetchFiles(chat, this.#archive, limits);
      const refused = lacking.filter(({ why }) => why !== 'missing');
      const named = refused.slice(0, namedFiles).map(({ path, refused: why }) => `${path}: ${why}`);
      const what = `attached files of '${this.#survey.label}' cannot be archived: ${refused.length}`;
      if (refused.length > 0)
        throw new Failure('incomplete', `${what}; nothing more is deleted\n${named.join('\n')}`, {
          hint: 'Increase --max-file-size, or delete without --files.',
          retryable: false,
        });
    }
    await this.#archive.seal();
  }
}

/** @throws Failure incomplete */
async function readWhole(folder: string): Promise<Archive> {
  const archive = await readArchive(folder);
  for await (const { kind, file, problem } of problemsOf(archive))
    if (kind !== 'unfinished') throw damageFailure(folder, `${file}: ${problem}`);
  return archive;
}

/** The fields of a message that people can change, but for its place, which selects it, and the reader's own flags. */
const versionParts = ['content', 'last_edit_timestamp', 'reactions', 'submessages'];

/** A hash that differs between the versions of a message's source; two edits of one second have the same time. */
function versionOf(message: JsonObject): string {
  return hashOf(Buffer.from(writeJson(versionParts.map((name) => message[name]))));
}

function damageFailure(folder: string, problem: string): Failure {
  return new Failure('incomplete', `the archive ${folder} is damaged: ${problem}; nothing more is deleted`, {
    hint: 'Put the file back from a copy; or move the folder away: then the same command archives and deletes what is left.',
    retryable: false,
  });
}
