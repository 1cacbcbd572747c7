import { flagField, type Field, type Fields } from './field.ts';

const text = (help: string) => ({ kind: 'string', nonempty: true, help }) as const;
const word = <const C extends readonly string[]>(choices: C, help: string, level?: number) =>
  ({ kind: 'string', choices, help, ...(level === undefined ? {} : { level }) }) as const;
const number = (max: number, level: number, help: string) => ({ kind: 'integer', min: 1, max, level, help }) as const;

/** A choice that is sent as a number, from 1 on: the names of each, of which the first one is shown. */
const choice = (values: string, help: string, level?: number) => {
  const names = values.split(' | ').flatMap((all, at) => all.split(' ').map((name) => [name, at + 1] as const));
  const field = { kind: 'integer', names: Object.fromEntries(names), help } as const satisfies Field;
  return level === undefined ? field : { ...field, level };
};

const followPolicy =
  'participates topics-the-user-participates-in | sends topics-the-user-sends-a-message-to | starts topics-the-user-starts | never';
const automatic = 'automatic | always | never';

/** Every user setting of PATCH /settings. Strings and secrets go unchanged, others as JSON (docs/apis.md, Settings). */
export const settings = {
  full_name: text('New display name; ignored where the organization forbids name changes'),
  email: text('New address; takes effect once the confirmation link sent to it is opened'),
  old_password: { kind: 'secret', help: 'Current password (or directory-service password); needed with new_password' },
  new_password: { kind: 'secret', help: 'New password; needs old_password' },
  twenty_four_hour_time: flagField('24-hour time display'),
  web_mark_read_on_scroll_policy: choice(
    'always | conversation-views only-in-conversation-views | never',
    'When scrolling marks messages as read',
    175,
  ),
  web_channel_default_view: choice(
    'top-topic top-topic-in-the-channel | channel-feed | list-of-topics | top-unread-topic top-unread-topic-in-channel',
    'What opening a channel shows; list-of-topics needs level 383, top-unread-topic level 401',
    269,
  ),
  starred_message_counts: flagField('Show the number of starred messages'),
  receives_typing_notifications: flagField('Receive typing notifications', 253),
  web_suggest_update_timezone: flagField('Alert when the profile time zone differs from the device', 329),
  fluid_layout_width: flagField('Use the maximum screen width for the center panel'),
  high_contrast_mode: flagField('Reserved for visual-accessibility design variations'),
  web_font_size_px: number(32767, 245, 'Primary font size in pixels'),
  web_line_height_percent: number(32767, 245, 'Primary line height in percent; 120 means 1.2'),
  color_scheme: choice('automatic | dark | light', 'Color scheme'),
  enable_drafts_synchronization: flagField(
    'Keep drafts on the server; turning it off deletes all drafts stored there',
    87,
  ),
  translate_emoticons: flagField('Translate emoticons to emoji in sent messages'),
  display_emoji_reaction_users: flagField('Show names of reacting users instead of counts', 125),
  default_language: text('Language code of the interface and notification e-mails, such as en, de, pt-br'),
  web_home_view: word(
    ['recent_topics', 'recent', 'inbox', 'all_messages'],
    'Home view; recent_topics is named recent from level 454, and the word that the server knows is sent',
    219,
  ),
  web_escape_navigates_to_home_view: flagField('The Escape key goes to the home view', 219),
  left_side_userlist: flagField('Users list on the left sidebar in narrow windows'),
  emojiset: word(
    ['google', 'google-blob', 'twitter', 'text'],
    'Emoji set: google (modern), google-blob (classic, up to release 11.2), twitter, text (plain text)',
  ),
  demote_inactive_streams: choice(automatic, 'Demote inactive channels'),
  user_list_style: choice('compact | with-status | with-avatar with-avatar-and-status', 'Style of the user list', 141),
  web_animate_image_previews: word(['always', 'on_hover', 'never'], 'When image previews are animated', 275),
  web_stream_unreads_count_display_policy: choice(
    'all all-channels | unmuted unmuted-channels-and-topics | none no-channels',
    'Channels that show a count of unread messages',
    210,
  ),
  hide_ai_features: flagField('Hide AI features in all clients', 350),
  web_left_sidebar_show_channel_folders: flagField("Show the organization's channel folders in the left sidebar", 411),
  web_left_sidebar_unreads_count_summary: flagField('Show the unread-count summary in the left sidebar', 398),
  timezone: text('IANA identifier of the profile time zone; may be stored in canonical form'),
  enable_stream_desktop_notifications: flagField('Visual desktop notifications for channel messages'),
  enable_stream_email_notifications: flagField('E-mail notifications for channel messages'),
  enable_stream_push_notifications: flagField('Mobile notifications for channel messages'),
  enable_stream_audible_notifications: flagField('Audible desktop notifications for channel messages'),
  notification_sound: text('Name of the sound, such as zulip or ding; none for silence'),
  enable_desktop_notifications: flagField('Visual notifications for direct messages and mentions'),
  enable_sounds: flagField('Audible notifications for direct messages and mentions'),
  email_notifications_batching_period_seconds: number(
    604_800,
    82,
    'Seconds in which e-mail notifications are gathered',
  ),
  enable_offline_email_notifications: flagField('E-mail for direct messages and mentions when offline'),
  enable_offline_push_notifications: flagField('Mobile notification for direct messages and mentions when offline'),
  enable_online_push_notifications: flagField('Mobile notification for direct messages and mentions when online'),
  enable_followed_topic_desktop_notifications: flagField('Visual desktop notifications for followed topics', 189),
  enable_followed_topic_email_notifications: flagField('E-mail notifications for followed topics', 189),
  enable_followed_topic_push_notifications: flagField('Mobile notifications for followed topics', 189),
  enable_followed_topic_audible_notifications: flagField('Audible desktop notifications for followed topics', 189),
  enable_digest_emails: flagField('Digest e-mails when away'),
  enable_marketing_emails: flagField('Marketing e-mails; without function outside the hosted offering'),
  enable_login_emails: flagField('E-mail on new logins'),
  message_content_in_email_notifications: flagField('Include message content in e-mail notifications'),
  pm_content_in_desktop_notifications: flagField('Include direct-message content in desktop notifications'),
  wildcard_mentions_notify: flagField('Wildcard mentions notify like a personal mention'),
  enable_followed_topic_wildcard_mentions_notify: flagField('Wildcard mentions notify in followed topics', 189),
  desktop_icon_count_display: choice(
    'all-unread all-unread-messages | dms-mentions-followed dms-mentions-and-followed-topics | dms-mentions dms-and-mentions | none',
    'What the desktop icon counts; needs level 227, below which the numbers meant something else',
  ),
  realm_name_in_email_notifications_policy: choice(
    automatic,
    "Put the organization's name in e-mail notifications",
    168,
  ),
  automatically_follow_topics_policy: choice(followPolicy, 'Topics that are followed automatically', 214),
  automatically_unmute_topics_in_muted_streams_policy: choice(
    followPolicy,
    'Topics that are unmuted automatically in muted channels',
    214,
  ),
  automatically_follow_topics_where_mentioned: flagField('Follow topics in which the user is mentioned', 235),
  resolved_topic_notice_auto_read_policy: word(
    ['always', 'except_followed', 'never'],
    'Whether notices that a topic was resolved are marked as read',
    385,
  ),
  presence_enabled: flagField('Show presence to others when online'),
  enter_sends: flagField('Enter sends the message or saves an edit', 81),
  send_private_typing_notifications: flagField('Send typing notifications in direct messages', 105),
  send_stream_typing_notifications: flagField('Send typing notifications in channels', 105),
  send_read_receipts: flagField('Let others see whether messages were read', 105),
  allow_private_data_export: flagField('Let administrators export private data', 293),
  email_address_visibility: choice(
    'everyone | members members-only | administrators administrators-only admins admins-only | nobody | moderators moderators-only',
    "Who may see the user's e-mail address",
    163,
  ),
  web_navigate_to_sent_message: flagField('Go to the conversation of a message when it is sent', 268),
} as const satisfies Fields;

