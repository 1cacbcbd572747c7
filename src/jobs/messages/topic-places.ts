import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import { foldTopic } from '../../schema/topic.ts';
import { findsByIds, messagesOfIds } from './messages-by-ids.ts';
import { placeNarrow } from './places.ts';

type ListingChat = Pick<ChatApi, 'messages' | 'topics' | 'level'>;

/** A message that is not in the topic that it names (`from`, folded); `topic` is where it is, if that is known. */
interface Misplaced {
  readonly from?: string | undefined;
  readonly topic?: string | undefined;
}

/**
 * What the server's own list of topics does not have in the topic that it names, and where it is: asked for once for
 * each topic, by the conversation of one message and then by all ids (docs/apis.md, Old copies). `named`: messages of
 * the channel by the folded name of their topic; `lost`: those that are known not to be in the topic that they name.
 */
export async function misplacedIn(
  chat: ListingChat,
  stream_id: number,
  named: ReadonlyMap<string, () => Iterable<number>>,
  lost: Iterable<number>,
): Promise<ReadonlyMap<number, Misplaced>> {
  const found = new Map<number, Misplaced>(Array.from(lost, (id) => [id, {}]));
  const newest = new Map<unknown, string>();
  const last = new Map<string, number>();
  for (const { name, max_id } of (await chat.topics(stream_id)) ?? []) {
    if (typeof name !== 'string' || typeof max_id !== 'number') continue;
    newest.set(max_id, name);
    last.set(foldTopic(name), max_id);
  }
  for (const [from, ids] of last.size > 0 ? named : [])
    for (const id of ids()) {
      const name = newest.get(id);
      const isThere = id <= (last.get(from) ?? -1) && (name === undefined || foldTopic(name) === from);
      if (!isThere) found.set(id, { from });
    }
  if (found.size === 0 || !(await findsByIds(chat))) return found;
  const unknown = new Set<string | undefined>();
  for (const [id, { from, topic }] of found) {
    if (topic !== undefined || unknown.has(from)) continue;
    const name = newest.get(id) ?? newest.get((await newestBeside(chat, id))?.id);
    if (name !== undefined) {
      const open = [...found].flatMap(([one, place]) => (place.topic === undefined ? [one] : []));
      const others = from === undefined ? [] : [...(named.get(from)?.() ?? [])];
      const query = { narrow: placeNarrow(stream_id, name), apply_markdown: false, allow_empty_topic_name: true };
      for await (const one of messagesOfIds(chat, query, [...new Set([...open, ...others])])) {
        const before = found.get(one.id)?.from ?? from;
        if (before === foldTopic(name)) found.delete(one.id);
        else found.set(one.id, { from: before, topic: name });
      }
    }
    if (found.get(id)?.topic === undefined) unknown.add(from);
  }
  return found;
}

/** The newest message of the conversation that a message is in, whatever place they name. */
async function newestBeside(chat: Pick<ChatApi, 'messages'>, operand: number): Promise<MessageHead | undefined> {
  const query = { narrow: [{ operator: 'with', operand }], anchor: 'newest', num_before: 1, num_after: 0 };
  try {
    return (await chat.messages({ ...query, apply_markdown: false })).messages.at(-1);
  } catch (cause) {
    if (cause instanceof Failure && cause.details.server?.code === 'BAD_NARROW') return undefined;
    throw cause;
  }
}
