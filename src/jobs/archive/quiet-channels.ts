import type { ChatApi } from '../../api/chat/chat.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { readHead } from '../../store/archive/archive-head.ts';
import { inPublicChannels, received } from '../messages/messages-by-ids.ts';
import type { ChannelFolder } from './channel-folders.ts';
import { selectionIn } from './pull-order.ts';
import { outOfOrder } from './pull-pages.ts';

/** A channel has nothing new, or may have, up to an id. */
export interface News {
  readonly reached: number;
  readonly isQuiet: boolean;
}

/**
 * Finds channels without a new message by what the account received and what is in all public channels: a private
 * channel with shared history may have others, and is never quiet (docs/archive-format.md, Crash safety).
 */
export async function findQuiet(chat: Pick<ChatApi, 'raw'>, channels: readonly ChannelFolder[]) {
  const known = new Map<string, number>();
  for (const { folder } of channels) {
    const head = await readHead(folder);
    // Of a part of a channel, an older message may match later.
    if (head?.state.complete && head.state.reached !== undefined && selectionIn(head).narrow.length === 1)
      known.set(folder, head.state.reached);
  }
  const last = Math.max(0, ...known.values());
  let reached = last;
  for (const narrow of scopes) {
    const { messages } = await chat.raw.messages({ narrow, anchor: 'newest', num_before: 1, num_after: 0 });
    reached = Math.max(reached, messages.at(-1)?.id ?? 0);
  }
  const active = known.size > 0 ? await activeSince(chat, last - outOfOrder, channels.length) : undefined;
  return ({ folder, stream_id, isListed, isShared }: ChannelFolder): News => {
    const isKnown = active !== undefined && known.get(folder) === last && isListed && !isShared;
    return { reached, isQuiet: isKnown && !active.has(stream_id) };
  };
}

const scopes = [received, inPublicChannels];

/** The channels with a message above that id; undefined where that takes more pages than there are channels. */
async function activeSince(chat: Pick<ChatApi, 'raw'>, id: number, mostPages: number) {
  const active = new Set<unknown>();
  let pages = 0;
  for (const narrow of scopes)
    for await (const { messages } of forward(chat.raw, { narrow }, { anchor: String(Math.max(1, id + 1)) })) {
      pages += 1;
      if (pages > mostPages) return undefined;
      for (const { stream_id } of messages) active.add(stream_id);
    }
  return active;
}