type SettingName = keyof typeof settings;

/** Settings that PATCH /settings took before it took all (docs/apis.md, Settings). */
export const identitySettings: ReadonlySet<string> = new Set(['full_name', 'email', 'old_password', 'new_password']);
export const unifiedSettingsLevel = 80;

/** A value whose meaning depends on the server's level; `instead` is the word for the other side of that level. */
interface LevelRule {
  readonly name: SettingName | 'target_users';
  readonly value?: string | number;
  /** The first level at which the value may be sent. */
  readonly from?: number;
  /** The first level at which the value may not be sent any more. */
  readonly until?: number;
  /** The level that counts where the server reports none; absent: the value is sent. */
  readonly unreported?: number;
  readonly instead?: string;
  readonly why: string;
}

/** A choice that has another word from that level on. */
const renamed = (name: SettingName, old: string, now: string, level: number): readonly LevelRule[] => [
  { name, value: now, from: level, instead: old, why: `${now} is named ${old} below level ${level}` },
  { name, value: old, until: level, instead: now, why: `${old} is named ${now} from level ${level} on` },
];

export const levelRules: readonly LevelRule[] = [
  {
    name: 'desktop_icon_count_display',
    from: 227,
    why: 'below level 227 the numbers of desktop_icon_count_display had other meanings',
  },
  {
    name: 'target_users',
    from: 444,
    unreported: 0,
    why: 'target_users needs level 444: an older server changes the settings of the caller instead',
  },
  { name: 'web_channel_default_view', value: 3, from: 383, why: 'list-of-topics needs level 383' },
  { name: 'web_channel_default_view', value: 4, from: 401, why: 'top-unread-topic needs level 401' },
  { name: 'emojiset', value: 'google-blob', until: 425, why: 'google-blob was removed after release 11.2' },
  ...renamed('web_home_view', 'recent_topics', 'recent', 454),
];
