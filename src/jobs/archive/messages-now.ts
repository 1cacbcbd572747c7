import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead, MessageSource } from '../../api/chat/chat-messages.ts';
import type { ArchiveForm } from '../../store/archive/archive-head.ts';
import { findsByIds, inChannel, inPublicChannels, messagesOfIds, received } from '../messages/known-messages.ts';
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
  const take = (message: M): void => void found.set(message.id, message);
  const query = { ...selection.form, ...markdownOf(form) };
  if (await findsByIds(chat)) {
    for await (const message of messagesOfIds(chat, { ...query, narrow: selection.narrow }, ids)) take(message);
  } else (await messagesBetween(chat, selection, [first, last], form)).forEach(take);
  for (const scope of scopesOf(ids, channelOf)) {
    const missing = ids.filter((id) => !found.has(id) && scope.holds(id));
    for await (const message of messagesOfIds(chat, { ...query, narrow: scope.narrow }, missing)) take(message);
  }
  const wanted = new Set(ids);
  return new Map([...found].filter(([id]) => wanted.has(id)));
}

interface Scope {
  readonly narrow: readonly unknown[];
  readonly holds: (id: number) => boolean;
}

function scopesOf(ids: readonly number[], channelOf: Known['channelOf']): Scope[] {
  const channels = [...new Set(ids.map(channelOf))].filter((channel) => channel !== undefined);
  return [
    ...channels.map((channel) => ({
      narrow: inChannel(channel),
      holds: (id: number) => channelOf(id) === channel,
    })),
    { narrow: inPublicChannels, holds: (id) => channelOf(id) !== undefined },
    { narrow: received, holds: () => true },
  ];
}
