import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { ChatApi } from '../../api/chat/chat.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { readArchive, type OpenArchive } from '../../store/archive/archive.ts';
import { archiveForms } from '../../store/archive/archive-head.ts';
import { readPurge, type PurgeRecord } from '../../store/archive/purge-record.ts';
import { pullArchive } from '../archive/pull-archive.ts';
import { foldName } from '../../schema/topic.ts';
import { checkMessages } from './find-channel.ts';
import { isIn, topicSelection, type Topic, type TopicSurvey } from './survey-topic.ts';

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

/** Archives that one topic may have: each complete purge leaves one. */
const maxArchives = 1000;

/** The ids in the archive of an interrupted purge of that topic; undefined where there is none. */
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

/**
 * Opens the archive of an interrupted purge, or a new one, and brings it up to date: it holds every surveyed message in both forms.
 * @throws Failure incomplete where some were gone before they were archived, or a page fails; unavailable where the disk is full
 */
export async function openTopicArchive(
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

/** Every id that an archive holds, ascending. */
export function idsOf({ parts }: Pick<OpenArchive, 'parts'>): number[] {
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

function vanished({ topic_name, ids }: TopicSurvey, missing: readonly number[]): Failure {
  return new Failure(
    'incomplete',
    `${missing.length} of ${ids.length} messages of '${topic_name}' were gone when they were archived: nothing was deleted`,
    { hint: 'Somebody else deletes or moves messages of the topic. Run the same command again.' },
  );
}
