import { expect, test } from 'vitest';
import type { Field } from '../../src/schema/field.ts';
import { settings } from '../../src/schema/settings.ts';

/** Typed by hand from the specification: the settings that came with a feature level. */
const levels: Readonly<Record<string, number>> = {
  web_mark_read_on_scroll_policy: 175,
  receives_typing_notifications: 253,
  web_suggest_update_timezone: 329,
  web_font_size_px: 245,
  web_line_height_percent: 245,
  enable_drafts_synchronization: 87,
  display_emoji_reaction_users: 125,
  web_home_view: 219,
  web_escape_navigates_to_home_view: 219,
  web_channel_default_view: 269,
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
  enter_sends: 81,
  send_private_typing_notifications: 105,
  send_stream_typing_notifications: 105,
  send_read_receipts: 105,
  allow_private_data_export: 293,
  email_address_visibility: 163,
  web_navigate_to_sent_message: 268,
};

test('each setting came with the level that the specification says', () => {
  const found = Object.entries<Field>(settings).flatMap(([name, { level }]) =>
    level === undefined ? [] : [[name, level]],
  );
  expect(Object.fromEntries(found)).toEqual(levels);
});
