// The folders of a purge's archives: those of interrupted purges of the topic, and the next one.
import { join } from 'node:path';
import type { ChatApi } from '../../api/chat/chat.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { foldName } from '../../schema/topic.ts';
import { problemsOf, readArchive, type OpenArchive } from '../../store/archive/archive.ts';
import { readHead } from '../../store/archive/archive-head.ts';
import { openPurge, type PurgeEnd } from '../../store/archive/line-file.ts';
import { archiveForms } from '../../store/archive/part.ts';
import { hashOf } from '../../store/disk/files.ts';
import type { PurgeEvent as HistoryEvent } from '../../store/record/history.ts';
import { pullArchive } from '../archive/pull-archive.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import { shownName, type Topic } from './find-channel.ts';
import type { TopicHold } from './holds.ts';
import { topicSelection, type EarlierPurges, type TopicSurvey } from './survey-topics.ts';

/** Where archives of purges are, and of which account. */
export interface PurgeArchives {
  /** False with --no-archive. */
  readonly isKept: boolean;
  /** Folder of the archives; each topic has one of its own in it. */
  readonly root: string;
  readonly site: string;
  readonly account: string;
  /** Bytes of the largest attached file; none are kept without it. */
  readonly maxFileSize?: number | undefined;
}

export interface Keeping extends PurgeArchives {
  archive(folder: string): Promise<OpenArchive>;
  now(): Milliseconds;
  note(text: string): void;
  /** Called at the beginning and after each part with the number of messages that were archived so far. */
  archived(count: number): void;
}

/** Parts of the run that a purge uses. */
export interface PurgeParts extends WorkMessages {
  /** Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  interactive(): boolean;
  /** The line that continues the purge. */
  again(): string;
  now(): Milliseconds;
  sleep(span: Milliseconds): Promise<void>;
  archive(folder: string): Promise<OpenArchive>;
  record(event: HistoryEvent): Promise<void>;
}

export type PurgeChat = Pick<
  ChatApi,
  'messages' | 'raw' | 'level' | 'channels' | 'topics' | 'deleteTopic' | 'organization' | 'upload'
>;

export interface TopicLimits {
  readonly archives: PurgeArchives;
  readonly holds: readonly TopicHold[];
  /** Infinity for any number. */
  readonly maxMessages: number;
}

export type ArchiveChat = Pick<ChatApi, 'raw' | 'level' | 'organization' | 'channels' | 'upload'>;

export type TopicArchive = Awaited<ReturnType<typeof openOne>>;

/** @throws Failure config where a record is damaged */
export async function earlierPurges(topic: Topic, place: PurgeArchives): Promise<EarlierPurges> {
  const { unfinished, ended } = await archivesOf(topic, place);
  return { isBegun: unfinished.some(({ stage }) => stage === 'begun'), ended };
}

/**
 * The archives of an interrupted purge, or a new one, the last one brought up to date in both forms. It is new too
 * where a repair of the last one had no message for an id. @throws Failure incomplete where some were gone before, an
 * archive is damaged, or a page fails; unavailable where the disk is full
 */
export async function openArchives(
  chat: ArchiveChat,
  survey: TopicSurvey,
  keeping: Keeping,
): Promise<readonly [TopicArchive, ...TopicArchive[]]> {
  const { unfinished, free } = await archivesOf(survey, keeping);
  const archives: TopicArchive[] = [];
  try {
    for (const { folder } of unfinished) archives.push(await openOne(folder, keeping));
    for (const { archive, isBegun } of archives) if (isBegun) await refuseDamaged(archive);
    const [first, ...others] = archives;
    const before = archives.at(-1);
    if (first && before && (await pullTopic(chat, before, survey, keeping)) === 0) return [first, ...others];
    const last = await openOne(free, keeping);
    archives.push(last);
    const missing = await pullTopic(chat, last, survey, keeping);
    if (missing === 0) return first ? [first, ...others, last] : [last];
    throw new Failure(
      'incomplete',
      `${missing} of ${survey.ids.length} messages of '${shownName(survey)}' were gone when they were archived: nothing was deleted`,
      { hint: 'Somebody else deletes or moves messages of the topic. Run the same command again.' },
    );
  } catch (cause) {
    await closeAll(archives).catch(() => undefined);
    throw cause;
  }
}

