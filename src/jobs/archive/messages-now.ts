import type { MessageHead, MessageSource } from '../../api/chat/chat-messages.ts';
import type { ReasonGone } from '../../store/archive/line-file.ts';
import type { ArchiveForm } from '../../store/archive/part.ts';
import {
  unlessClosed,
  idsShown,
  findsByIds,
  inChannel,
  inPublicChannels,
  messagesOfIds,
  received,
  type MessageChat,
} from '../messages/messages-by-ids.ts';
import { byNamedPlace, namesPlace } from '../messages/places.ts';
import { channelsIn, type MessageSelection } from '../messages/selection.ts';
import { onlyMessage } from '../../api/chat/message-pages.ts';
import { markdownOf, messagesAmong } from './pull-pages.ts';

interface Known<M> {
  /** Ascending. */
  readonly ids: readonly number[];
  /** The channel that a message was in; undefined for a direct message. */
  readonly channelOf: (id: number) => number | undefined;
  /** What was read of them just now, in the same form. */
  readonly seen?: ReadonlyMap<number, M>;
  /** The message may name a place again in which it was not. */
  readonly isDoubtful?: (message: M) => boolean;
  /** Why a message that is not shown is gone. */
  readonly reasonFor: (id: number, channel: number | undefined) => Promise<ReasonGone>;
}

/**
 * Asks for archived messages: those shown, and why others are gone. Those that left the selection are searched in their
 * channel, all public channels and what the account received. `left` name a place in which they are not
 * (docs/apis.md, Old copies), and have the channel in which they were found, if it was asked for.
 */
export async function messagesNow<M extends MessageHead>(
  chat: MessageChat<M>,
  selection: MessageSelection,
  { ids: all, channelOf, reasonFor, seen, isDoubtful = () => false }: Known<M>,
  form: ArchiveForm,
) {
  const shown = new Map<number, M>();
  for (const id of all) {
    const message = seen?.get(id);
    if (message) shown.set(id, message);
  }
  const ids = all.filter((id) => !shown.has(id));
  const gone = new Map<number, ReasonGone>();
  const left = new Map<number, number | undefined>();
  const leave = async ({ narrow, channel }: Omit<Scope, 'holds'>, doubtful: readonly M[]): Promise<void> => {
    for (const id of await notInNamedPlace(chat, narrow, doubtful)) left.set(id, channel);
  };
  const query = { ...selection.form, ...markdownOf(form) };
  const byIds = () => messagesOfIds(chat, { ...query, narrow: selection.narrow }, ids);
  const among = () => messagesAmong(chat, selection, ids, form);
  const found = ids.length === 0 ? [] : (await findsByIds(chat)) ? byIds() : await among();
  for await (const message of found) shown.set(message.id, message);
  const [own] = channelsIn(selection.narrow);
  const wholeScope = { narrow: selection.narrow, channel: typeof own === 'number' ? own : undefined };
  await leave(wholeScope, [...shown.values()].filter(isDoubtful));
  for (const id of ids) if (!shown.has(id)) gone.set(id, await reasonFor(id, channelOf(id)));
  const searched: Scope[] = [{ ...wholeScope, holds: () => true }];
  for (const scope of scopesOf([...gone.keys()], channelOf)) {
    const missing = [...gone].filter(([id, why]) => why !== 'limit' && scope.holds(id)).map(([id]) => id);
    const doubtful: M[] = [];
    for await (const message of messagesOfIds(chat, { ...query, narrow: scope.narrow }, missing)) {
      shown.set(message.id, message);
      gone.delete(message.id);
      const isMissedThere = searched.some(({ narrow, holds }) => holds(message.id) && namesPlace(narrow, message));
      if (isMissedThere || message.stream_id !== scope.channel || isDoubtful(message)) doubtful.push(message);
    }
    await leave(scope, doubtful);
    searched.push(scope);
  }
  return { shown, gone, left };
}

/** Those that are found in a narrow, and not in the place that they name; a limit of the plan may come and go. */
export async function notInNamedPlace(chat: MessageChat, narrow: readonly unknown[], messages: readonly MessageHead[]) {
  const left: number[] = [];
  for (const [place, rows] of byNamedPlace(messages)) {
    let ids = rows.map(({ id }) => id);
    // Asked for there before and after: the answers are of several moments.
    for (const [where, isThere] of [
      [place, false],
      [narrow, true],
      [place, false],
    ] as const) {
      const seen = await idsShown(chat, { narrow: where, allow_empty_topic_name: true }, ids);
      ids = ids.filter((id) => seen.has(id) === isThere);
    }
    left.push(...ids);
  }
  return left;
}

/** A narrow to search in, and which of the messages it may hold. */
interface Scope {
  readonly narrow: readonly unknown[];
  readonly channel?: number | undefined;
  readonly holds: (id: number) => boolean;
}

function scopesOf(ids: readonly number[], channelOf: Known<MessageHead>['channelOf']): Scope[] {
  const channels = [...new Set(ids.map(channelOf))].filter((channel) => channel !== undefined);
  return [
    ...channels.map((channel) => {
      return { narrow: inChannel(channel), channel, holds: (id: number) => channelOf(id) === channel };
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
