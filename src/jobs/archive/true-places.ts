import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead } from '../../api/chat/chat-messages.ts';
import type { JsonObject } from '../../core/json.ts';
import { foldTopic, isSameName } from '../../schema/topic.ts';
import type { MessagePlace } from '../../store/archive/archive-lists.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import { inChannel, messagesOfIds } from '../messages/messages-by-ids.ts';
import { namesPlace, narrowOf } from '../messages/places.ts';
import { channelsIn, operandsIn } from '../messages/selection.ts';
import { misplacedIn } from '../messages/topic-places.ts';

type PlacingChat = Pick<ChatApi, 'messages' | 'topics' | 'channels' | 'level'>;

/** Messages of one channel: the topics that they name, and those that are in none that they name. */
interface ChannelMessages {
  readonly named: Map<string, number[]>;
  readonly lost: number[];
}

/** Messages by channel and by the topic that they name. */
export function namedTopics() {
  const channels = new Map<number, ChannelMessages>();
  const of = (id: number): ChannelMessages => {
    const known = channels.get(id) ?? { named: new Map<string, number[]>(), lost: [] };
    channels.set(id, known);
    return known;
  };
  /** Those that are known not to be in the place that they name. */
  const old = new Set<number>();
  return {
    of,
    old,
    add(message: MessageHead): void {
      const { id, stream_id, subject } = message;
      if (narrowOf(message)) old.add(id);
      if (narrowOf(message) || typeof stream_id !== 'number') return;
      const { named } = of(stream_id);
      const key = foldTopic(String(subject));
      const ids = named.get(key);
      if (ids) ids.push(id);
      else named.set(key, [id]);
    },
    /** Those that the list of topics of their channel has elsewhere. */
    async misplaced(chat: Pick<PlacingChat, 'messages' | 'topics' | 'level'>) {
      const found: { readonly id: number; readonly stream_id: number; readonly subject: string | undefined }[] = [];
      for (const [stream_id, { named, lost }] of channels) {
        const topics = new Map([...named].map(([key, ids]) => [key, () => ids]));
        for (const [id, { topic }] of await misplacedIn(chat, stream_id, topics, lost))
          found.push({ id, stream_id, subject: topic });
      }
      return found;
    },
  };
}

/** Records in the archive which of the messages that a pull added named a place in which they are not; their number. */
export async function recordOldCopies(
  chat: Pick<PlacingChat, 'messages' | 'topics' | 'level'>,
  archive: Pick<OpenArchive, 'parts' | 'list'>,
  names: ReturnType<typeof namedTopics>,
): Promise<number> {
  const strays = await names.misplaced(chat);
  const old = new Set([...names.old, ...strays.map(({ id }) => id)]);
  for (const part of [...archive.parts]) {
    const ids = part.ids.filter((id) => old.has(id));
    if (ids.length > 0) await archive.list({ ...part, old: ids });
  }
  return strays.length;
}

/** Requests of one run that ask a channel after another for messages that left theirs. */
const mostChannels = 200;

/**
 * Finds the places of messages that are not where they say (docs/apis.md, Old copies): by the narrow in which each was
 * found, and by the topics of each channel, for which the server is asked once.
 */
export function truePlaces(chat: PlacingChat, selected: readonly unknown[]) {
  const lists = new Map<number, ReturnType<ChatApi['topics']>>();
  const topics = (id: number) => {
    const known = lists.get(id) ?? chat.topics(id);
    lists.set(id, known);
    return known;
  };
  let channels: Promise<readonly JsonObject[]> | undefined;
  let left = mostChannels;
  /** The channels of messages that are in none that they name. */
  const search = async (ids: readonly number[], take: (id: number, channel: number) => void): Promise<void> => {
    const open = new Set(ids);
    for (const { stream_id: id } of open.size > 0
      ? await (channels ??= chat.channels().then((rows) => rows ?? []))
      : [])
      if (typeof id === 'number' && open.size > 0 && left > 0) {
        left -= 1;
        const query = { narrow: inChannel(id), apply_markdown: false };
        for await (const found of messagesOfIds(chat, query, [...open])) if (open.delete(found.id)) take(found.id, id);
      }
  };
  /**
   * `gone`: messages that are known not to be in the place that they name, and their channel, if that is known.
   * Returns the messages that are elsewhere than they say; what no read shows of a place is undefined.
   */
  return async (
    messages: Iterable<MessageHead>,
    gone: ReadonlyMap<number, number | undefined>,
  ): Promise<ReadonlyMap<number, MessagePlace>> => {
    const places = new Map<number, MessagePlace>();
    const names = namedTopics();
    const stray: number[] = [];
    for (const message of messages) {
      const { id, stream_id, display_recipient } = message;
      // A narrow on a topic proves the topic; the others are held to the list.
      const isProven = operandsIn(selected, 'topic').length > 0 && !gone.has(id) && namesPlace(selected, message);
      if (typeof stream_id !== 'number' || isProven) continue;
      const narrow = narrowOf(message);
      const asked = channelsIn(narrow)[0];
      const own = asked === undefined || (typeof asked === 'string' && isSameName(asked, String(display_recipient)));
      const channel = typeof asked === 'number' ? asked : own ? stream_id : undefined;
      const topic = operandsIn(narrow ?? [], 'topic')[0];
      if (gone.has(id) || (narrow && topic === undefined)) {
        const found = gone.has(id) ? gone.get(id) : channel;
        places.set(id, { stream_id: found, subject: undefined });
        if (found === undefined) stray.push(id);
        else names.of(found).lost.push(id);
      } else if (narrow) places.set(id, { stream_id: channel, subject: topic });
      else names.add(message);
    }
    await search(stray, (id, channel) => names.of(channel).lost.push(id));
    for (const { id, ...place } of await names.misplaced({ ...chat, topics }))
      if (place.subject !== undefined) places.set(id, place);
    return places;
  };
}
