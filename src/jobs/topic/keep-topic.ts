import type { ChatApi } from '../../api/chat/chat.ts';
import { asMessage, RawMessage } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { pageSize } from '../../schema/messages.ts';
import { readArchive, problemsOf } from '../../store/archive/archive.ts';
import { archiveForms, readPart, type ArchivedMessage, type PartMessages } from '../../store/archive/part.ts';
import { isKept } from '../../store/archive/kept-file.ts';
import type { ArchiveChange, PurgeStep } from '../../store/archive/line-file.ts';
import { takenAway } from '../../store/archive/open-archive.ts';
import { hashOf } from '../../store/disk/files.ts';
import { archivedMessages, chosenArchive, holdsMessage } from '../archive/archived-messages.ts';
import { fetchFiles, namedFiles } from '../archive/attached-files.ts';
import { formsOf } from '../archive/pull-pages.ts';
import { afterStep, expecting, type Standings, type StandingCounts } from './standings.ts';
import { shownName, topicSelection, type TopicSurvey } from './survey-topic.ts';
import { closeAll, openTopicArchives, type Keeping, type TopicArchive } from './topic-archives.ts';

export type Keeper = Awaited<ReturnType<typeof openKeeper>>;

/**
 * Keeps, reads back and verifies the surveyed messages before their topic is deleted: in an archive in both forms, with
 * the purge's record, in which an interrupted purge continues. Each call resolves when it is safe on disk; a failure
 * ends the purge: unavailable where a page or the disk fails, incomplete where messages are missing from the archive.
 */
export async function openKeeper(
  chat: Pick<ChatApi, 'raw' | 'level' | 'organization' | 'channels' | 'upload'>,
  survey: TopicSurvey,
  keeping: Keeping,
) {
  keeping.archived(0);
  /** The last one is added to; those before are of interrupted purges. */
  const { archives, last } = await openTopicArchives(chat, survey, keeping);
  const { folder } = last.archive;
  const { topic_name, spellings, channel, ids } = survey;
  const { site, account } = keeping;
  const now = (): string => new Date(keeping.now()).toISOString();
  const versions = new Map<number, string>();
  const know = (message: RawMessage | ArchivedMessage): void => void versions.set(message.id, versionOf(message));
  const confirm = () => confirmInPlace(archives);
  const keepFilesOf = async (): Promise<void> => {
    await keepFiles(chat, archives, shownName(survey), keeping);
    for (const { archive } of archives) await archive.seal();
  };
  const begin = async (): Promise<void> => {
    for await (const { file, problem } of problemsOf(await readArchive(folder)))
      throw unreadable(folder, file, problem);
    await keepFilesOf();
    for (const one of archives.filter((one) => one === last || one.isBegun)) {
      const archive = await readArchive(one.archive.folder);
      for await (const message of archivedMessages(await chosenArchive(archive, 'source'), 'source')) know(message);
      for (const { message } of archive.changes) if (message) know(message);
    }
    const of = { site, account, stream_id: channel.stream_id, channel: channel.name, topic_name, spellings };
    await last.purge.append({ purge: 1, begun: now(), ...of, messages: ids.length });
    const reading = `to read it: ${commandLine('archive export', [folder], { output: 'text' })}`;
    if (ids.length > 0) keeping.note(`topic '${shownName(survey)}' is archived and verified in ${folder}; ${reading}`);
  };
  /** Records edited messages in the archives that hold them, the source last. */
  const recordEdited = async ({ source = [], rendered = [] }: PartMessages<RawMessage>): Promise<void> => {
    const seen = now();
    const changes = [...rendered, ...source].map(({ id, text }): ArchiveChange => {
      return { id, change: 'edited', seen, message: asMessage(text.parse()) };
    });
    for (const { archive } of archives) await archive.record(changes.filter(({ id }) => holdsMessage(archive, id)));
  };
  const addArrived = async (forms: PartMessages<RawMessage>): Promise<void> => {
    if (!forms.source?.length) return;
    const part = await last.archive.add(forms);
    for (const form of archiveForms) {
      const { problem } = await readPart(folder, part, form);
      if (problem !== undefined) throw unreadable(folder, part[form]?.file ?? form, problem);
    }
  };
  try {
    await begin();
  } catch (cause) {
    await closeAll(archives).catch(() => undefined);
    throw cause;
  }
  return {
    /** What earlier runs knew, and the surveyed messages. */
    known: expecting(ids, replayed(archives)),
    /** Whether this version of a message is not kept yet: the message is new, or was edited since. */
    lacks: (message: RawMessage) => versionOf(message) !== versions.get(message.id),
    /** Messages of the topic that it lacks, ascending; may be none. */
    async add(messages: readonly RawMessage[]): Promise<void> {
      if (messages.length === 0) return;
      await confirm();
      const added: RawMessage[] = [];
      for (const isEdited of [true, false])
        for (const page of pagesOf(messages.filter(({ id }) => versions.has(id) === isEdited))) {
          // The looks fetch the source form.
          const forms = await formsOf(chat.raw, topicSelection(survey), page, ['source', 'rendered']);
          await (isEdited ? recordEdited : addArrived)(forms);
          // One that is gone meanwhile is in no form.
          added.push(...(forms.source ?? []));
        }
      await keepFilesOf();
      added.forEach(know);
    },
    /** Before each call. @throws Failure incomplete where an archive does not lie where it was, as it was written */
    confirm,
    /** Each look before its delete call, and each call after its answer. */
    record: (step: PurgeStep) => last.purge.append(step),
    /** The purge is over: a later one of the same name begins another archive. */
    async finish({ deleted, gone, goneOutOfOrder }: StandingCounts): Promise<void> {
      await confirm();
      const end = { finished: now(), deleted, unseen: gone + goneOutOfOrder };
      for (const { purge } of archives) await purge.append(end);
    },
    close: () => closeAll(archives),
    /** That of the purge's begin. */
    folder: (archives.find(({ isBegun }) => isBegun) ?? last).archive.folder,
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
    if (missing !== undefined) throw takenAway(archive.folder, missing, 'nothing more is deleted');
  }
}

/** Messages that earlier runs archived, and that no look right before a call has shown, are expected in the topic. */
function replayed(archives: readonly TopicArchive[]): Standings {
  const held: number[] = [];
  let known = expecting([]);
  for (const { archive, purge } of archives.filter(({ isBegun }) => isBegun)) {
    held.push(...archive.parts.flatMap(({ ids }) => ids));
    const { of } = (known = purge.steps.reduce(afterStep, known));
    known = expecting(
      held.filter((id) => !of.has(id)),
      known,
    );
  }
  return known;
}

/** Keeps attached files that are lacking. @throws Failure incomplete: the server may lose one with its message */
async function keepFiles(
  chat: Pick<ChatApi, 'upload'>,
  archives: readonly TopicArchive[],
  topic: string,
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
      `attached files of '${topic}' cannot be archived: ${refused.length}; nothing more is deleted\n${named.join('\n')}`,
      { hint: 'Give --max-file-size more, or delete without --files.', retryable: false },
    );
  }
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
