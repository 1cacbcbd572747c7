import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead, MessageSource } from '../../api/chat/chat-messages.ts';
import type { ReasonGone } from '../../store/archive/archive-change.ts';
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
  /** Why a message that is not shown is gone. */
  readonly reasonFor: (id: number, channel: number | undefined) => Promise<ReasonGone>;
}

/** The archived messages as they are on the server. */
export interface MessagesNow<M> {
  readonly shown: ReadonlyMap<number, M>;
  /** Those that the server no longer shows anywhere. */
  readonly gone: ReadonlyMap<number, ReasonGone>;
}

/**
 * Asks for archived messages. Those that left the selection are searched in the channel that they were in, in all public channels, and among
 * those that the account received; what the plan hides is not searched, since no narrow shows it.
 */
export async function messagesNow<M extends MessageHead>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  selection: MessageSelection,
  { ids, channelOf, reasonFor }: Known,
  form: ArchiveForm,
): Promise<MessagesNow<M>> {
  const shown = new Map<number, M>();
  const gone = new Map<number, ReasonGone>();
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) return { shown, gone };
  const wanted = new Set(ids);
  const take = (message: M): void => {
    if (wanted.has(message.id)) shown.set(message.id, message);
  };
  const query = { ...selection.form, ...markdownOf(form) };
  if (await findsByIds(chat)) {
    for await (const message of messagesOfIds(chat, { ...query, narrow: selection.narrow }, ids)) take(message);
  } else (await messagesBetween(chat, selection, [first, last], form)).forEach(take);
  for (const id of ids) if (!shown.has(id)) gone.set(id, await reasonFor(id, channelOf(id)));
  for (const scope of scopesOf([...gone.keys()], channelOf)) {
    const missing = [...gone].filter(([id, why]) => why !== 'limit' && scope.holds(id)).map(([id]) => id);
    for await (const message of messagesOfIds(chat, { ...query, narrow: scope.narrow }, missing)) {
      take(message);
      gone.delete(message.id);
    }
  }
  return { shown, gone };
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
