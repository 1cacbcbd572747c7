import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead, MessagePage, MessageQuery, MessageSource } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import type { ArchiveForm } from '../../store/archive/archive-head.ts';
import { messageParameters } from '../../schema/messages.ts';
import { pagesOfIds } from '../messages/messages-by-ids.ts';
import type { MessageSelection } from '../messages/selection.ts';
import { markdownOf, messagesBetween } from './part-forms.ts';

/** Messages that were archived before, and where they were then. */
export interface Known {
  /** Ascending. */
  readonly ids: readonly number[];
  /** The channel that a message was in; undefined for a direct message. */
  readonly channelOf: (id: number) => number | undefined;
}

/**
 * The archived messages as the server shows them now, by id; one that it no longer shows anywhere is absent. Those that left the
 * selection are searched in the channel that they were in, in all public channels, and among those that the account received.
 */
export async function messagesNow<M extends MessageHead>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  selection: MessageSelection,
  { ids, channelOf }: Known,
  form: ArchiveForm,
): Promise<ReadonlyMap<number, M>> {
  const found = new Map<number, M>();
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) return found;
  const level = await chat.level();
  const hasIds = level === undefined || level >= messageParameters.message_ids.level;
  const take = (messages: readonly M[]): void => messages.forEach((message) => found.set(message.id, message));
  const query = { ...selection.form, ...markdownOf(form) };
  if (hasIds) await readInto(take, pagesOfIds(chat, { ...query, narrow: selection.narrow }, ids));
  else take(await messagesBetween(chat, selection, [first, last], form));
  for (const scope of scopesOf(ids, channelOf)) {
    const missing = ids.filter((id) => !found.has(id) && scope.holds(id));
    const place = { ...query, narrow: scope.narrow };
    await readInto(take, hasIds ? pagesOfIds(chat, place, missing) : onePages(chat, place, missing));
  }
  const wanted = new Set(ids);
  return new Map([...found].filter(([id]) => wanted.has(id)));
}

interface Scope {
  readonly narrow: readonly unknown[];
  readonly holds: (id: number) => boolean;
}

/** A narrow widens what is searched: shared history is shown only where a channel or the public channels are named. */
function scopesOf(ids: readonly number[], channelOf: Known['channelOf']): Scope[] {
  const channels = [...new Set(ids.map(channelOf))].filter((channel) => channel !== undefined);
  return [
    ...channels.map((operand) => ({
      narrow: [{ operator: 'channel', operand }],
      holds: (id: number) => channelOf(id) === operand,
    })),
    { narrow: [{ operator: 'channels', operand: 'public' }], holds: (id) => channelOf(id) !== undefined },
    { narrow: [], holds: () => true },
  ];
}

/** A channel that was archived, or closed to the account, shows no message. */
async function readInto<M extends MessageHead>(
  take: (messages: readonly M[]) => void,
  pages: AsyncIterable<MessagePage<M>>,
): Promise<void> {
  try {
    for await (const { messages } of pages) take(messages);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.details.server?.code !== 'BAD_NARROW') throw cause;
  }
}

async function* onePages<M extends MessageHead>(
  chat: MessageSource<M>,
  query: MessageQuery,
  ids: readonly number[],
): AsyncGenerator<MessagePage<M>> {
  for (const id of ids) yield await chat.messages({ ...query, anchor: String(id), num_before: 0, num_after: 0 });
}
