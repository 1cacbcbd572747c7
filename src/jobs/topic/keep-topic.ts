import type { ChatApi } from '../../api/chat/chat.ts';
import { asMessage, RawMessage } from '../../api/chat/chat-messages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { pageSize } from '../../schema/messages.ts';
import { readArchive, type OpenArchive, problemsOf } from '../../store/archive/archive.ts';
import type { ArchiveChange } from '../../store/archive/archive-lists.ts';
import { archiveForms, readPart, type ArchivedMessage } from '../../store/archive/part.ts';
import { isKept } from '../../store/archive/kept-file.ts';
import type { PurgeStep } from '../../store/archive/line-file.ts';
import { hashOf } from '../../store/disk/files.ts';
import { holdsMessage } from '../archive/archived-messages.ts';
import { fetchFiles, namedFiles } from '../archive/attached-files.ts';
import { formsOf } from '../archive/part-forms.ts';
import type { MessageSelection } from '../messages/selection.ts';
import { afterStep, expecting, type Standings, type StandingCounts } from './standings.ts';
import { shownName, topicSelection, type Topic, type TopicSurvey } from './survey-topic.ts';
import {
  closeAll,
  idsOf,
  isBegun,
  keptVersions,
  openTopicArchives,
  type Keeping,
  type TopicArchive,
} from './topic-archives.ts';

export type Keeper = ReturnType<typeof topicKeeper>;

/**
 * What is kept before a topic is deleted: an archive in both forms, with the purge's record, in which an interrupted
 * purge continues. Each call resolves when it is safe on disk; a failure ends the purge: unavailable where a page or
 * the disk fails, incomplete where messages are missing from the archive.
 */
export function topicKeeper(chat: Pick<ChatApi, 'raw' | 'level' | 'organization' | 'upload'>, keeping: Keeping) {
  /** The last one is added to; those before are of interrupted purges. */
  let archives: readonly TopicArchive[] = [];
  let topic: Topic | undefined;
  const versions = new Map<number, string>();
  return {
    /** Keeps, reads back and verifies the surveyed messages. Returns what earlier runs knew, and these. */
    async begin(survey: TopicSurvey): Promise<Standings> {
      topic = survey;
      keeping.archived(0);
      archives = await openTopicArchives(chat, survey, keeping);
      const last = archives.at(-1);
      if (!last) return expecting(survey.ids);
      const { folder } = last.archive;
      for await (const { file, problem } of problemsOf(await readArchive(folder)))
        throw unreadable(folder, file, problem);
      await keepFiles(chat, archives, survey, keeping);
      for (const one of archives.filter((one) => one === last || isBegun(one)))
        for await (const message of keptVersions(one)) versions.set(message.id, versionOf(message));
      for (const { archive } of archives) await archive.seal();
      const { topic_name, spellings, channel, ids } = survey;
      const { site, account, now } = keeping;
      // prettier-ignore
      await last.purge.append({
        purge: 1, begun: isoTime(now()), site, account, stream_id: channel.stream_id, channel: channel.name,
        topic_name, spellings, messages: ids.length,
      });
      const reading = `to read it: ${commandLine('archive export', [folder], { output: 'text' })}`;
      if (ids.length > 0)
        keeping.note(`topic '${shownName(survey)}' is archived and verified in ${folder}; ${reading}`);
      return expecting(ids, replayed(archives));
    },
    /** Whether this version of a message is not kept yet: the message is new, or was edited since. */
    lacks: (message: RawMessage) => versionOf(message) !== versions.get(message.id),
    /** Messages of the topic that it lacks, ascending; may be none. */
    async add(messages: readonly RawMessage[]): Promise<void> {
      const last = archives.at(-1);
      if (!last || !topic || messages.length === 0) return;
      await confirmInPlace(archives);
      const edited = messages.filter(({ id }) => versions.has(id));
      const arrived = messages.filter(({ id }) => !versions.has(id));
      const added = [
        ...(await addEdited(chat, archives, topicSelection(topic), edited, keeping)),
        ...(await addArrived(chat, last.archive, topic, arrived)),
      ];
      await keepFiles(chat, archives, topic, keeping);
      for (const { archive } of archives) await archive.seal();
      for (const message of added) versions.set(message.id, versionOf(message));
    },
    /** Before each call. @throws Failure incomplete where an archive does not lie where it was, as it was written */
    confirm: () => confirmInPlace(archives),
    /** Each look before its delete call, and each call after its answer. */
    record: async (step: PurgeStep) => archives.at(-1)?.purge.append(step),
    /** The purge is over: a later one of the same name begins another archive. */
    async finish(tally: StandingCounts): Promise<void> {
      const end = {
        finished: isoTime(keeping.now()),
        deleted: tally.deleted,
        unseen: tally.gone + tally.goneOutOfOrder,
      };
      await confirmInPlace(archives);
      for (const { purge } of archives) await purge.append(end);
    },
    close: () => closeAll(archives),
    /** That of the purge's begin. */
    folder: () => (archives.find(isBegun) ?? archives.at(-1))?.archive.folder,
  };
}

