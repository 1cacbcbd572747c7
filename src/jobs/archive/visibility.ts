import type { MessageHead, MessageQuery, MessageSource } from '../../api/chat/chat-messages.ts';
import { onlyMessage } from '../../api/chat/message-pages.ts';
import { Failure } from '../../core/failure.ts';
import type { ReasonGone } from '../../store/archive/archive-change.ts';
import { inChannel, inPublicChannels, received } from '../messages/known-messages.ts';

/** What the account sees in a narrow. */
export interface Visibility {
  /** Whether the plan of the organization hides messages of the narrow. */
  readonly isLimited: boolean;
  /** The lowest id that is visible; undefined where nothing is. */
  readonly lowest: number | undefined;
}

/**
 * Looks what is visible in a narrow: a request for messages by ids says nothing of a limited history, the oldest page does
 * (docs/apis.md, Limited history). A channel that the server does not name to the account counts as one where nothing is visible.
 * @throws Failure unavailable for an empty answer that does not say that nothing is there
 */
export async function visibilityOf(chat: MessageSource<MessageHead>, narrow: readonly unknown[]): Promise<Visibility> {
  const first = async (anchor: string) => {
    const query: MessageQuery = { narrow, anchor, num_before: 0, num_after: 1 };
    const page = await chat.messages(query);
    return { isLimited: page.history_limited, lowest: onlyMessage(page, 'found_newest')?.id };
  };
  try {
    const oldest = await first('oldest');
    return oldest.isLimited ? { isLimited: true, lowest: (await first('1')).lowest } : oldest;
  } catch (cause) {
    if (cause instanceof Failure && cause.details.server?.code === 'BAD_NARROW')
      return { isLimited: false, lowest: undefined };
    throw cause;
  }
}

/** Says why messages that are not shown where they were are gone (docs/archive-format.md, Changes); each narrow is looked at once. */
export function reasons(chat: MessageSource<MessageHead>) {
  const known = new Map<string, Promise<Visibility>>();
  const look = (narrow: readonly unknown[]): Promise<Visibility> => {
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
