import { usage } from '../core/failure.ts';
import type { Fields, Values } from './field.ts';

/** Most messages of one request (specification, Limits). */
export const maxMessages = 5000;
/** The recommended page (specification, Limits). */
export const pageSize = 1000;
/** The anchor that stands for `newest`; above Number.MAX_SAFE_INTEGER and exact as a double (facts page, 1.3). */
export const newestAnchor = 10_000_000_000_000_000;
/** Request lines above 8 KiB are refused by the server's proxy (facts page, 1.1). */
export const maxUrlBytes = 7000;

/** The fields of a message (specification, Message); a message has those that apply to it. */
export const messageFields = [
  'id',
  'type',
  'content',
  'content_type',
  'display_recipient',
  'recipient_id',
  'sender_id',
  'sender_email',
  'sender_full_name',
  'sender_realm_str',
  'stream_id',
  'subject',
  'timestamp',
  'avatar_url',
  'client',
  'flags',
  'is_me_message',
  'last_edit_timestamp',
  'last_moved_timestamp',
  'edit_history',
  'reactions',
  'submessages',
  'topic_links',
  'match_content',
  'match_subject',
] as const;

export const anchorWords = ['newest', 'oldest', 'first_unread'] as const;

/** Query parameters of GET /messages under their wire names. */
export const messageParameters = {
  anchor: {
    kind: 'string',
    nonempty: true,
    placeholder: 'ID|newest|oldest|first_unread',
    help: 'Message to start from (default: newest; with --all oldest)',
  },
  include_anchor: {
    kind: 'boolean',
    negatable: true,
    level: 155,
    help: 'The anchor itself too (default: yes)',
  },
  num_before: { kind: 'integer', min: 0, max: 5000, placeholder: 'N', help: 'So many messages before the anchor' },
  num_after: { kind: 'integer', min: 0, max: 5000, placeholder: 'N', help: 'So many messages after the anchor' },
  narrow: { kind: 'json', placeholder: 'JSON', help: 'The whole selection as the API takes it, a JSON array' },
  client_gravatar: {
    kind: 'boolean',
    negatable: true,
    help: 'avatar_url may be null where it can be computed from the address (default: yes; below level 92 no)',
  },
  apply_markdown: { kind: 'boolean', help: 'Rendered HTML; --raw-content asks for the Markdown source' },
  message_ids: { kind: 'string', flag: 'ids', level: 300, placeholder: 'ID,ID…', help: 'Just these messages' },
  allow_empty_topic_name: {
    kind: 'boolean',
    level: 334,
    help: "Show the empty topic as '', not by the name the server gives it",
  },
  use_first_unread_anchor: { kind: 'boolean', hidden: true, help: 'Deprecated: sent as --anchor first_unread' },
} as const satisfies Fields;

export type MessageParameter = keyof typeof messageParameters;

/** Which parameters exclude which (specification, GET /messages, rules). */
export const exclusions: readonly { readonly one: MessageParameter; readonly others: readonly MessageParameter[] }[] = [
  { one: 'message_ids', others: ['anchor', 'include_anchor', 'use_first_unread_anchor', 'num_before', 'num_after'] },
  { one: 'use_first_unread_anchor', others: ['anchor'] },
];

/** Operators of a narrow that have an option of their own (facts page, section 4). `integers`: digits are sent as a number. */
export const narrowOperators = {
  channel: { kind: 'string', many: true, placeholder: 'NAME|ID', help: 'Messages of this channel' },
  channels: {
    kind: 'string',
    many: true,
    placeholder: 'public|web-public|archived',
    help: 'Messages of all such channels',
  },
  topic: { kind: 'string', many: true, placeholder: 'TOPIC', help: 'Messages of this topic, in any case' },
  sender: { kind: 'string', many: true, placeholder: 'EMAIL|ID', help: 'Messages sent by this user' },
  dm: {
    kind: 'string',
    many: true,
    placeholder: 'EMAILS|IDS',
    help: 'The direct conversation with these users, comma-separated',
  },
  dm_including: {
    kind: 'string',
    many: true,
    level: 177,
    placeholder: 'EMAIL|ID',
    help: 'Every direct conversation with this user in it',
  },
  search: { kind: 'string', many: true, nonempty: true, placeholder: 'WORDS', help: 'Full-text search' },
  is: {
    kind: 'string',
    many: true,
    nonempty: true,
    placeholder: 'STATE',
    help: 'dm, starred, unread, mentioned, alerted, resolved, followed or muted',
  },
  has: {
    kind: 'string',
    many: true,
    nonempty: true,
    placeholder: 'THING',
    help: 'attachment, image, link or reaction',
  },
  in: { kind: 'string', many: true, nonempty: true, placeholder: 'home|all', help: 'home leaves out what is muted' },
  id: { kind: 'integer', many: true, min: 0, max: 2_147_483_647, placeholder: 'ID', help: 'The message with this id' },
  with: {
    kind: 'integer',
    many: true,
    min: 0,
    level: 271,
    placeholder: 'ID',
    help: 'The conversation in which this message is now',
  },
  mentions: {
    kind: 'string',
    many: true,
    level: 446,
    placeholder: 'EMAIL|ID',
    help: 'Messages that mention this user',
  },
} as const satisfies Fields;

/** One term of a narrow, as it goes on the wire. */
export interface NarrowTerm {
  readonly operator: string;
  readonly operand: string | number | readonly number[];
  readonly negated?: true;
}

/** Operators whose operand may be a number on the wire. */
const numeric: ReadonlySet<string> = new Set(['channel', 'sender', 'dm-including', 'mentions', 'id', 'with']);
/** Operators that the server takes only as they are (facts page, section 4: negation is dropped or without effect). */
const notNegatable: ReadonlySet<string> = new Set(['search', 'with', 'near']);

/** A term from an operator's wire name and its text: digits become a number where the server takes one, a list of ids for `dm`. */
export function narrowTerm(operator: string, text: string): NarrowTerm {
  if (operator === 'dm') {
    const users = text.split(',').map((user) => user.trim());
    return { operator, operand: users.every((user) => /^\d{1,15}$/.test(user)) ? users.map(Number) : users.join(',') };
  }
  return { operator, operand: numeric.has(operator) && /^\d{1,15}$/.test(text) ? Number(text) : text };
}

/**
 * The term of `--not OPERATOR=VALUE`.
 * @throws Failure usage where the server would drop the negation without a word
 */
export function negatedTerm(word: string): NarrowTerm {
  const at = word.indexOf('=');
  if (at < 1) throw usage(`--not: expected OPERATOR=VALUE, not '${word}'`);
  const operator = word.slice(0, at).replaceAll('_', '-');
  if (notNegatable.has(operator)) throw usage(`--not: the server cannot negate ${operator}`);
  return { ...narrowTerm(operator, word.slice(at + 1)), negated: true };
}

export type MessageValues = Values<typeof messageParameters>;
