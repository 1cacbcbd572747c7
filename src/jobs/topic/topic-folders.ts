import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../../core/failure.ts';
import { foldName } from '../../schema/topic.ts';
import { readHead } from '../../store/archive/archive-head.ts';
import { readPurge, type PurgeStage } from '../../store/archive/purge-record.ts';
import type { Topic } from './survey-topic.ts';

/** Where the archives of purges are, and of which account. */
export interface PurgePlace {
  /** Folder of the archives; each topic has one of its own in it. */
  readonly root: string;
  readonly site: string;
  readonly account: string;
}

/** Archives that one topic may have: each complete purge leaves one. */
const maxArchives = 1000;

/** The folders of a topic's archives. */
export interface TopicFolders {
  /** Archives whose purge did not end, in the order in which they were made. */
  readonly unfinished: readonly { readonly folder: string; readonly stage: PurgeStage }[];
  /** The folder of the next archive. */
  readonly free: string;
}

/** A run that ends before its purge begins leaves an archive without a record: it is unfinished too. Undefined where there is no archive. */
async function stageOf(folder: string): Promise<PurgeStage | undefined> {
  return (await readPurge(folder)) ?? ((await readHead(folder)) ? 'new' : undefined);
}

/** @throws Failure config where there are too many, or a record is damaged */
export async function archivesOf(topic: Topic, keeping: PurgePlace): Promise<TopicFolders> {
  const unfinished: { folder: string; stage: PurgeStage }[] = [];
  for (let number = 1; number <= maxArchives; number += 1) {
    const folder = folderOf(topic, keeping, number);
    const stage = await stageOf(folder);
    if (stage === undefined) return { unfinished, free: folder };
    if (stage !== 'finished') unfinished.push({ folder, stage });
  }
  throw new Failure('config', `${keeping.root} holds ${maxArchives} archives of the topic '${topic.topic_name}'`, {
    hint: 'Name another folder with --archive.',
  });
}

/** The channel's id and the name for people, and a hash that is different for each account and spelling. */
function folderOf({ channel, topic_name }: Topic, { root, site, account }: PurgePlace, number: number): string {
  const key = [site, account, channel.stream_id, foldName(topic_name)].join('\n');
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 8);
  const words = topic_name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const name = words.join('-').slice(0, 40);
  return join(
    root,
    [channel.stream_id, name, hash, ...(number > 1 ? [number] : [])].filter((part) => part !== '').join('-'),
  );
}
