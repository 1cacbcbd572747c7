/**
 * The interface specification as tables, typed from its text by hand and made of no table of src: each parameter,
 * value, field and error is a row, so that a row which src lacks fails.
 */

/** Every name of a parameter, setting or field that the text of the specification has in its tables and lists. */
export const namesOfTheText = (
  'remote_user app_code size_allowance mac_address ' +
  'id type content content_type display_recipient recipient_id sender_id sender_email sender_full_name sender_realm_str stream_id subject timestamp ' +
  'avatar_url client flags is_me_message last_edit_timestamp last_moved_timestamp edit_history reactions submessages topic_links match_content ' +
  'match_subject fragment name is_pinned saved_snippet_id full_name email old_password new_password twenty_four_hour_time ' +
  'web_mark_read_on_scroll_policy web_channel_default_view starred_message_counts receives_typing_notifications web_suggest_update_timezone ' +
  'fluid_layout_width high_contrast_mode web_font_size_px web_line_height_percent color_scheme enable_drafts_synchronization translate_emoticons ' +
  'display_emoji_reaction_users default_language web_home_view web_escape_navigates_to_home_view left_side_userlist emojiset ' +
  'demote_inactive_streams user_list_style web_animate_image_previews web_stream_unreads_count_display_policy hide_ai_features ' +
  'web_left_sidebar_show_channel_folders web_left_sidebar_unreads_count_summary timezone enable_stream_desktop_notifications ' +
  'enable_stream_email_notifications enable_stream_push_notifications enable_stream_audible_notifications notification_sound ' +
  'enable_desktop_notifications enable_sounds email_notifications_batching_period_seconds enable_offline_email_notifications ' +
  'enable_offline_push_notifications enable_online_push_notifications enable_followed_topic_desktop_notifications ' +
  'enable_followed_topic_email_notifications enable_followed_topic_push_notifications enable_followed_topic_audible_notifications ' +
  'enable_digest_emails enable_marketing_emails enable_login_emails message_content_in_email_notifications ' +
  'pm_content_in_desktop_notifications wildcard_mentions_notify enable_followed_topic_wildcard_mentions_notify desktop_icon_count_display ' +
  'realm_name_in_email_notifications_policy automatically_follow_topics_policy automatically_unmute_topics_in_muted_streams_policy ' +
  'automatically_follow_topics_where_mentioned resolved_topic_notice_auto_read_policy presence_enabled enter_sends ' +
  'send_private_typing_notifications send_stream_typing_notifications send_read_receipts allow_private_data_export email_address_visibility ' +
  'web_navigate_to_sent_message anchor include_anchor num_before num_after narrow client_gravatar apply_markdown message_ids ' +
  'allow_empty_topic_name use_first_unread_anchor found_newest found_oldest found_anchor history_limited messages ' +
  'ignored_parameters_unsupported topic_name result msg complete code'
).split(' ');

/** A boolean setting takes both values. */
const bothWays = { true: 'true', false: 'false' };
const booleans = (
  'twenty_four_hour_time starred_message_counts receives_typing_notifications web_suggest_update_timezone fluid_layout_width high_contrast_mode ' +
  'enable_drafts_synchronization translate_emoticons display_emoji_reaction_users web_escape_navigates_to_home_view left_side_userlist ' +
  'hide_ai_features web_left_sidebar_show_channel_folders web_left_sidebar_unreads_count_summary enable_stream_desktop_notifications ' +
  'enable_stream_email_notifications enable_stream_push_notifications enable_stream_audible_notifications enable_desktop_notifications ' +
  'enable_sounds enable_offline_email_notifications enable_offline_push_notifications enable_online_push_notifications ' +
  'enable_followed_topic_desktop_notifications enable_followed_topic_email_notifications enable_followed_topic_push_notifications ' +
  'enable_followed_topic_audible_notifications enable_digest_emails enable_marketing_emails enable_login_emails ' +
  'message_content_in_email_notifications pm_content_in_desktop_notifications wildcard_mentions_notify ' +
  'enable_followed_topic_wildcard_mentions_notify automatically_follow_topics_where_mentioned presence_enabled enter_sends ' +
  'send_private_typing_notifications send_stream_typing_notifications send_read_receipts allow_private_data_export web_navigate_to_sent_message'
).split(' ');

