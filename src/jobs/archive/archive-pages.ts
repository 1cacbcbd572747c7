import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead, MessagePage, MessageSource } from '../../api/chat/chat-messages.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { pagesOf } from '../messages/fetch-messages.ts';
import { messagesByIds } from '../messages/messages-by-ids.ts';
import { within } from '../messages/messages-by-time.ts';
import type { MessageSelection } from '../messages/selection.ts';

/** How far an archive is: everything of its selection up to the last message is in it. */
export interface Reached {
  readonly count: number;
  readonly last: number | undefined;
}

/**
 * The pages of a selection that an archive lacks, ascending: they always continue what is there, so that an interrupted pull leaves no
 * gap. A page without messages is only the sign of a limited history.
 */
export function missingPages<M extends MessageHead>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  selection: MessageSelection,
  { count, last }: Reached,
): AsyncGenerator<MessagePage<M>> {
  return last === undefined ? firstPages(chat, selection) : laterPages(chat, selection, count, last);
}

async function* firstPages<M extends MessageHead>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  selection: MessageSelection,
): AsyncGenerator<MessagePage<M>> {
  const { range } = selection;
  const isBackward = range.kind === 'newest' || (range.kind === 'times' && range.since === undefined && range.limit);
  if (!isBackward) {
    yield* pagesOf(chat, selection);
    return;
  }
  // These are found backward. An archive grows forward only, so the first of them is looked up, and the rest is fetched from there.
  let start: M | undefined;
  for await (const page of pagesOf(chat, selection)) {
    start ??= page.messages[0];
    if (page.history_limited) yield { ...page, messages: [] };
  }
  if (start) yield* laterPages(chat, selection, 0, start.id - 1);
}

async function* laterPages<M extends MessageHead>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  { narrow, form, range }: MessageSelection,
  count: number,
  last: number,
): AsyncGenerator<MessagePage<M>> {
  const query = { narrow, ...form };
  if (range.kind === 'ids') {
    const ids = range.ids.filter((id) => id > last);
    if (ids.length > 0) yield* messagesByIds(chat, query, ids);
    return;
  }
  const limit =
    'limit' in range && range.kind !== 'newest' && range.limit !== undefined ? range.limit - count : undefined;
  if (limit !== undefined && limit <= 0) return;
  const span = range.kind === 'times' ? within(range) : {};
  yield* forward(chat, { ...query, include_anchor: false }, { anchor: String(last), limit, ...span });
}
