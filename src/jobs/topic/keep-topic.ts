import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message } from '../../api/chat/chat-messages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { readArchive, type OpenArchive } from '../../store/archive/archive.ts';
import { archiveForms } from '../../store/archive/archive-head.ts';
import { readPart, type ArchivePart } from '../../store/archive/part.ts';
import { readPurge, type PurgeRecord } from '../../store/archive/purge-record.ts';
import { problemsOf } from '../../store/archive/verify-archive.ts';
import { formsOf } from '../archive/part-forms.ts';
import { pullArchive } from '../archive/pull-archive.ts';
import type { MessageSelection } from '../messages/selection.ts';
import type { Keeper } from './delete-rounds.ts';
import { checkMessages } from './find-channel.ts';
import { isIn, topicSelection, type Topic, type TopicSurvey } from './survey-topic.ts';
import { foldName } from './topic-names.ts';

/** What an archive before deletion needs. */
export interface Keeping {
  /** Folder of the archives; each topic has one of its own in it. */
  readonly root: string;
  readonly site: string;
  readonly account: string;
  open(folder: string): Promise<OpenArchive>;
  now(): Milliseconds;
  note(text: string): void;
  /** Called with the number of messages that were archived so far. */
  archived(count: number): void;
}

/** Keeps a topic in an archive of its own, with a record of the purge beside it. */
export interface TopicKeeper extends Keeper {
  /** Records that the topic is deleted: a later purge of the same name begins another archive. */
  finish(deleted: number): Promise<void>;
  close(): Promise<void>;
}

/** Archives that one topic may have: each complete purge leaves one. */
const maxArchives = 1000;

/**
 * A keeper that archives a topic in both forms, reads it back and verifies it. An interrupted purge continues in its archive.
 * Its calls throw Failure unavailable where a page or the disk fails, incomplete where messages are missing from the archive.
 */
export function topicKeeper(chat: Pick<ChatApi, 'messages' | 'level' | 'organization'>, keeping: Keeping): TopicKeeper {
  let archive: OpenArchive | undefined;
  let topic: Topic | undefined;
  let purge: PurgeRecord | undefined;
  return {
    async begin(survey) {
      topic = survey;
      ({ archive, purge } = await openTopicArchive(chat, survey, keeping));
      await verified(archive);
      await purge.begin(startOf(survey, keeping));
      keeping.note(`topic '${survey.topic_name}' is archived and verified in ${archive.folder}`);
      return idsOf(archive);
    },
    async add(messages) {
      if (archive && topic) await addArrived(chat, archive, topic, messages);
    },
    async finish(deleted) {
      await purge?.finish({ finished: timeText(keeping.now()), deleted });
    },
    async close() {
      await purge?.close();
      await archive?.close();
    },
  };
}

/** The messages of a purge of that topic that was interrupted; undefined where there is none. */
export async function interruptedPurge(
  topic: Topic,
  keeping: Pick<Keeping, 'root' | 'site' | 'account'>,
): Promise<readonly number[] | undefined> {
  for (let number = 1; number <= maxArchives; number += 1) {
    const state = await readPurge(folderOf(topic, keeping, number));
    if (state === undefined) return undefined;
    if (state === 'begun') return idsOf(await readArchive(folderOf(topic, keeping, number)));
  }
  return undefined;
}

async function openTopicArchive(
  chat: Pick<ChatApi, 'messages' | 'level' | 'organization'>,
  survey: TopicSurvey,
  keeping: Keeping,
): Promise<{ archive: OpenArchive; purge: PurgeRecord }> {
  for (let number = 1; number <= maxArchives; number += 1) {
    const archive = await keeping.open(folderOf(survey, keeping, number));
    try {
      const purge = await archive.purge();
      const isNew = archive.parts.length === 0;
      if (purge.state !== 'finished') {
        await pullTopic(chat, archive, survey, keeping);
        const missing = missingIn(archive, survey.ids);
        if (missing.length === 0) return { archive, purge };
        if (isNew) throw vanished(survey, missing);
      }
      await purge.close();
    } catch (cause) {
      await archive.close();
      throw cause;
    }
    await archive.close();
  }
  throw new Failure('config', `${keeping.root} holds ${maxArchives} archives of the topic '${survey.topic_name}'`, {
    hint: 'Name another folder with --archive.',
  });
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

/** Reads every part back from disk. */
async function verified({ folder }: OpenArchive): Promise<void> {
  for await (const { file, problem } of problemsOf(await readArchive(folder))) throw unreadable(folder, file, problem);
}

async function addArrived(
  chat: Pick<ChatApi, 'messages'>,
  archive: OpenArchive,
  topic: Topic,
  messages: readonly Message[],
): Promise<void> {
  const held = new Set(idsOf(archive));
  const fresh = messages.filter(({ id }) => !held.has(id));
  const last = archive.parts.at(-1)?.last ?? 0;
  const moved = fresh.find(({ id }) => id < last);
  if (moved)
    throw new Failure(
      'incomplete',
      `message ${moved.id} was moved into '${topic.topic_name}' during the deletion, and is not archived`,
      {
        hint: 'Run the same command again: it archives it first.',
      },
    );
  for (let at = 0; at < fresh.length; at += 1000)
    await addPart(chat, archive, topicSelection(topic), fresh.slice(at, at + 1000));
}

async function addPart(
  chat: Pick<ChatApi, 'messages'>,
  archive: OpenArchive,
  selection: MessageSelection,
  messages: readonly Message[],
): Promise<void> {
  // The rounds fetch the source form.
  const forms = await formsOf(chat, selection, messages, ['source', 'rendered']);
  if (forms.source?.length === 0) return;
  const part = await archive.add(forms);
  for (const form of archiveForms) await readBack(archive.folder, part, form);
}

async function readBack(folder: string, part: ArchivePart, form: (typeof archiveForms)[number]): Promise<void> {
  const { problem } = await readPart(folder, part, form);
  if (problem !== undefined) throw unreadable(folder, part[form]?.file ?? form, problem);
}

function idsOf({ parts }: Pick<OpenArchive, 'parts'>): number[] {
  return parts.flatMap(({ ids }) => ids);
}

/** The channel's id and the name for people, and a hash that tells accounts and spellings apart. */
function folderOf(
  { channel, topic_name }: Topic,
  { root, site, account }: Pick<Keeping, 'root' | 'site' | 'account'>,
  number: number,
): string {
  const key = [site, account, channel.stream_id, foldName(topic_name)].join('\n');
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 8);
  const words = topic_name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const name = words.join('-').slice(0, 40);
  return join(
    root,
    [channel.stream_id, name, hash, ...(number > 1 ? [number] : [])].filter((part) => part !== '').join('-'),
  );
}

function startOf({ channel, topic_name, spellings, ids }: TopicSurvey, { site, account, now }: Keeping) {
  const place = { site, account, stream_id: channel.stream_id, channel: channel.name };
  return { purge: 1, begun: timeText(now()), ...place, topic_name, spellings, messages: ids.length };
}

function timeText(time: Milliseconds): string {
  return new Date(time).toISOString();
}

function vanished({ topic_name, ids }: TopicSurvey, missing: readonly number[]): Failure {
  return new Failure(
    'incomplete',
    `${missing.length} of ${ids.length} messages of '${topic_name}' were gone when they were archived: nothing was deleted`,
    { hint: 'Somebody else deletes or moves messages of the topic. Run the same command again.' },
  );
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