const topicPolicies = { 1: '1', 2: '2', 3: '3', 4: '4', participates: '1', sends: '2', starts: '3', never: '4' };

/** Of each setting, what may be typed and what is sent for it. */
export const settingValues: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...Object.fromEntries(booleans.map((name) => [name, bothWays])),
  full_name: { Ada: 'Ada' },
  email: { 'new@b.de': 'new@b.de' },
  web_mark_read_on_scroll_policy: { 1: '1', 2: '2', 3: '3', always: '1', 'conversation-views': '2', never: '3' },
  web_channel_default_view: {
    ...{ 1: '1', 2: '2', 3: '3', 4: '4', 'top-topic': '1', 'channel-feed': '2', 'list-of-topics': '3' },
    'top-unread-topic': '4',
  },
  web_font_size_px: { 16: '16' },
  web_line_height_percent: { 120: '120' },
  color_scheme: { 1: '1', 2: '2', 3: '3', automatic: '1', dark: '2', light: '3' },
  default_language: { de: 'de' },
  web_home_view: { recent_topics: 'recent_topics', inbox: 'inbox', all_messages: 'all_messages' },
  emojiset: { google: 'google', 'google-blob': 'google-blob', twitter: 'twitter', text: 'text' },
  demote_inactive_streams: { 1: '1', 2: '2', 3: '3', automatic: '1', always: '2', never: '3' },
  user_list_style: { 1: '1', 2: '2', 3: '3', compact: '1', 'with-status': '2', 'with-avatar-and-status': '3' },
  web_animate_image_previews: { always: 'always', on_hover: 'on_hover', 'on-hover': 'on_hover', never: 'never' },
  web_stream_unreads_count_display_policy: {
    ...{ 1: '1', 2: '2', 3: '3', 'all-channels': '1', 'unmuted-channels-and-topics': '2', 'no-channels': '3' },
  },
  timezone: { 'Europe/Berlin': 'Europe/Berlin' },
  notification_sound: { ding: 'ding' },
  email_notifications_batching_period_seconds: { 120: '120', '2m': '120' },
  desktop_icon_count_display: {
    ...{
      1: '1',
      2: '2',
      3: '3',
      4: '4',
      'all-unread': '1',
      'dms-mentions-followed': '2',
      'dms-mentions': '3',
      none: '4',
    },
  },
  realm_name_in_email_notifications_policy: { 1: '1', 2: '2', 3: '3', automatic: '1', always: '2', never: '3' },
  automatically_follow_topics_policy: topicPolicies,
  automatically_unmute_topics_in_muted_streams_policy: topicPolicies,
  resolved_topic_notice_auto_read_policy: {
    ...{ always: 'always', except_followed: 'except_followed', 'except-followed': 'except_followed', never: 'never' },
  },
  email_address_visibility: {
    ...{ 1: '1', 2: '2', 3: '3', 4: '4', 5: '5', everyone: '1', 'members-only': '2', 'admins-only': '3', nobody: '4' },
    'moderators-only': '5',
  },
};

/** What a setting does not take: nothing is sent. */
export const refusedSettings: readonly (readonly [name: string, value: string])[] = [
  ...booleans.map((name) => [name, '2'] as const),
  ['web_mark_read_on_scroll_policy', '4'],
  ['web_channel_default_view', '5'],
  ['web_font_size_px', 'large'],
  ['web_line_height_percent', '1.2'],
  ['color_scheme', '0'],
  ['web_home_view', 'home'],
  ['emojiset', 'apple'],
  ['demote_inactive_streams', '4'],
  ['user_list_style', '4'],
  ['web_animate_image_previews', 'hover'],
  ['web_stream_unreads_count_display_policy', '4'],
  ['desktop_icon_count_display', '5'],
  ['realm_name_in_email_notifications_policy', '4'],
  ['automatically_follow_topics_policy', '5'],
  ['automatically_unmute_topics_in_muted_streams_policy', '5'],
  ['resolved_topic_notice_auto_read_policy', 'followed'],
  ['email_address_visibility', '6'],
];