/** @throws Failure unavailable where another process ended the purge meanwhile */
export async function openOne(folder: string, { archive: open }: Keeping) {
  const archive = await open(folder);
  try {
    const purge = await archive.purge();
    if (typeof purge.stage === 'string') return { archive, purge, isBegun: purge.stage === 'begun' };
    throw new Failure('unavailable', `another process has just ended the deletion of ${folder}: nothing was deleted`, {
      hint: 'Run the same command again.',
    });
  } catch (cause) {
    await archive.close();
    throw cause;
  }
}

/** A pull repairs a part with what the server still has, which a purge may have deleted. @throws Failure incomplete */
async function refuseDamaged({ folder }: OpenArchive): Promise<void> {
  for await (const { file, problem } of problemsOf(await readArchive(folder)))
    throw new Failure(
      'incomplete',
      `the archive of the interrupted deletion ${folder} is damaged: ${file}: ${problem}; nothing more is deleted`,
      {
        hint: 'Put the file back from a copy; or move the folder away: then the same command archives and deletes what is left.',
        retryable: false,
      },
    );
}

/** Closes every archive, also after one that cannot be closed. @throws Failure the first */
export async function closeAll(archives: readonly TopicArchive[]): Promise<void> {
  const failed: unknown[] = [];
  for (const one of archives.flatMap(({ purge, archive }) => [purge, archive]))
    await one.close().catch((cause: unknown) => failed.push(cause));
  if (failed.length > 0) throw failed[0];
}

/** Brings the archive up to date. @returns how many messages it lacks in one of its forms */
async function pullTopic(
  chat: ArchiveChat,
  { archive }: TopicArchive,
  survey: TopicSurvey,
  { site, account, maxFileSize, note, archived }: Keeping,
): Promise<number> {
  const order = {
    site,
    account,
    forms: archiveForms,
    files: maxFileSize !== undefined,
    options: { channel: [String(survey.channel.stream_id)], topic: [survey.topic_name] },
    selection: () => topicSelection(survey),
  };
  const isWhole = archive.parts.length > 0;
  await pullArchive({ ...chat, ...chat.raw }, archive, order, { note, added: archived, isWhole });
  const held = new Set(archive.parts.flatMap((part) => part.ids));
  for (const part of archive.parts)
    for (const form of archiveForms)
      for (const id of part[form]?.absent ?? (part[form] ? [] : part.ids)) held.delete(id);
  return survey.ids.filter((id) => !held.has(id)).length;
}

/** Archives that one topic may have: each complete purge leaves one. */
const maxArchives = 1000;

/** Archives of purges that did not end, oldest first, and the next folder. @throws Failure config for too many */
async function archivesOf(topic: Topic, place: PurgeArchives) {
  const unfinished: { folder: string; stage: 'new' | 'begun' }[] = [];
  let ended: PurgeEnd | undefined;
  for (let number = 1; number <= maxArchives; number += 1) {
    const folder = folderOf(topic, place, number);
    // A run that ends before its purge begins leaves an archive without a record: it is unfinished too.
    const { stage } = await openPurge(folder);
    if (stage === 'new' && !(await readHead(folder))) return { unfinished, ended, free: folder };
    if (typeof stage === 'string') unfinished.push({ folder, stage });
    else ended = stage;
  }
  throw new Failure('config', `${place.root} holds ${maxArchives} archives of the topic '${shownName(topic)}'`, {
    hint: 'Name another folder with --archive.',
  });
}

/** The channel's id and the name for people, and a hash that is different for each account and spelling. */
function folderOf({ channel, topic_name }: Topic, { root, site, account }: PurgeArchives, number: number): string {
  const key = [site, account, channel.stream_id, foldName(topic_name)].join('\n');
  const hash = hashOf(Buffer.from(key)).slice(0, 8);
  const words = topic_name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const name = words.join('-').slice(0, 40);
  const parts = [channel.stream_id, name, hash, ...(number > 1 ? [number] : [])];
  return join(root, parts.filter((part) => part !== '').join('-'));
}
