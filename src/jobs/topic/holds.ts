// Holds: topics that no purge deletes, and the checks of holds before a run begins.
import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';
import { editDistance } from '../../schema/nearest.ts';
import { isSameName, isSameTopic, unmarked } from '../../schema/topic.ts';
import { findMessages } from '../messages/messages-by-ids.ts';
import { labelOf, topicNamesIn, type Channel, type Topic } from './find-channel.ts';
import type { TopicSurvey } from './survey-topics.ts';

/** A topic that no purge deletes. It is known by its name, and by its messages also under another name. */
export interface TopicHold {
  /** File and line, for messages to a person. */
  readonly where: string;
  /** The channel of the row; a row without one is of every channel. */
  readonly stream_id?: number | undefined;
  readonly channel?: string | undefined;
  /** The name in each reading of its line. */
  readonly names: readonly string[];
  readonly ids: readonly number[];
}

/** A hold whose channel the server does not list holds in every channel: the channel may have been renamed. */
export async function inKnownChannels(chat: ChatApi, holds: readonly TopicHold[]) {
  const listed = holds.some(({ channel }) => channel !== undefined) ? await chat.channels() : undefined;
  return holds.map(({ channel, ...hold }) => {
    const isKnown = !listed || listed.some(({ name }) => isSameName(String(name), channel ?? ''));
    return { ...hold, channel: isKnown ? channel : undefined };
  });
}

/** The first hold of a topic: by its name in any case, with or without the mark of resolved, or by a message. */
export function holdOf(
  holds: readonly TopicHold[],
  { channel, topic_name }: Pick<Topic, 'channel' | 'topic_name'>,
  ids: Iterable<number>,
): TopicHold | undefined {
  const present = new Set(holds.length > 0 ? ids : []);
  return holds.find(
    (hold) => (isOf(hold, channel) && isNamed(hold, topic_name)) || hold.ids.some((id) => present.has(id)),
  );
}

function isNamed({ names }: TopicHold, topic: string): boolean {
  return names.some((name) => isSameTopic(unmarked(name), unmarked(topic)));
}

/** True if the row may mean that channel. */
function isOf({ stream_id, channel }: TopicHold, { stream_id: id, name }: Channel): boolean {
  if (stream_id !== undefined) return stream_id === id;
  return channel === undefined || name === undefined || isSameName(channel, name);
}

/**
 * Warns of each hold without ids that fits no topic in the channels of the run. @throws Failure rejected for one that
 * names a channel of the run, and where a topic that would be deleted has a similar name
 */
export async function refuseUnfitting(
  chat: ChatApi,
  holds: readonly TopicHold[],
  surveys: readonly TopicSurvey[],
  warn: (text: string) => void,
): Promise<void> {
  const channels = new Map(surveys.map(({ channel }) => [channel.stream_id, channel]));
  const lists = new Map<number, readonly string[]>();
  for (const hold of holds.filter(({ ids }) => ids.length === 0)) {
    const { where, stream_id, channel, names } = hold;
    const own = [...channels.values()].filter((one) => isOf(hold, one));
    const ofRun = surveys.filter((survey) => isOf(hold, survey.channel));
    if (ofRun.length === 0 || ofRun.some(({ topic_name }) => isNamed(hold, topic_name))) continue;
    for (const one of own)
      if (!lists.has(one.stream_id)) lists.set(one.stream_id, (await topicNamesIn(chat, one)) ?? []);
    if (own.some((one) => lists.get(one.stream_id)?.some((topic) => isNamed(hold, topic)))) continue;
    const missing = `${where}: no topic '${names[0]}'`;
    const hint =
      'Correct the line, or remove it. A rename ends a hold by name, and not one by ids (topic list --fields ids).';
    if (stream_id !== undefined || channel !== undefined)
      throw new Failure('rejected', `${missing} in the channel ${own[0]?.name ?? stream_id}: nothing was deleted`, {
        hint,
      });
    // Without a header, a row of channel and topic was read as one name; so was a name with a remark behind it.
    const written = names.flatMap((name) => [name, name.replace(/^.*[,;:>]/, ''), name.replace(/[#(].*/, '')]);
    const near = ofRun.find(({ topic_name }) => written.some((name) => isNear(name, topic_name)));
    if (near)
      throw new Failure('rejected', `${missing}, and '${near.topic_name}' is similar: nothing was deleted`, { hint });
    warn(`${missing} in the channels of this run; a rename ends a hold by name`);
  }
}

/** True if two names differ only by blanks, quotes, the form of their letters, or one or two letters. */
function isNear(one: string, other: string): boolean {
  const [a, b] = [lettersOf(one), lettersOf(other)];
  return editDistance(a, b) <= Math.min(2, Math.floor(Math.max(a.length, b.length) / 3));
}

function lettersOf(name: string): string {
  const letters = unmarked(name).normalize('NFKC');
  return letters.replace(/[\s\p{Quotation_Mark}\p{Cf}`´]/gu, '').toLowerCase();
}

export interface TopicRefusal {
  readonly failure: Failure;
  /** False where the topic is refused since nobody can tell whether it is held. */
  readonly isHeld: boolean;
}

/**
 * The surveyed topics of which nothing may be deleted: held ones, and all in the channel of a hold whose messages are
 * found in no channel, since nobody can tell which topic shows them.
 */
export async function refusalsOf(
  chat: ChatApi,
  holds: readonly TopicHold[],
  surveys: readonly TopicSurvey[],
): Promise<ReadonlyMap<TopicSurvey, TopicRefusal>> {
  const channels = new Map(surveys.map(({ channel }) => [channel.stream_id, channel]));
  const seen = new Set(surveys.flatMap(({ ids }) => ids));
  const lost = new Map<number, Failure>();
  for (const hold of holds) {
    const named = [...channels.values()].filter((channel) => isOf(hold, channel));
    if (named.length === 0 || hold.ids.length === 0 || hold.ids.some((id) => seen.has(id))) continue;
    if (!(await isFound(chat, hold, named))) for (const { stream_id } of named) lost.set(stream_id, lostHold(hold));
  }
  const refusals = new Map<TopicSurvey, TopicRefusal>();
  for (const survey of surveys) {
    const hold = holdOf(holds, survey, survey.ids);
    const failure = hold ? heldTopic(survey, hold) : lost.get(survey.channel.stream_id);
    if (failure) refusals.set(survey, { failure, isHeld: hold !== undefined });
  }
  return refusals;
}

export function heldTopic(topic: Topic, { where }: TopicHold): Failure {
  return new Failure('rejected', `topic '${labelOf(topic)}' is held by ${where}: not deleted`);
}

function lostHold({ where, ids }: TopicHold): Failure {
  const named = `${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ', …' : ''}`;
  const message = `${where}: no channel shows the messages ${named} of this hold: nothing is deleted in the channel`;
  return new Failure('rejected', message, {
    hint: 'They were deleted, or moved out of sight: look for them with an account that sees more, or remove the row.',
  });
}

/** The most ids of one hold that are requested: one that is found is enough. */
const mostAsked = 100;

async function isFound(chat: ChatApi, { ids }: TopicHold, channels: readonly Channel[]): Promise<boolean> {
  for (const { stream_id } of channels)
    for await (const _ of findMessages(chat, { apply_markdown: false }, stream_id, ids.slice(0, mostAsked)))
      return true;
  return false;
}