/** The level that a setting is tagged with: a server below it ignores the setting, and the error says so. */
export const settingLevels: Readonly<Record<string, number>> = {
  web_mark_read_on_scroll_policy: 175,
  web_channel_default_view: 269,
  receives_typing_notifications: 253,
  web_suggest_update_timezone: 329,
  web_font_size_px: 245,
  web_line_height_percent: 245,
  enable_drafts_synchronization: 87,
  display_emoji_reaction_users: 125,
  web_home_view: 219,
  web_escape_navigates_to_home_view: 219,
  user_list_style: 141,
  web_animate_image_previews: 275,
  web_stream_unreads_count_display_policy: 210,
  hide_ai_features: 350,
  web_left_sidebar_show_channel_folders: 411,
  web_left_sidebar_unreads_count_summary: 398,
  email_notifications_batching_period_seconds: 82,
  enable_followed_topic_desktop_notifications: 189,
  enable_followed_topic_email_notifications: 189,
  enable_followed_topic_push_notifications: 189,
  enable_followed_topic_audible_notifications: 189,
  enable_followed_topic_wildcard_mentions_notify: 189,
  realm_name_in_email_notifications_policy: 168,
  automatically_follow_topics_policy: 214,
  automatically_unmute_topics_in_muted_streams_policy: 214,
  automatically_follow_topics_where_mentioned: 235,
  resolved_topic_notice_auto_read_policy: 385,
  send_private_typing_notifications: 105,
  send_stream_typing_notifications: 105,
  send_read_receipts: 105,
  allow_private_data_export: 293,
  email_address_visibility: 163,
  web_navigate_to_sent_message: 268,
};

const range = { anchor: '42', num_before: '0', num_after: '0' };
const here = '--anchor 42 --num-before 0 --num-after 0';

/** Each parameter of GET /messages: the words of the line, and the whole query. */
export const messageQueries: readonly (readonly [
  name: string,
  words: string,
  query: Readonly<Record<string, string>>,
])[] = [
  ['anchor', here, range],
  ['anchor', '--anchor newest --num-before 3', { anchor: 'newest', num_before: '3', num_after: '0' }],
  ['anchor', '--anchor oldest --num-after 3', { anchor: 'oldest', num_before: '0', num_after: '3' }],
  ['anchor', '--anchor first_unread --num-after 3', { anchor: 'first_unread', num_before: '0', num_after: '3' }],
  ['include_anchor', `${here} --include-anchor`, { ...range, include_anchor: 'true' }],
  ['include_anchor', `${here} --no-include-anchor`, { ...range, include_anchor: 'false' }],
  ['num_before', '--anchor 42 --num-before 5000', { ...range, num_before: '5000' }],
  ['num_after', '--anchor 42 --num-after 5000', { ...range, num_after: '5000' }],
  [
    'narrow',
    `${here} --narrow '[{"operator":"is","operand":"dm"}]'`,
    { ...range, narrow: '[{"operator":"is","operand":"dm"}]' },
  ],
  ['narrow', `${here} --narrow '[["is","dm"]]'`, { ...range, narrow: '[["is","dm"]]' }],
  ['narrow', `${here} --channels public`, { ...range, narrow: '[{"operator":"channels","operand":"public"}]' }],
  ['client_gravatar', `${here} --client-gravatar`, { ...range, client_gravatar: 'true' }],
  ['client_gravatar', `${here} --no-client-gravatar`, { ...range, client_gravatar: 'false' }],
  ['apply_markdown', here, range],
  ['apply_markdown', `${here} --raw-content`, { ...range, apply_markdown: 'false' }],
  ['message_ids', '--ids 42,43', { message_ids: '[42,43]' }],
  ['message_ids', '--ids 42 --is dm', { narrow: '[{"operator":"is","operand":"dm"}]', message_ids: '[42]' }],
  ['allow_empty_topic_name', `${here} --allow-empty-topic-name`, { ...range, allow_empty_topic_name: 'true' }],
  [
    'use_first_unread_anchor',
    '--use-first-unread-anchor --num-after 3',
    { anchor: 'first_unread', num_before: '0', num_after: '3' },
  ],
];

