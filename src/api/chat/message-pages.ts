import { pageSize } from '../../schema/messages.ts';
import type { ChatApi } from './chat.ts';
import type { Message, MessagePage, MessageQuery } from './chat-messages.ts';

export interface Walk {
  /** Where to start: a message id, `oldest`, `newest` or `first_unread`. */
  readonly anchor: string;
  /** Most messages; all without it. */
  readonly limit?: number | undefined;
}

/** Pages upward from the anchor, each message once and in order. */
export function forward(chat: ChatApi, query: MessageQuery, walk: Walk): AsyncGenerator<MessagePage> {
  return pages(chat, query, walk, {
    around: (size) => ({ num_before: 0, num_after: size }),
    isNew: (id, edge) => id > edge,
    first: (messages, size) => messages.slice(0, size),
    edge: (messages) => messages.at(-1),
    ended: (page) => page.found_newest,
    // Servers below level 155 give the anchor all the same.
    start: query.include_anchor === false && /^\d+$/.test(walk.anchor) ? Number(walk.anchor) : -Infinity,
  });
}

/** Pages downward from the anchor; each page is in itself sorted upward. */
export function backward(chat: ChatApi, query: MessageQuery, walk: Walk): AsyncGenerator<MessagePage> {
  return pages(chat, query, walk, {
    around: (size) => ({ num_before: size, num_after: 0 }),
    isNew: (id, edge) => id < edge,
    first: (messages, size) => messages.slice(-size),
    edge: (messages) => messages[0],
    ended: (page) => page.found_oldest,
    start: Infinity,
  });
}

/** Up to this many pages are held to be turned around; more are fetched twice, so that memory stays flat. */
const heldPages = 5;

/** The newest `limit` messages, ascending. Where a page fails, those above it come first. */
export async function* newestMessages(chat: ChatApi, query: MessageQuery, limit: number): AsyncGenerator<MessagePage> {
  const held: MessagePage[] = [];
  let start: Message | undefined;
  let isFar = false;
  let isLimited = false;
  try {
    for await (const page of backward(chat, query, { anchor: 'newest', limit })) {
      start = page.messages[0] ?? start;
      isLimited ||= page.history_limited;
      isFar ||= held.push(page) > heldPages;
      if (isFar) held.length = 0;
    }
  } catch (cause) {
    yield* held.reverse();
    throw cause;
  }
  yield* held.reverse();
  if (!isFar || !start) return;
  // Only the page that reaches the oldest message tells that the history is cut.
  for await (const page of forward(chat, query, { anchor: String(start.id), limit }))
    yield { ...page, history_limited: isLimited };
}

interface Direction {
  readonly around: (size: number) => MessageQuery;
  readonly isNew: (id: number, edge: number) => boolean;
  readonly first: (messages: readonly Message[], size: number) => readonly Message[];
  readonly edge: (messages: readonly Message[]) => Message | undefined;
  readonly ended: (page: MessagePage) => boolean;
  readonly start: number;
}

/**
 * Ends at the flag of the direction, at an empty page, or where a page brings nothing new: the flag alone is not enough, and
 * servers below level 155 repeat the anchor (facts page, "Correct paging").
 */
async function* pages(chat: ChatApi, query: MessageQuery, walk: Walk, way: Direction): AsyncGenerator<MessagePage> {
  let { anchor } = walk;
  let edge = way.start;
  let excluding = {};
  for (let left = walk.limit ?? Infinity; left > 0;) {
    const page = await chat.messages({ ...query, ...way.around(Math.min(pageSize, left)), anchor, ...excluding });
    const reached = edge;
    const fresh = way.first(
      page.messages.filter(({ id }) => way.isNew(id, reached)),
      left,
    );
    const last = way.edge(fresh);
    if (last || edge === way.start) yield { ...page, messages: fresh };
    if (!last || way.ended(page)) return;
    left -= fresh.length;
    edge = last.id;
    anchor = String(last.id);
    excluding = { include_anchor: false };
  }
}
