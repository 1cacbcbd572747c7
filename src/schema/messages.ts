import { flagField, type Fields, type Values, textField } from './field.ts';
import type { UsageRule } from './usage-rules.ts';

/** Most messages of one request (docs/apis.md, Messages). */
export const maxMessages = 5000;
/** The recommended page (docs/apis.md, Messages). */
export const pageSize = 1000;
/** The anchor that means `newest`; above Number.MAX_SAFE_INTEGER and exact as a double (docs/apis.md, Messages). */
export const newestAnchor = 10_000_000_000_000_000;
/** The server's proxy refuses longer request lines, in bytes (docs/apis.md, Parameters). */
export const maxRequestLine = 8192;
/** The most bytes of a URL that we send (docs/apis.md, Parameters). */
export const maxUrlBytes = 7000;

/** The fields of a message (docs/apis.md, Messages); a message has those that apply to it. */
export const messageFields: readonly string[] = (
  'id type content content_type display_recipient recipient_id sender_id sender_email sender_full_name sender_realm_str stream_id subject ' +
  'timestamp avatar_url client flags is_me_message last_edit_timestamp last_moved_timestamp edit_history reactions submessages topic_links ' +
  'match_content match_subject'
).split(' ');

export const anchorWords = ['newest', 'oldest', 'first_unread'] as const;

const number = (help: string) =>
  ({ kind: 'integer', min: 0, max: 5000, placeholder: 'N', rare: 'fetching', help }) as const;

/** Query parameters of GET /messages under their wire names. */
export const messageParameters = {
  anchor: {
    ...textField(
      'ID|newest|oldest|first_unread',
      'The anchor: the message to start from (default: newest; with --all oldest)',
    ),
    suggest: anchorWords,
  },
  include_anchor: { ...flagField('Include the anchor itself (default: yes)', 155), negatable: true, rare: 'fetching' },
  num_before: number('Number of messages before the anchor'),
  num_after: number('Number of messages after the anchor'),
  narrow: {
    kind: 'json',
    rare: 'fetching',
    placeholder: 'JSON',
    help: 'The narrow: the complete selection as the API accepts it, a JSON array',
  },
  client_gravatar: {
    ...flagField('avatar_url may be null where it can be computed from the address (default: yes; below level 92 no)'),
    negatable: true,
    rare: 'fetching',
  },
  apply_markdown: flagField('Rendered HTML; --raw-content requests the Markdown source'),
  message_ids: {
    kind: 'string',
    list: true,
    flag: 'ids',
    level: 300,
    placeholder: 'ID,ID…',
    help: 'Just these messages',
  },
  allow_empty_topic_name: {
    ...flagField("Show the empty topic as \'\', not by the name the server gives it", 334),
    rare: 'fetching',
  },
  use_first_unread_anchor: { ...flagField('Deprecated: sent as --anchor first_unread'), negatable: true, hidden: true },
} as const satisfies Fields;

/** Which parameters exclude which (docs/apis.md, Messages). */
export const exclusions: readonly UsageRule[] = [
  {
    option: 'message_ids',
    excludes: ['anchor', 'include_anchor', 'use_first_unread_anchor', 'num_before', 'num_after'],
  },
  { option: 'use_first_unread_anchor', excludes: ['anchor'] },
];

export type MessageValues = Values<typeof messageParameters>;
