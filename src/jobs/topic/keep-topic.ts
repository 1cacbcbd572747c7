import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message } from '../../api/chat/chat-messages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { readArchive, type OpenArchive } from '../../store/archive/archive.ts';
import { archiveForms } from '../../store/archive/archive-head.ts';
import { readPart, type ArchivePart } from '../../store/archive/part.ts';
import { problemsOf } from '../../store/archive/verify-archive.ts';
import { formsOf } from '../archive/part-forms.ts';
import type { MessageSelection } from '../messages/selection.ts';
import type { Keeper } from './delete-rounds.ts';
import { topicSelection, type Topic, type TopicSurvey } from './survey-topic.ts';
import { addEdited, versionOf, versionsIn } from './kept-versions.ts';
import { closeAll, idsOf, openTopicArchives, type Keeping, type TopicArchive } from './topic-archive.ts';

/** Keeps a topic in an archive of its own, with a record of the purge beside it. */
export interface TopicKeeper extends Keeper {
  /** Records that the archived messages are deleted: a later purge of the same name begins another archive. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A keeper that archives a topic in both forms, reads it back and verifies it. An interrupted purge continues in its archive.
 * Its calls throw Failure unavailable where a page or the disk fails, incomplete where messages are missing from the archive.
 */
export function topicKeeper(chat: Pick<ChatApi, 'messages' | 'level' | 'organization'>, keeping: Keeping): TopicKeeper {
  /** The last one is added to; those before are of interrupted purges. */
  let archives: readonly TopicArchive[] = [];
  let topic: Topic | undefined;
  let versions = new Map<number, number>();
  return {
    async begin(survey) {
      topic = survey;
      keeping.archived(0);
      archives = await openTopicArchives(chat, survey, keeping);
      const last = archives.at(-1);
      if (last) {
        await verified(last.archive);
        await last.purge.begin(startOf(survey, keeping));
        keeping.note(`topic '${survey.topic_name}' is archived and verified in ${last.archive.folder}`);
      }
      // What an archive of no begun purge holds beside the survey left the topic without us.
      const begun = archives.filter(({ purge }) => purge.state === 'begun').map(({ archive }) => archive);
      versions = await versionsIn(last ? [...new Set([...begun, last.archive])] : begun);
      return idsOf(begun);
    },
    lacks: (message) => versionOf(message) > (versions.get(message.id) ?? -1),
    async add(messages) {
      const last = archives.at(-1);
      if (!last || !topic || messages.length === 0) return;
      const edited = messages.filter(({ id }) => versions.has(id));
      const arrived = messages.filter(({ id }) => !versions.has(id));
      const added = [
        ...(await addEdited(chat, archives, topicSelection(topic), edited, keeping)),
        ...(await addArrived(chat, last.archive, topic, arrived)),
      ];
      for (const message of added) versions.set(message.id, versionOf(message));
    },
    async finish() {
      const finished = timeText(keeping.now());
      for (const { archive, purge } of archives) await purge.finish({ finished, deleted: idsOf([archive]).length });
    },
    close: () => closeAll(archives),
  };
}

/** Reads every part back from disk. */
async function verified({ folder }: OpenArchive): Promise<void> {
  for await (const { file, problem } of problemsOf(await readArchive(folder))) throw unreadable(folder, file, problem);
}

async function addArrived(
  chat: Pick<ChatApi, 'messages'>,
  archive: OpenArchive,
  topic: Topic,
  arrived: readonly Message[],
): Promise<Message[]> {
  const last = archive.parts.at(-1)?.last ?? 0;
  const moved = arrived.find(({ id }) => id < last);
  if (moved)
    throw new Failure(
      'incomplete',
      `message ${moved.id} was moved into '${topic.topic_name}' after the topic was archived: nothing more is deleted`,
      {
        hint: 'Run the same command again: it archives it first.',
      },
    );
  const added: Message[] = [];
  for (let at = 0; at < arrived.length; at += 1000)
    added.push(...(await addPart(chat, archive, topicSelection(topic), arrived.slice(at, at + 1000))));
  return added;
}

async function addPart(
  chat: Pick<ChatApi, 'messages'>,
  archive: OpenArchive,
  selection: MessageSelection,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  // The rounds fetch the source form.
  const forms = await formsOf(chat, selection, messages, ['source', 'rendered']);
  if (!forms.source || forms.source.length === 0) return [];
  const part = await archive.add(forms);
  for (const form of archiveForms) await readBack(archive.folder, part, form);
  return forms.source;
}

async function readBack(folder: string, part: ArchivePart, form: (typeof archiveForms)[number]): Promise<void> {
  const { problem } = await readPart(folder, part, form);
  if (problem !== undefined) throw unreadable(folder, part[form]?.file ?? form, problem);
}

function startOf({ channel, topic_name, spellings, ids }: TopicSurvey, { site, account, now }: Keeping) {
  const place = { site, account, stream_id: channel.stream_id, channel: channel.name };
  return { purge: 1, begun: timeText(now()), ...place, topic_name, spellings, messages: ids.length };
}

function timeText(time: Milliseconds): string {
  return new Date(time).toISOString();
}

function unreadable(folder: string, file: string, problem: string): Failure {
  return new Failure(
    'unavailable',
    `the archive ${folder} cannot be read back: ${file}: ${problem}; nothing more is deleted`,
    {
      hint: 'Look at the disk, or name another folder with --archive.',
    },
  );
}