/** Combinations and limits that are errors: nothing is sent. */
export const refusedQueries: readonly string[] = [
  '--ids 1 --anchor 1',
  '--ids 1 --include-anchor',
  '--ids 1 --use-first-unread-anchor',
  '--ids 1 --num-before 1',
  '--ids 1 --num-after 1',
  '--use-first-unread-anchor --anchor 1',
  '--anchor 1 --num-before 5001',
  '--anchor 1 --num-before 2500 --num-after 2501',
  '--anchor 1 --num-after -1',
];

/** A message with every field of the table, as a server sends it. */
export const message = {
  id: 42,
  type: 'stream',
  content: '<p>Hi</p>',
  content_type: 'text/html',
  display_recipient: 'general',
  recipient_id: 5,
  sender_id: 10,
  sender_email: 'ada@b.de',
  sender_full_name: 'Ada',
  sender_realm_str: 'harbour',
  stream_id: 1,
  subject: 'lunch',
  timestamp: 1_772_000_000,
  avatar_url: null,
  client: 'website',
  flags: ['read', 'wildcard_mentioned'],
  is_me_message: false,
  last_edit_timestamp: 1_772_000_100,
  last_moved_timestamp: 1_772_000_200,
  edit_history: [
    { user_id: null, timestamp: 1, prev_content: 'a', prev_rendered_content: '<p>a</p>', prev_stream: 2, stream: 1 },
    { user_id: 10, timestamp: 2, prev_topic: 'old', topic: 'lunch' },
  ],
  reactions: [{ emoji_name: 'tada', emoji_code: '1f389', reaction_type: 'unicode_emoji', user_id: 10 }],
  submessages: [{ msg_type: 'widget', content: '{}', message_id: 42, sender_id: 10, id: 1 }],
  topic_links: [{ text: '#1', url: 'https://b.de/1' }],
  match_content: '<p><span class="highlight">Hi</span></p>',
  match_subject: 'lunch',
} as const;

/** The fields of the answer to GET /messages beside the messages. */
export const envelope = {
  ...{ result: 'success', msg: '', anchor: 42, found_newest: true, found_oldest: false, found_anchor: true },
  history_limited: false,
} as const;

interface WriteRow {
  readonly names: string;
  readonly line: string;
  readonly method: string;
  readonly path: string;
  readonly json?: object;
  readonly form?: Readonly<Record<string, string>>;
  readonly answer: unknown;
}

const success = { result: 'success', msg: '' };
const license = { license_code: 'CODE-1234', remote_user: 'ada', app_code: 7, size_allowance: 4 };
const code = '/v1/license/CODE-1234/';

