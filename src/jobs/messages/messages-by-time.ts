import type { RawMessage, MessagePage, MessageQuery, MessageSource } from '../../api/chat/chat-messages.ts';
import { forward, newestMessages, onlyMessage } from '../../api/chat/message-pages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { pageSize } from '../../schema/messages.ts';
import type { TimeSpan } from '../../schema/selection.ts';

/** Two processes of a server may stamp messages out of order, so this much more is searched at both ends. */
const disorder: Milliseconds = 60_000;

/** Yields ascending pages from an id found by bisection: a date as anchor needs level 445 (docs/apis.md, Paging). */
export async function* messagesByTime(
  chat: MessageSource,
  query: MessageQuery,
  { correct, limit, ...local }: TimeSpan,
): AsyncGenerator<MessagePage> {
  let corrected: TimeSpan | undefined;
  const span = (): TimeSpan => (corrected ??= correct?.() ?? local);
  const isWanted = (message: RawMessage): boolean => within(span()).isWanted(message);
  const isEnd = (message: RawMessage): boolean => within(span()).isEnd(message);
  if (local.since === undefined && limit !== undefined) {
    const { above = 'newest' } = await placeOf(chat, query, () => (span().until ?? Infinity) + disorder);
    yield* newestMessages(chat, query, { anchor: above, limit, isWanted });
    return;
  }
  const place =
    local.since === undefined
      ? { below: 'oldest', limited: undefined }
      : await placeOf(chat, query, () => (span().since ?? -Infinity) - disorder);
  if (place.limited) yield place.limited;
  if (place.below !== undefined) yield* forward(chat, query, { anchor: place.below, limit, isWanted, isEnd });
  span();
}

/** Tests of a walk upward: whether a message is in a span of time, and whether the span has ended. */
export function within({ since = -Infinity, until = Infinity }: TimeSpan) {
  return {
    isWanted: (message: RawMessage) => since <= timeOf(message) && timeOf(message) < until,
    isEnd: (message: RawMessage) => timeOf(message) >= until + disorder,
  };
}

/**
 * Finds a time among the message ids: every message since then has an id of at least `below`; `above` is one of them,
 * at most a page of ids further; both are undefined where every message is older. `limited`: an empty page where the
 * plan hides older ones. It takes at most 25 requests: the ends of what the narrow selects, then halves of the ids
 * between them (31 bits) down to a page. @throws Failure unavailable for an empty response without its flag
 */
async function placeOf(chat: MessageSource, query: MessageQuery, of: () => Milliseconds) {
  const pageAt = (anchor: string): Promise<MessagePage> =>
    chat.messages({ ...query, anchor, num_before: 0, num_after: 1 });
  const next = async (anchor: string): Promise<RawMessage | undefined> =>
    onlyMessage(await pageAt(anchor), 'found_newest');
  const last = await chat.messages({ ...query, anchor: 'newest', num_before: 1, num_after: 0 });
  const moment = of();
  const newest = onlyMessage(last, 'found_oldest');
  const first = await pageAt('oldest');
  const limited = first.history_limited ? { ...first, messages: [] } : undefined;
  if (!newest || timeOf(newest) < moment) return { limited };
  // Servers cut hidden messages after their limit: from 1 on they count visible ones (docs/apis.md, Limited history).
  const oldest = (limited ? await next('1') : onlyMessage(first, 'found_newest')) ?? newest;
  if (timeOf(oldest) >= moment) return { below: String(oldest.id), above: String(oldest.id), limited };
  let below = oldest.id + 1;
  let above = newest.id;
  while (above - below > pageSize) {
    const middle = Math.floor((below + above) / 2);
    const found = await next(String(middle));
    if (found && found.id < above && timeOf(found) < moment) below = found.id + 1;
    else above = middle;
  }
  return { below: String(below), above: String(above), limited };
}

function timeOf(message: RawMessage): Milliseconds {
  const timestamp = message.read('timestamp');
  if (typeof timestamp === 'number') return timestamp * 1000;
  throw new Failure('unavailable', `message ${message.id} has no timestamp: messages cannot be selected by time`);
}
