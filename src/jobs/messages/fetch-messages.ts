import type { ChatApi } from '../../api/chat/chat.ts';
import type { RawMessage, MessagePage, MessageQuery } from '../../api/chat/chat-messages.ts';
import { forward, newestMessages } from '../../api/chat/message-pages.ts';
import { incompleteAfter } from '../../api/http/answer.ts';
import { Failure, usage } from '../../core/failure.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Fields } from '../../schema/field.ts';
import { maxMessages, messageParameters } from '../../schema/messages.ts';
import type { MessageSelection, Range } from '../../schema/selection.ts';
import { ahead } from '../work/pool.ts';
import { messagesByIds, portions } from './messages-by-ids.ts';
import { messagesByTime } from './messages-by-time.ts';
import { changedView, refuseIgnored } from './places.ts';

/**
 * Yields each message once, ascending by id, and requests a page while the one before it is used. Warns of a limited
 * history. @throws Failure incomplete where a later page fails or an id is missing; rejected, after the last message,
 * where the server ignored something that was typed
 */
export async function* fetchMessages(
  chat: ChatApi,
  selection: MessageSelection,
  { note, warn }: { note(text: string): void; warn(text: string): void },
): AsyncGenerator<readonly RawMessage[]> {
  const { range } = selection;
  const remarks = openRemarks(selection);
  let pages = 0;
  let found = 0;
  try {
    for await (const page of ahead(pagesOf(chat, selection))) {
      remarks.add(page);
      yield page.messages;
      pages += 1;
      found += page.messages.length;
    }
  } catch (cause) {
    throw pages > 0 ? incompleteAfter(pages, cause) : cause;
  }
  const left = range.kind === 'ids' ? range.ids.length - found : 0;
  if (left > 0)
    note(`messages of --ids that the selection leaves out, or that do not exist or may not be read: ${left}`);
  await remarks.end(chat, warn);
}

/** Collects remarks of pages: `end` warns of a limited history, and throws for parameters that were ignored. */
function openRemarks({ form, explicit = [] }: MessageSelection) {
  const typed = new Map<string, unknown>([...Object.entries(form), ...explicit.map((name) => [name, true] as const)]);
  const [ignored, warnings] = [new Set<string>(), new Set<string>()];
  return {
    add(page: MessagePage): void {
      for (const name of page.ignored) if (typed.get(name) !== undefined) ignored.add(name);
      if (page.history_limited)
        warnings.add('the plan of the organization limits the history: the server hides older messages');
      if (page.view_changed) warnings.add(`${changedView}; run the same command again`);
    },
    /** @throws Failure rejected */
    async end({ level }: ChatApi, warn: (text: string) => void): Promise<void> {
      for (const text of warnings) warn(text);
      if (ignored.size > 0) throw notTaken([...ignored], await level());
    },
  };
}

/** The failure for parameters that the user set and the server ignored, each with the level that it needs. */
function notTaken(names: readonly string[], level: number | undefined): Failure {
  const fields: Fields = messageParameters;
  const reasons = names.map((name) => `${name}${fields[name]?.level ? ` (needs level ${fields[name].level})` : ''}`);
  const server = level === undefined ? 'the server' : `the server (level ${level})`;
  return new Failure('rejected', `${server} ignored: ${reasons.join(', ')}`, {
    hint: 'The messages are shown as the server sent them. Omit the option, or update the chat server.',
  });
}

/**
 * The whole response of one request. Call `end` once it is written: it warns and throws as `fetchMessages` does.
 * @throws Failure usage where it takes several; unavailable for an ignored selection
 */
export async function fetchEnvelope(
  chat: ChatApi,
  selection: MessageSelection,
  warn: (text: string) => void,
): Promise<{ readonly body: JsonObject; readonly end: () => Promise<void> }> {
  const { narrow, form, range } = selection;
  const remarks = openRemarks(selection);
  const query = { ...form, narrow };
  const { body, page } = await chat.envelope({ ...query, ...requestOf(range, query) });
  remarks.add(refuseIgnored(page));
  return { body, end: () => remarks.end(chat, warn) };
}

/** The one request of a range. @throws Failure usage where there may be more */
function requestOf(range: Range, query: MessageQuery): MessageQuery {
  if (range.kind === 'request') {
    const { kind: _, ...request } = range;
    return request;
  }
  if (range.kind === 'ids' && portions(range.ids, query).length === 1) return { message_ids: range.ids };
  if (range.kind === 'newest' && range.limit <= maxMessages)
    return { anchor: 'newest', num_before: range.limit, num_after: 0 };
  if (range.kind === 'pages' && range.limit !== undefined && range.limit <= maxMessages) {
    const { kind: _, limit, ...place } = range;
    return { ...place, num_before: 0, num_after: limit };
  }
  throw usage(
    '--envelope prints the response of one request, but this selection needs several',
    `Give --num-before and --num-after, --ids, or --limit up to ${maxMessages}.`,
  );
}

/** The pages of a selection, ascending; `history_limited` on one of them where the plan hides older messages. */
export function pagesOf(chat: ChatApi, { narrow, form, range }: MessageSelection) {
  const query = { narrow, ...form };
  switch (range.kind) {
    case 'newest':
      return newestMessages(chat, query, { anchor: 'newest', limit: range.limit });
    case 'ids':
      return messagesByIds(chat, query, range.ids);
    case 'pages':
      return forward(chat, { ...query, include_anchor: range.include_anchor }, range);
    case 'times':
      return messagesByTime(chat, query, range);
    case 'request':
      return onePage(chat.messages({ ...query, ...requestOf(range, query) }), range);
  }
}

/** Leaves out the anchor where that was asked: servers below level 155 give it all the same. */
async function* onePage(page: Promise<MessagePage>, asked: MessageQuery): AsyncGenerator<MessagePage> {
  const isAsked = ({ id }: RawMessage): boolean => asked.include_anchor !== false || String(id) !== asked.anchor;
  yield { ...(await page), messages: (await page).messages.filter(isAsked) };
}
