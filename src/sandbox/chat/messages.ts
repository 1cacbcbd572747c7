import { namesIn } from '../../core/table-names.ts';
import { maxMessages, newestAnchor } from '../../schema/messages.ts';
import { nothingFound, readAnchor, window } from './window.ts';
import type { UserCall } from './chat-call.ts';
import { levels } from './levels.ts';
import { showMessage, type MessageLook } from './message-view.ts';
import { applyNarrow, searchOf, type Narrowed, resolveWith, narrowReader } from './narrow.ts';
import { boolean, natural, naturals, plain, readParameters, required, type Signature } from './parameters.ts';
import { Refusal } from './refusal.ts';
import { canRead } from './access.ts';

const signature = {
  anchor: plain,
  anchor_date: plain,
  apply_markdown: boolean,
  client_gravatar: boolean,
  include_anchor: boolean,
  message_ids: naturals,
  narrow: narrowReader(0),
  num_before: natural,
  num_after: natural,
  use_first_unread_anchor: boolean,
  allow_empty_topic_name: boolean,
} as const satisfies Signature;

/** Parameters that came with a level (docs/apis.md, Messages). */
const parameterLevels: Readonly<Record<string, number>> = {
  include_anchor: levels.includeAnchor,
  message_ids: levels.messageIds,
  allow_empty_topic_name: levels.emptyTopic,
  anchor_date: levels.dateAnchor,
};

/** GET /messages (docs/apis.md, Messages). @throws Refusal */
export function fetchMessages(call: UserCall) {
  const { level } = call;
  const all = { ...signature, narrow: narrowReader(level) };
  const values = readParameters(
    call,
    rowsWhere(all, (name) => (parameterLevels[name] ?? 0) <= level),
  );
  if (level < levels.optionalCounts) {
    required('num_before', values.num_before);
    required('num_after', values.num_after);
  }
  const { num_before = 0, num_after = 0, message_ids, include_anchor = true } = values;
  if (message_ids && (num_before || num_after || values.anchor !== undefined || values.use_first_unread_anchor)) {
    const parameters = 'num_before, num_after, anchor, message_ids, include_anchor, use_first_unread_anchor';
    throw new Refusal(`Unsupported parameter combination: ${parameters}`, { extra: { parameters } });
  }
  const anchor = message_ids ? undefined : readAnchor(level, values);
  const terms = resolveWith(call, values.narrow ?? []);
  if ((message_ids ? message_ids.length : num_before + num_after) > maxMessages) {
    throw new Refusal(`Too many messages requested (maximum ${maxMessages}).`);
  }
  if (num_before > 0 && num_after > 0 && !include_anchor) {
    throw new Refusal('The anchor can only be excluded at an end of the range');
  }
  const look = {
    apply_markdown: values.apply_markdown ?? true,
    client_gravatar: values.client_gravatar ?? level >= levels.clientGravatar,
    allow_empty_topic_name: values.allow_empty_topic_name ?? false,
    search: searchOf(terms),
  };
  const found = applyNarrow(call, terms);
  if (!found) {
    // A narrow on what the caller may not read, in late levels: an empty success (docs/apis.md, Messages).
    const ends = anchor ? { found_oldest: true, found_newest: true, anchor: newestAnchor } : {};
    return { messages: [], ...nothingFound, ...ends };
  }
  if (!anchor) return byIds(call, found, message_ids ?? [], look);
  const { rows, ...flags } = window(call, found, { anchor, num_before, num_after, include_anchor });
  return { ...flags, messages: rows.map((row) => showMessage(call, row, look)) };
}

/** Newest first, because clients must not rely on an order: the server's query has none. Missing ids are left out. */
function byIds(call: UserCall, found: Narrowed, ids: readonly number[], look: MessageLook) {
  const visible = call.organization.first_visible_message_id;
  const rows = [...new Set(ids)]
    .filter((id) => id >= visible)
    .map((id) => call.state.messages.get(id))
    .filter((row) => row !== undefined)
    .filter(found.matches)
    .sort((one, other) => other.id - one.id);
  return { messages: rows.map((row) => showMessage(call, row, look)), ...nothingFound };
}

/** GET /messages/{message_id}. @throws Refusal */
export function oneMessage(call: UserCall) {
  const { state, user, segment, organization } = call;
  const signature = { apply_markdown: boolean, allow_empty_topic_name: boolean };
  const { apply_markdown = true, allow_empty_topic_name = false } = readParameters(call, signature);
  const message = state.messages.get(Number(segment));
  if (!message || message.id < organization.first_visible_message_id || !canRead(user, message, state))
    throw new Refusal('Invalid message(s)');
  const look = { apply_markdown, allow_empty_topic_name, client_gravatar: true, search: undefined };
  return { message: showMessage(call, message, look), raw_content: message.content };
}

function rowsWhere<T extends object>(table: T, isWanted: (name: keyof T & string) => boolean): Partial<T> {
  const rows: Partial<T> = {};
  for (const name of namesIn(table)) if (isWanted(name)) rows[name] = table[name];
  return rows;
}
