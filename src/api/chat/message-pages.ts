import { pageSize } from '../../schema/messages.ts';
import { Failure } from '../../core/failure.ts';
import { TransportError } from '../http/transport-error.ts';
import type { RawMessage, MessagePage, MessageQuery, MessageSource } from './chat-messages.ts';

export interface Walk {
  /** Where to start: a message id, `oldest`, `newest` or `first_unread`. */
  readonly anchor: string;
  readonly limit?: number | undefined;
  /** Messages of a page; the recommended number without it. */
  readonly page?: number;
  /** Messages to leave out; the limit does not count them. */
  readonly isWanted?: ((message: RawMessage) => boolean) | undefined;
  readonly isEnd?: ((message: RawMessage) => boolean) | undefined;
}

/** Pages upward from the anchor, each message once and ascending. @throws Failure where the end is unexplained */
export function forward(...given: PageArguments): AsyncGenerator<MessagePage> {
  return pages('found_newest', ...given);
}

/** Pages downward from the anchor; each page is in itself sorted upward. @throws as forward */
export function backward(...given: PageArguments): AsyncGenerator<MessagePage> {
  return pages('found_oldest', ...given);
}

type PageArguments = readonly [chat: MessageSource, query: MessageQuery, walk: Walk];

/** Up to this many pages are held to be reversed; more are fetched twice, so that memory stays flat. */
const maxBuffered = 5;

/** The last `limit` messages up to the anchor, ascending. Where a page fails, those above it come first. */
export async function* newestMessages(
  chat: MessageSource,
  query: MessageQuery,
  walk: Walk & { readonly limit: number },
): AsyncGenerator<MessagePage> {
  const buffered: MessagePage[] = [];
  let start: RawMessage | undefined;
  let isFar = false;
  let isLimited = false;
  try {
    for await (const page of backward(chat, query, walk)) {
      start = page.messages[0] ?? start;
      isLimited ||= page.history_limited;
      isFar ||= buffered.push(page) > maxBuffered;
      if (isFar) buffered.length = 0;
    }
  } catch (cause) {
    yield* buffered.reverse();
    throw cause;
  }
  yield* buffered.reverse();
  if (!isFar || !start) return;
  // Only the page that reaches the oldest message says that the history is limited.
  for await (const page of forward(chat, query, { ...walk, anchor: String(start.id) }))
    yield { ...page, history_limited: isLimited };
}

type EndFlag = 'found_newest' | 'found_oldest';

/** The one message of a page of size 1, or undefined. @throws Failure unavailable for an empty page without its flag */
export function onlyMessage(page: MessagePage, end: EndFlag): RawMessage | undefined {
  const message = end === 'found_newest' ? page.messages[0] : page.messages.at(-1);
  if (!message && !isEmptyEnd(page, end)) throw unexplainedEnd(undefined);
  return message;
}

/** Whether a page that brings nothing new says that nothing more is there. */
function isEmptyEnd(page: Pick<MessagePage, EndFlag | 'history_limited'>, end: EndFlag): boolean {
  return page[end] || page.history_limited;
}

/** Ends at the flag of the direction: servers below level 155 repeat the anchor (docs/apis.md, Paging). */
async function* pages(end: EndFlag, ...[chat, query, walk]: PageArguments): AsyncGenerator<MessagePage> {
  const { isWanted = () => true, isEnd = () => false } = walk;
  const isUp = end === 'found_newest';
  // Servers below level 155 give the anchor all the same.
  const isAfterAnchor = isUp && query.include_anchor === false && /^\d+$/.test(walk.anchor);
  const start = isAfterAnchor ? Number(walk.anchor) : isUp ? -Infinity : Infinity;
  let [anchor, edge, inclusion, largest] = [walk.anchor, start, {}, walk.page ?? pageSize];
  /** Upward the anchor is requested too: if it is missing, the plan may have hidden what follows it. */
  const following = { include_anchor: isUp && query.include_anchor !== false ? undefined : false };
  let isLimited = false;
  for (let left = walk.limit ?? Infinity; left > 0;) {
    // Of a small page all messages may be unwanted ones.
    const size = walk.isWanted ? largest : Math.min(largest, left);
    const around = isUp ? { num_before: 0, num_after: size } : { num_before: size, num_after: 0 };
    const failed = (cause: unknown): undefined => unlessTooLarge(cause, size);
    const page = await chat.messages({ ...query, ...around, anchor, ...inclusion }).catch(failed);
    if (!page) {
      largest = size >> 1;
      continue;
    }
    isLimited ||= page.history_limited;
    // The server cut hidden messages from this page after its limit: only a page from message 1 on is whole.
    if (isUp && page.history_limited && (anchor === 'oldest' || anchor === '0')) {
      yield { ...page, messages: [] };
      anchor = '1';
      continue;
    }
    const fresh = page.messages.filter(({ id }) => (isUp ? id > edge : id < edge));
    const last = isUp ? fresh.at(-1) : fresh[0];
    const wanted = fresh.filter(isWanted);
    const messages = isUp ? wanted.slice(0, left) : wanted.slice(-left);
    if (!last && !isEmptyEnd(page, end)) throw unexplainedEnd(edge === start ? undefined : edge);
    const isLost =
      inclusion === following && following.include_anchor === undefined && page.messages.every(({ id }) => id !== edge);
    const view_changed = isLost && !isLimited && (await isHidden(chat, query, edge));
    if (last || edge === start || view_changed || page.history_limited) yield { ...page, messages, view_changed };
    // Where the plan hides messages, `found_newest` counts hidden ones (docs/apis.md, Limited history).
    if (!last || isEnd(last) || (page[end] && !(isUp && page.history_limited))) return;
    left -= messages.length;
    edge = last.id;
    anchor = String(last.id);
    inclusion = following;
  }
}

/** Throws the failure of a page, unless a page with fewer messages may be small enough. */
function unlessTooLarge(failure: unknown, size: number): undefined {
  const cause = failure instanceof Failure ? failure.cause : undefined;
  if (size === 1 || !(cause instanceof TransportError) || cause.reason !== 'body too large') throw failure;
}

/** Whether a message that a page lacked is there again, or the plan hides some now; else it was deleted or moved. */
async function isHidden(chat: MessageSource, query: MessageQuery, id: number) {
  const at = await chat.messages({ ...query, anchor: String(id), num_before: 0, num_after: 0 });
  if (at.messages.some((message) => message.id === id)) return true;
  return (await chat.messages({ ...query, anchor: 'oldest', num_before: 0, num_after: 1 })).history_limited;
}

/** The failure of a page with nothing new that is not the last; `edge` is the last message before it. */
function unexplainedEnd(edge: number | undefined): Failure {
  const what = 'the server sent nothing more, but did not mark the list as complete';
  const hint = 'Run the same command again. If this persists, check the site URL of the profile, and any proxy.';
  if (edge === undefined) return new Failure('unavailable', what, { hint });
  return new Failure('incomplete', `the list ends at message ${edge}: ${what}`, { hint });
}
