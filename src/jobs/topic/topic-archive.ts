import type { ChatApi } from '../../api/chat/chat.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { readArchive, type OpenArchive } from '../../store/archive/archive.ts';
import { archiveForms } from '../../store/archive/archive-head.ts';
import type { PurgeRecord } from '../../store/archive/purge-record.ts';
import { problemsOf } from '../../store/archive/verify-archive.ts';
import { pullArchive } from '../archive/pull-archive.ts';
import { checkMessages } from './find-channel.ts';
import { isIn, topicSelection, type Topic, type TopicSurvey } from './survey-topic.ts';
import { archivesOf, type PurgePlace } from './topic-folders.ts';

/** What an archive before deletion needs. */
export interface Keeping extends PurgePlace {
  open(folder: string): Promise<OpenArchive>;
  now(): Milliseconds;
  note(text: string): void;
  /** Called at the beginning and after each part with the number of messages that were archived so far. */
  archived(count: number): void;
}

/** The ids in the archives of an interrupted purge of that topic; undefined where there is none. */
export async function interruptedPurge(topic: Topic, keeping: PurgePlace): Promise<readonly number[] | undefined> {
  const begun = (await archivesOf(topic, keeping)).unfinished.filter(({ stage }) => stage === 'begun');
  if (begun.length === 0) return undefined;
  return idsOf(await Promise.all(begun.map(({ folder }) => readArchive(folder))));
}

/** An archive and the record of its purge. */
export interface TopicArchive {
  readonly archive: OpenArchive;
  readonly purge: PurgeRecord;
}

/**
 * Opens the archives of an interrupted purge, or a new one, and brings the last one up to date: it holds every surveyed message in both
 * forms. Where older messages were moved into the topic since, that is a new one: ids ascend in an archive.
 * @throws Failure incomplete where some were gone before they were archived, an archive is damaged, or a page fails; unavailable where
 * the disk is full
 */
export async function openTopicArchives(
  chat: Pick<ChatApi, 'messages' | 'level' | 'organization'>,
  survey: TopicSurvey,
  keeping: Keeping,
): Promise<readonly TopicArchive[]> {
  const { unfinished, free } = await archivesOf(survey, keeping);
  const opened: TopicArchive[] = [];
  try {
    for (const { folder } of unfinished) opened.push(await openOne(folder, keeping));
    for (const one of opened) await refuseDamaged(one);
    const last = opened.at(-1);
    if (last && (await missingAfterPull(chat, last, survey, keeping)).length === 0) return opened;
    const fresh = await openOne(free, keeping);
    opened.push(fresh);
    const missing = await missingAfterPull(chat, fresh, survey, keeping);
    if (missing.length > 0) throw vanished(survey, missing);
    return opened;
  } catch (cause) {
    await closeAll(opened);
    throw cause;
  }
}

/** @throws Failure unavailable where another process ended the purge meanwhile */
async function openOne(folder: string, { open }: Pick<Keeping, 'open'>): Promise<TopicArchive> {
  const archive = await open(folder);
  try {
    const purge = await archive.purge();
    if (purge.state !== 'finished') return { archive, purge };
    throw new Failure('unavailable', `another process has just ended the purge of ${folder}: nothing was deleted`, {
      hint: 'Run the same command again.',
    });
  } catch (cause) {
    await archive.close();
    throw cause;
  }
}

/**
 * A pull repairs a damaged part with what the server still has, and of a purge that began the messages may be deleted already.
 * @throws Failure incomplete
 */
async function refuseDamaged({ archive: { folder }, purge }: TopicArchive): Promise<void> {
  if (purge.state !== 'begun') return;
  for await (const { file, problem } of problemsOf(await readArchive(folder)))
    throw new Failure(
      'incomplete',
      `the archive of the interrupted purge ${folder} is damaged: ${file}: ${problem}; nothing more is deleted`,
      {
        hint: 'Put the file back from a copy; or move the folder away: then the same command archives and deletes what is left.',
        retryable: false,
      },
    );
}

/** Closes every archive, also after one that cannot be closed. @throws Failure the first */
export async function closeAll(archives: readonly TopicArchive[]): Promise<void> {
  const failed: unknown[] = [];
  const failing = (cause: unknown): void => void failed.push(cause);
  for (const { archive, purge } of archives) {
    await purge.close().catch(failing);
    await archive.close().catch(failing);
  }
  if (failed.length > 0) throw failed[0];
}

/** The surveyed ids that an archive lacks after a pull. */
async function missingAfterPull(
  chat: Pick<ChatApi, 'messages' | 'level' | 'organization'>,
  { archive }: TopicArchive,
  survey: TopicSurvey,
  keeping: Keeping,
): Promise<readonly number[]> {
  await pullTopic(chat, archive, survey, keeping);
  return missingIn(archive, survey.ids);
}

async function pullTopic(
  chat: Pick<ChatApi, 'messages' | 'level' | 'organization'>,
  archive: OpenArchive,
  topic: Topic,
  { site, account, note, archived }: Keeping,
): Promise<void> {
  const { channel, topic_name } = topic;
  const order = {
    ...{ site, account, forms: archiveForms },
    options: { channel: [String(channel.stream_id)], topic: [topic_name] },
    selection: () => topicSelection(topic),
  };
  await pullArchive(chat, archive, order, {
    note,
    added: archived,
    check: (page) => checkMessages(page, (message) => isIn(topic, message), topic_name),
  });
}

/** Ids that the archive lacks in one of its forms. */
function missingIn({ parts }: Pick<OpenArchive, 'parts'>, ids: readonly number[]): number[] {
  const held = new Set(parts.flatMap((part) => part.ids));
  for (const part of parts)
    for (const form of archiveForms)
      for (const id of part[form]?.absent ?? (part[form] ? [] : part.ids)) held.delete(id);
  return ids.filter((id) => !held.has(id));
}

/** Every id that archives hold, each once, ascending. */
export function idsOf(archives: readonly Pick<OpenArchive, 'parts'>[]): number[] {
  const ids = new Set(archives.flatMap(({ parts }) => parts.flatMap((part) => part.ids)));
  return [...ids].sort((one, other) => one - other);
}

function vanished({ topic_name, ids }: TopicSurvey, missing: readonly number[]): Failure {
  return new Failure(
    'incomplete',
    `${missing.length} of ${ids.length} messages of '${topic_name}' were gone when they were archived: nothing was deleted`,
    { hint: 'Somebody else deletes or moves messages of the topic. Run the same command again.' },
  );
}
