import type { RawMessage, MessagePage, MessageQuery, MessageSource } from '../../api/chat/chat-messages.ts';
import { forward, newestMessages, onlyMessage } from '../../api/chat/message-pages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { pageSize } from '../../schema/messages.ts';
import type { TimeSpan } from '../../schema/selection.ts';

/** Two processes of a server may stamp messages out of order: so much more is searched at both ends. */
const disorder: Milliseconds = 60_000;

/** Ascending. The first id is found by bisection: a date as the anchor needs level 445 (docs/apis.md, Paging). */
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

/** What of a walk upward lies in a span of time, and where the span has ended. */
export function within({ since = -Infinity, until = Infinity }: TimeSpan) {
  return {
    isWanted: (message: RawMessage) => since <= timeOf(message) && timeOf(message) < until,
    isEnd: (message: RawMessage) => timeOf(message) >= until + disorder,
  };
}

/**
 * Where a moment lies among the message ids: no message of it or later is below `below`; `above` is one, and at most a
 * page of ids further; neither where every message is older. `limited`: an empty page where the plan hides older ones.
 * At most 25 requests: the ends of what the narrow selects, then halves of the ids between (31 bits) down to a page.
 * @throws Failure unavailable for an empty answer that does not say that it was the last
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