/** Each other call with each of its parameters: what is sent last. */
export const calls: readonly WriteRow[] = [
  ...[1, 18].map((size_allowance) => ({
    names: 'remote_user app_code size_allowance',
    line: `license edit CODE-1234 --replace --allow-duplicate --remote-user bob --app-code 8 --size-allowance ${size_allowance}`,
    ...{ method: 'PUT', path: code, json: { remote_user: 'bob', app_code: 8, size_allowance } },
    answer: { ...license, remote_user: 'bob', app_code: 8, size_allowance },
  })),
  {
    names: 'remote_user',
    line: `license edit CODE-1234 --allow-duplicate --remote-user ${'u'.repeat(127)}`,
    ...{ method: 'PATCH', path: code, json: { remote_user: 'u'.repeat(127) } },
    answer: { ...license, remote_user: 'u'.repeat(127) },
  },
  {
    names: 'app_code',
    line: 'license edit CODE-1234 --allow-duplicate --app-code 9',
    ...{ method: 'PATCH', path: code, json: { app_code: 9 }, answer: { ...license, app_code: 9 } },
  },
  {
    names: 'size_allowance',
    line: 'license edit CODE-1234 --size-allowance 18',
    ...{ method: 'PATCH', path: code, json: { size_allowance: 18 }, answer: { ...license, size_allowance: 18 } },
  },
  ...['pin', 'hide'].map((verb) => ({
    names: 'fragment is_pinned',
    ...{ line: `view ${verb} narrow/is/starred`, method: 'PATCH', path: '/api/v1/navigation_views/narrow/is/starred' },
    ...{ form: { is_pinned: String(verb === 'pin') }, answer: success },
  })),
  {
    names: 'fragment name',
    ...{ line: "view rename narrow/a 'A & B'", method: 'PATCH', path: '/api/v1/navigation_views/narrow/a' },
    ...{ form: { name: 'A & B' }, answer: success },
  },
  {
    names: 'saved_snippet_id',
    ...{ line: 'snippet rm 4', method: 'DELETE', path: '/api/v1/saved_snippets/4', answer: success },
  },
];

/** Limits of the licensing fields: nothing is sent. */
export const refusedLicenses: readonly string[] = [
  'license create --remote-user ada --size-allowance 0',
  'license create --remote-user ada --size-allowance 19',
  'license create --remote-user ada --size-allowance 1.5',
  `license create --remote-user ${'u'.repeat(128)} --size-allowance 1`,
  'license create --remote-user Zoë --size-allowance 1',
  'license create --remote-user ada',
  'license create --size-allowance 1',
  'license edit CODE-1234 --replace --remote-user ada --size-allowance 1',
  'license list --app-code seven',
];

interface ErrorRow {
  readonly condition: string;
  readonly line: string;
  readonly request:
    string | { readonly method: string; readonly path: string; readonly form?: Readonly<Record<string, string>> };
  readonly status: number;
  readonly code: string;
  readonly msg: string;
  readonly exit: number;
}

const deletion = { method: 'POST', path: '/api/v1/streams/1/delete_topic', form: { topic_name: 'lunch' } };
const other = { method: 'PATCH', path: '/api/v1/navigation_views/narrow/a', form: { is_pinned: 'true' } };
const named = { method: 'PATCH', path: '/api/v1/navigation_views/narrow/a', form: { name: 'A' } };

/** Each error of the table, as the text has it and as servers were seen to send it. */
export const errors: readonly ErrorRow[] = [
  ...[400, 403].map((status) => ({
    condition: 'delete topic: no administrator',
    ...{ line: 'api chat POST /streams/1/delete_topic -f topic_name=lunch', request: deletion, status },
    ...{ code: 'UNAUTHORIZED_PRINCIPAL', msg: 'Must be an organization administrator', exit: 4 },
  })),
  {
    condition: 'navigation view: a name on a built-in view',
    ...{ line: 'view rename narrow/a A', request: named, status: 400, code: 'BAD_REQUEST' },
    ...{ msg: 'Built-in views cannot have a custom name', exit: 6 },
  },
  ...(['NOT_FOUND', 'BAD_REQUEST'] as const).map((word) => ({
    condition: 'navigation view: no view with that fragment',
    ...{ line: 'view pin narrow/a', request: other, status: 404, code: word, exit: 5 },
    msg: 'Navigation view does not exist',
  })),
  ...[400, 404].map((status) => ({
    condition: 'saved snippet: no snippet with that id',
    ...{ line: 'snippet rm 4', request: 'DELETE /api/v1/saved_snippets/4', status, code: 'BAD_REQUEST', exit: 5 },
    msg: 'Saved snippet does not exist',
  })),
  ...['more than 5000 messages requested', 'message_ids combined with range parameters'].map((condition) => ({
    condition,
    ...{ line: "api chat GET '/messages?num_before=1'", request: 'GET /api/v1/messages?num_before=1', status: 400 },
    ...{ code: 'BAD_REQUEST', msg: condition, exit: 6 },
  })),
];
