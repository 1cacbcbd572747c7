import type { MessageHead, MessageSource } from '../../api/chat/chat-messages.ts';
import type { ReasonGone } from '../../store/archive/line-file.ts';
import type { ArchiveForm } from '../../store/archive/part.ts';
import {
  unlessClosed,
  findsByIds,
  inChannel,
  inPublicChannels,
  messagesOfIds,
  received,
  type MessageChat,
} from '../messages/messages-by-ids.ts';
import type { MessageSelection } from '../messages/selection.ts';
import { onlyMessage } from '../../api/chat/message-pages.ts';
import { markdownOf, messagesAmong } from './pull-pages.ts';

interface Known<M> {
  /** Ascending. */
  readonly ids: readonly number[];
  /** The channel that a message was in; undefined for a direct message. */
  readonly channelOf: (id: number) => number | undefined;
  /** What was read of them just now, in the same form. */
  readonly seen?: ReadonlyMap<number, M>;
  /** Why a message that is not shown is gone. */
  readonly reasonFor: (id: number, channel: number | undefined) => Promise<ReasonGone>;
}

/**
 * Requests archived messages: those shown, and why others are gone. Those that left the selection are searched in their
 * channel, all public channels and what the account received.
 */
export async function messagesNow<M extends MessageHead>(
  chat: MessageChat<M>,
  selection: MessageSelection,
  { ids: all, channelOf, reasonFor, seen }: Known<M>,
  form: ArchiveForm,
) {
  const shown = new Map<number, M>();
  for (const id of all) {
    const message = seen?.get(id);
    if (message) shown.set(id, message);
  }
  const ids = all.filter((id) => !shown.has(id));
  const gone = new Map<number, ReasonGone>();
  const query = { ...selection.form, ...markdownOf(form) };
  const byIds = () => messagesOfIds(chat, { ...query, narrow: selection.narrow }, ids);
  const among = () => messagesAmong(chat, selection, ids, form);
  const found = ids.length === 0 ? [] : (await findsByIds(chat)) ? byIds() : await among();
  for await (const message of found) shown.set(message.id, message);
  for (const id of ids) if (!shown.has(id)) gone.set(id, await reasonFor(id, channelOf(id)));
  for (const { narrow, holds } of scopesOf([...gone.keys()], channelOf)) {
    const missing = [...gone].filter(([id, why]) => why !== 'limit' && holds(id)).map(([id]) => id);
    for await (const message of messagesOfIds(chat, { ...query, narrow }, missing)) {
      shown.set(message.id, message);
      gone.delete(message.id);
    }
  }
  return { shown, gone };
}

/** A narrow to search in, and which of the messages it may hold. */
interface Scope {
  readonly narrow: readonly unknown[];
  readonly holds: (id: number) => boolean;
}

function scopesOf(ids: readonly number[], channelOf: Known<MessageHead>['channelOf']): Scope[] {
  const channels = [...new Set(ids.map(channelOf))].filter((channel) => channel !== undefined);
  return [
    ...channels.map((channel) => {
      return { narrow: inChannel(channel), holds: (id: number) => channelOf(id) === channel };
    }),
    { narrow: inPublicChannels, holds: (id: number) => channelOf(id) !== undefined },
    { narrow: received, holds: () => true },
  ];
}

/**
 * The lowest id that is visible in a narrow, of an unknown channel none; the oldest page shows a limited history
 * (docs/apis.md, Limited history). @throws Failure unavailable for an empty answer without its flag
 */
export async function visibilityOf(chat: MessageSource<MessageHead>, narrow: readonly unknown[]) {
  const first = async (anchor: string) => {
    const page = await unlessClosed(chat.messages({ narrow, anchor, num_before: 0, num_after: 1 }));
    return { isLimited: page?.history_limited === true, lowest: page && onlyMessage(page, 'found_newest')?.id };
  };
  const oldest = await first('oldest');
  return oldest.isLimited ? { ...(await first('1')), isLimited: true } : oldest;
}

/** Why messages that are not shown are gone (docs/archive-format.md, Changes); asks for each narrow once. */
export function reasons(chat: MessageSource<MessageHead>) {
  const known = new Map<string, ReturnType<typeof visibilityOf>>();
  const look = (narrow: readonly unknown[]) => {
    const key = JSON.stringify(narrow);
    const visibility = known.get(key) ?? visibilityOf(chat, narrow);
    known.set(key, visibility);
    return visibility;
  };
  /** `channel`: where the message was; undefined for a direct message. */
  return async (id: number, channel: number | undefined): Promise<ReasonGone> => {
    const home = await look(channel === undefined ? received : inChannel(channel));
    if (home.isLimited) {
      // Whatever narrow it is seen in, a visible message is above the limit.
      const seen = [home, await look(inPublicChannels), await look(received)].map(({ lowest = Infinity }) => lowest);
      return id < Math.min(...seen) ? 'limit' : 'unknown';
    }
    return channel !== undefined && home.lowest === undefined ? 'no-access' : 'unknown';
  };
}