/** What tells the versions of a message's source apart; two edits of one second have one time. */
function versionOf(message: RawMessage | ArchivedMessage): string {
  const shown = message instanceof RawMessage ? message.text.parse() : message;
  return hashOf(Buffer.from(writeJson(versionParts.map((name) => shown[name]))));
}

/** All that people can change of a message, but for its place, which a purge asks for, and the reader's own flags. */
const versionParts = ['content', 'last_edit_timestamp', 'reactions', 'submessages'];

async function confirmInPlace(archives: readonly TopicArchive[]): Promise<void> {
  for (const { archive, purge } of archives) {
    const missing = (await archive.missing()) ?? ((await purge.isInPlace()) ? undefined : 'purge.ndjson');
    if (missing === undefined) continue;
    const what = `the archive ${archive.folder} was taken away: ${missing} is not as it was written`;
    throw new Failure('incomplete', `${what}; nothing more is deleted`, {
      hint: 'Put the folder back as it was, and run the same command again: it continues.',
      retryable: false,
    });
  }
}

/** Messages that earlier runs archived, and that no look right before a call has shown, are expected in the topic. */
function replayed(archives: readonly TopicArchive[]): Standings {
  const begun = archives.filter(isBegun);
  return begun.reduce((before, { purge }, index) => {
    const known = purge.steps.reduce(afterStep, before);
    return expecting(
      idsOf(begun.slice(0, index + 1)).filter((id) => !known.of.has(id)),
      known,
    );
  }, expecting([]));
}

/** Keeps attached files that are lacking. @throws Failure incomplete: the server may lose one with its message */
async function keepFiles(
  chat: Pick<ChatApi, 'upload'>,
  archives: readonly TopicArchive[],
  topic: Topic,
  { maxFileSize, note }: Keeping,
): Promise<void> {
  const earlier = maxFileSize === undefined ? archives.flatMap(({ archive }) => [...archive.files.values()]) : [];
  const kept = earlier.filter(isKept).length;
  if (kept > 0) note(`attached files that an earlier run archived stay there: ${kept}`);
  if (maxFileSize === undefined) return;
  for (const { archive } of archives) {
    const { refused } = await fetchFiles(chat, archive, { maxFileSize, which: 'changed', gone: note });
    if (refused.length === 0) continue;
    const named = refused.slice(0, namedFiles).map(({ path, refused: why }) => `${path}: ${why}`);
    throw new Failure(
      'incomplete',
      `attached files of '${shownName(topic)}' cannot be archived: ${refused.length}; nothing more is deleted\n${named.join('\n')}`,
      { hint: 'Give --max-file-size more, or delete without --files.', retryable: false },
    );
  }
}

/** Records edited messages in the archives that hold them, the source last. Returns them, but not one that is gone. */
async function addEdited(
  { raw }: Pick<ChatApi, 'raw'>,
  archives: readonly TopicArchive[],
  selection: MessageSelection,
  edited: readonly RawMessage[],
  { now }: Pick<Keeping, 'now'>,
): Promise<readonly RawMessage[]> {
  const added: RawMessage[] = [];
  for (const page of pagesOf(edited)) {
    const { source = [], rendered = [] } = await formsOf(raw, selection, page, ['source', 'rendered']);
    const seen = isoTime(now());
    const changes = [...rendered, ...source].map(({ id, text }): ArchiveChange => {
      return { id, change: 'edited', seen, message: asMessage(text.parse()) };
    });
    for (const { archive } of archives) await archive.record(changes.filter(({ id }) => holdsMessage(archive, id)));
    added.push(...source);
  }
  return added;
}

async function addArrived(
  { raw }: Pick<ChatApi, 'raw'>,
  archive: OpenArchive,
  topic: Topic,
  arrived: readonly RawMessage[],
): Promise<readonly RawMessage[]> {
  const added: RawMessage[] = [];
  for (const page of pagesOf(arrived)) {
    // The looks fetch the source form.
    const forms = await formsOf(raw, topicSelection(topic), page, ['source', 'rendered']);
    if (!forms.source || forms.source.length === 0) continue;
    const part = await archive.add(forms);
    for (const form of archiveForms) {
      const { problem } = await readPart(archive.folder, part, form);
      if (problem !== undefined) throw unreadable(archive.folder, part[form]?.file ?? form, problem);
    }
    added.push(...forms.source);
  }
  return added;
}

function pagesOf(messages: readonly RawMessage[]): (readonly RawMessage[])[] {
  return Array.from({ length: Math.ceil(messages.length / pageSize) }, (_, page) =>
    messages.slice(page * pageSize, (page + 1) * pageSize),
  );
}

function isoTime(time: Milliseconds): string {
  return new Date(time).toISOString();
}

function unreadable(folder: string, file: string, problem: string): Failure {
  return new Failure(
    'unavailable',
    `the archive ${folder} cannot be read back: ${file}: ${problem}; nothing more is deleted`,
    { hint: 'Look at the disk, or name another folder with --archive.' },
  );
}
