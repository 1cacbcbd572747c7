import type { MessageHead } from '../../api/chat/chat-messages.ts';
import type { ChatApi } from '../../api/chat/chat.ts';
import { foldTopic, isSameName } from '../../schema/topic.ts';
import type { MessagePlace } from '../../store/archive/line-file.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import { channelSearch, findsByIds, idsShown, unlessClosed } from '../messages/messages-by-ids.ts';
import { namesPlace, narrowOf, placeNarrow } from '../messages/places.ts';
import { channelsIn, operandsIn } from '../messages/selection.ts';

type ListingChat = Pick<ChatApi, 'messages' | 'topics' | 'level'>;

/** Messages by channel and by the folded topic that they name; under undefined those that left it. */
export function namedTopics() {
  const channels = new Map<number, Map<string | undefined, number[]>>();
  /** Those that are known not to be in the place that they name. */
  const old = new Set<number>();
  const put = (channel: number, topic: string | undefined, id: number): void => {
    const topics = channels.get(channel) ?? new Map<string | undefined, number[]>();
    const ids = topics.get(topic) ?? [];
    ids.push(id);
    channels.set(channel, topics.set(topic, ids));
  };
  return {
    put,
    old,
    add(message: MessageHead): void {
      const { id, stream_id, subject } = message;
      if (narrowOf(message)) old.add(id);
      else if (typeof stream_id === 'number') put(stream_id, foldTopic(String(subject)), id);
    },
    /** The places of those that the list of topics of their channel has elsewhere. */
    async misplaced(chat: ListingChat) {
      const found = new Map<number, MessagePlace>();
      for (const [stream_id, topics] of channels)
        for (const [id, { topic }] of await misplacedIn(chat, stream_id, topics))
          found.set(id, { stream_id, subject: topic });
      return found;
    },
  };
}

/** Records in the archive which of the messages that a pull added named a place in which they are not; their number. */
export async function recordOldCopies(
  chat: ListingChat,
  archive: Pick<OpenArchive, 'parts' | 'list'>,
  names: ReturnType<typeof namedTopics>,
): Promise<number> {
  const strays = await names.misplaced(chat);
  for (const part of [...archive.parts]) {
    const old = part.ids.filter((id) => names.old.has(id) || strays.has(id));
    if (old.length > 0) await archive.list({ ...part, old });
  }
  return strays.size;
}

/**
 * Finds the places of messages that are not where they say (docs/apis.md, Old copies): by the narrow in which each was
 * found, and by the topics of each channel, for which the server is asked once.
 */
export function truePlaces(chat: ListingChat & Pick<ChatApi, 'channels'>, selected: readonly unknown[]) {
  const lists = new Map<number, ReturnType<ChatApi['topics']>>();
  const topics = (id: number) => {
    const known = lists.get(id) ?? chat.topics(id);
    lists.set(id, known);
    return known;
  };
  const search = channelSearch(chat, () => true);
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
        else names.put(found, undefined, id);
      } else if (narrow) places.set(id, { stream_id: channel, subject: topic });
      else names.add(message);
    }
    await search.find(chat, { apply_markdown: false }, stray, ({ id }, channel) => names.put(channel, undefined, id));
    for (const [id, place] of await names.misplaced({ ...chat, topics }))
      if (place.subject !== undefined) places.set(id, place);
    return places;
  };
}

/** A message that is not in the topic that it names (`from`, folded); `topic` is where it is, if that is known. */
interface Misplaced {
  readonly from?: string | undefined;
  readonly topic?: string | undefined;
}

/**
 * What the server's own list of topics does not have in the topic that it names, and where it is: asked for once for
 * each topic, by the conversation of one message and then by all ids (docs/apis.md, Old copies). `named`: messages of
 * the channel by the folded name of their topic; under undefined those that are not in the topic that they name.
 */
export async function misplacedIn(
  chat: ListingChat,
  stream_id: number,
  named: ReadonlyMap<string | undefined, readonly number[]>,
): Promise<ReadonlyMap<number, Misplaced>> {
  const found = new Map<number, Misplaced>(named.get(undefined)?.map((id) => [id, {}]));
  const newest = new Map<unknown, string>();
  const last = new Map<string, number>();
  for (const { name, max_id } of (await chat.topics(stream_id)) ?? []) {
    if (typeof name !== 'string' || typeof max_id !== 'number') continue;
    newest.set(max_id, name);
    last.set(foldTopic(name), max_id);
  }
  for (const [from, ids] of last.size > 0 ? named : [])
    for (const id of ids) {
      const name = newest.get(id);
      const isThere = id <= (last.get(from ?? '') ?? -1) && (name === undefined || foldTopic(name) === from);
      if (!isThere) found.set(id, { from });
    }
  if (found.size === 0 || !(await findsByIds(chat))) return found;
  const unknown = new Set<string | undefined>();
  for (const [id, { from, topic }] of found) {
    if (topic !== undefined || unknown.has(from)) continue;
    const name = newest.get(id) ?? newest.get((await newestBeside(chat, id))?.id);
    if (name !== undefined) {
      const open = [...found].flatMap(([one, place]) => (place.topic === undefined ? [one] : []));
      const others = (from !== undefined && named.get(from)) || [];
      const query = { narrow: placeNarrow(stream_id, name), allow_empty_topic_name: true };
      for (const one of await idsShown(chat, query, [...new Set([...open, ...others])])) {
        const before = found.get(one)?.from ?? from;
        if (before === foldTopic(name)) found.delete(one);
        else found.set(one, { from: before, topic: name });
      }
    }
    if (found.get(id)?.topic === undefined) unknown.add(from);
  }
  return found;
}

/** The newest message of the conversation that a message is in, whatever place they name. */
async function newestBeside(chat: Pick<ChatApi, 'messages'>, operand: number) {
  const place = { narrow: [{ operator: 'with', operand }], anchor: 'newest', num_before: 1, num_after: 0 };
  return (await unlessClosed(chat.messages({ ...place, apply_markdown: false })))?.messages.at(-1);
}
