import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead, MessagePage, MessageSource } from '../../api/chat/chat-messages.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { pagesOf } from '../messages/fetch-messages.ts';
import { messagesByIds, pagesOfIds } from '../messages/messages-by-ids.ts';
import { messagesByTime, within } from '../messages/messages-by-time.ts';
import type { MessageSelection, Range } from '../messages/selection.ts';

/** The pages of a selection, ascending; one without messages is only the sign of a limited history. */
export async function* firstPages<M extends MessageHead>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  selection: MessageSelection,
): AsyncGenerator<MessagePage<M>> {
  const { range } = selection;
  const isBackward = range.kind === 'newest' || (range.kind === 'times' && range.since === undefined && range.limit);
  if (!isBackward) {
    yield* pagesOf(chat, selection);
    return;
  }
  // These are found backward. An archive grows forward only: the first one is looked up, the rest fetched from there.
  let start: M | undefined;
  for await (const page of pagesOf(chat, selection)) {
    start ??= page.messages[0];
    if (page.history_limited) yield { ...page, messages: [] };
  }
  if (start) yield* forward(chat, { narrow: selection.narrow, ...selection.form }, walkFrom(range, start.id));
}

/** What is archived: its lowest id, its highest, and all; `isWhole`: it is compared with the whole selection. */
interface Begun {
  readonly first: number;
  readonly last: number;
  readonly held: ReadonlySet<number>;
  readonly isWhole: boolean;
}

/** Ids up to the last one that a pull looks at again: for seconds messages become visible out of order. */
export const outOfOrder = 1000;

/** The pages of a selection in which there may be messages that are not archived. */
export async function* laterPages<M extends MessageHead>(
  chat: MessageSource<M> & Pick<ChatApi, 'level'>,
  { narrow, form, range }: MessageSelection,
  { first, last, held, isWhole }: Begun,
): AsyncGenerator<MessagePage<M>> {
  const query = { narrow, ...form };
  if (range.kind === 'ids') {
    const [late, ids] = [range.ids.filter((id) => id < last && !held.has(id)), range.ids.filter((id) => id > last)];
    if (isWhole) yield* pagesOfIds(chat, query, late);
    if (ids.length > 0) yield* messagesByIds(chat, query, ids);
    return;
  }
  const start = startOf(range) ?? first;
  if (isWhole && range.kind === 'times' && range.since !== undefined)
    yield* messagesByTime(chat, query, { ...range, limit: undefined });
  else yield* forward(chat, query, walkFrom(range, isWhole ? start : Math.max(start, last - outOfOrder + 1)));
}

function walkFrom(range: Range, id: number) {
  return { anchor: id <= 1 ? 'oldest' : String(id), ...(range.kind === 'times' ? within(range) : {}) };
}

/** The lowest id that a range may have; undefined where its first pull has found that out. */
export function startOf(range: Range): number | undefined {
  if (range.kind === 'times') return range.since === undefined && range.limit !== undefined ? undefined : 1;
  if (range.kind !== 'pages' || !/^(oldest|\d+)$/.test(range.anchor)) return undefined;
  if (range.anchor === 'oldest') return 1;
  return Number(range.anchor) + (range.include_anchor === false ? 1 : 0);
}

/** How many messages a limit leaves room for, beside those that are archived. */
export function roomIn(range: Range, count: number): number {
  return 'limit' in range && range.kind !== 'newest' && range.limit !== undefined ? range.limit - count : Infinity;
}
