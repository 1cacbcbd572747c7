import type { Field } from '../../schema/field.ts';
import { knownZone } from '../../schema/setting-text.ts';
import { identitySettings, settings, unifiedSettingsLevel } from '../../schema/settings.ts';
import { isObject } from '../../core/json.ts';
import type { User } from '../records.ts';
import { among, boolean, integer, jsonString, plain, type Reader, invalid, jsonValue } from './parameters.ts';
import { levels } from './levels.ts';
import { requireAdministrator, type UserCall } from './chat-call.ts';
import { Refusal } from './refusal.ts';

export type SettingValue = boolean | number | string;
type SettingReader = Reader<SettingValue | ReturnType<typeof targetUsers>>;

/** Settings of PATCH /settings at that level, in the specification's order. Below 80 each alias took its own. */
export function settingsAt({ level, segment }: UserCall): Readonly<Record<string, SettingReader>> {
  const known = Object.entries<Field>(settings).flatMap(([name, field]): [string, SettingReader][] => {
    const wire = (field.level ?? 0) <= level ? name : renamed[name];
    return wire === undefined ? [] : [[wire, readerAt(level, name, field)]];
  });
  const besides = others.filter(({ since = 0, until = Infinity }) => level >= since && level < until);
  const all = [...known, ...besides.map(({ name, read }): [string, SettingReader] => [name, read])];
  return Object.fromEntries(all.filter(([name]) => level >= unifiedSettingsLevel || aliasOf(name) === segment));
}

/** Names that settings had before the level of their present name (docs/apis.md, Settings). */
const renamed: Readonly<Record<string, string>> = {
  web_home_view: 'default_view',
  web_escape_navigates_to_home_view: 'escape_navigates_to_default_view',
};

function readerAt(level: number, name: string, field: Field): Reader<SettingValue> {
  const string = quotedBelow[name] !== undefined && level < quotedBelow[name] ? jsonString : plain;
  if (name === 'timezone') return timeZone(string);
  if (name === 'web_home_view')
    return among(string, [level >= levels.recentView ? 'recent' : 'recent_topics', 'inbox', 'all_messages']);
  if (name === 'web_channel_default_view') {
    const later = [...(level >= levels.listOfTopics ? [3] : []), ...(level >= levels.topUnreadTopic ? [4] : [])];
    return among(integer, [1, 2, ...later]);
  }
  if (name === 'desktop_icon_count_display' && level < levels.desktopIconCount) return among(integer, [1, 2, 3]);
  if (name === 'resolved_topic_notice_auto_read_policy' && field.kind === 'string' && field.choices)
    return amongOwn(string, field.choices);
  if (name === 'emojiset' && level >= levels.noBlobEmoji) return among(string, ['google', 'twitter', 'text']);
  if (field.kind === 'boolean') return boolean;
  if (field.kind === 'integer') return field.names ? among(integer, Object.values(field.names)) : integer;
  return field.kind === 'string' && field.choices ? among(string, field.choices) : string;
}

/** A choice that the server checks by itself, and refuses in other words. */
function amongOwn(read: Reader<string>, choices: readonly string[]): Reader<string> {
  return (name, text) => {
    const value = read(name, text);
    if (!choices.includes(value)) throw new Refusal(`Invalid ${name}`);
    return value;
  };
}

/** Strings that had to be JSON below these levels (docs/apis.md, Settings). */
const quotedBelow: Readonly<Record<string, number>> = {
  default_language: levels.plainLanguageAndSound,
  notification_sound: levels.plainLanguageAndSound,
  timezone: levels.plainStrings,
  emojiset: levels.plainStrings,
  web_home_view: levels.plainStrings,
};

/** The part behind /settings in the URL that took this setting. */
function aliasOf(name: string): '' | '/notifications' | '/display' {
  if (identitySettings.has(name)) return '';
  return notifications.test(name) ? '/notifications' : '/display';
}

const notifications =
  /^(enable_(?!drafts)|notification_sound|message_content_|pm_content_|wildcard_mentions_|desktop_icon_|realm_name_|presence_|email_notifications_)/;

/** Values of an account that has not chosen; a setting without one here counts as false or unset. */
export const defaultSettings: Readonly<Record<string, SettingValue>> = {
  default_language: 'en',
  color_scheme: 1,
  emojiset: 'google',
  web_font_size_px: 16,
  web_line_height_percent: 140,
  web_home_view: 'inbox',
  default_view: 'recent_topics',
  timezone: '',
  notification_sound: 'zulip',
  enter_sends: false,
  email_address_visibility: 1,
  email_notifications_batching_period_seconds: 120,
};

/** Languages of release 10.2 (docs/apis.md, Settings). */
export const languages: ReadonlySet<string> = new Set(
  [
    'ar be bg bqi ca cs cy da de en en-gb eo es fa fi fr gl gu hi hu id it ja ko lt ml mn nl no pl pt pt-br',
    'ro ru si sr sv ta tl tr uk vi zh-hans zh-hant zh-tw',
  ].flatMap((line) => line.split(' ')),
);

/** Names of the sounds (docs/apis.md, Settings). */
export const sounds: ReadonlySet<string> = new Set([
  ...'ascend,beep_boop,bink,bright,brlip,chime,deep tom,ding,double tap,down,dry bongos,dutdut,fast ascend,flute'.split(
    ',',
  ),
  ...'friendly,kick roll,loud tintong,metallic snare,pan,shaker,simple,stairs,subtle,swish,tintong,up'.split(','),
  ...'wood block,zaping,zing,zulip'.split(','),
]);

/** A name of the time zone database, which systems have under `posix` and `right` too; its spelling counts. */
function timeZone(read: Reader<string>): Reader<string> {
  return (name, text) => {
    const zone = read(name, text);
    const typed = zone.replace(/^(posix|right)\//, '');
    const known = knownZone(typed);
    if (known === undefined || (known !== typed && known.toLowerCase() === typed.toLowerCase()))
      throw invalid(name, 'Not a recognized time zone');
    // The server is known to store this one under its current name.
    return zone === 'America/Montreal' ? 'America/Toronto' : zone;
  };
}

/** The `target_users` parameter of PATCH /settings. */
const targetUsers = (name: string, text: string) => {
  const value = jsonValue(name, text);
  if (!isObject(value)) throw new Refusal(`${name} is not a dict`);
  const { user_ids, group_ids } = value;
  if (user_ids === undefined && group_ids === undefined) {
    throw new Refusal('Either user_ids or group_ids must be provided.');
  }
  const ids: readonly unknown[] = Array.isArray(user_ids) ? user_ids : [];
  return { user_ids: ids.filter((id): id is number => Number.isInteger(id)) };
};

/** Settings beyond the specification: of early levels, or parameters of later ones (docs/apis.md, Settings). */
const others: readonly { name: string; read: SettingReader; since?: number; until?: number }[] = [
  { name: 'dense_mode', read: boolean, until: levels.noDenseMode },
  { name: 'realm_name_in_notifications', read: boolean, until: levels.noRealmNameInNotifications },
  { name: 'web_inbox_show_channel_folders', read: boolean, since: levels.channelFolders },
  { name: 'target_users', read: targetUsers, since: levels.targetUsers },
];

/** Settings that an administrator cannot change for others; the name is dropped silently (docs/apis.md, Settings). */
const own = new Set([
  'email',
  'new_password',
  'timezone',
  'allow_private_data_export',
  'email_address_visibility',
  'enable_digest_emails',
  'enable_login_emails',
  'enable_marketing_emails',
  'presence_enabled',
  'send_private_typing_notifications',
  'send_stream_typing_notifications',
  'send_read_receipts',
]);

/** The users whose settings change: those of the target, else the caller. The sandbox has no groups. @throws Refusal */
export function usersToChange(
  { user, state }: UserCall,
  target: ReturnType<typeof targetUsers> | undefined,
  settings: readonly string[],
): readonly User[] {
  if (!target) return [user];
  requireAdministrator(user);
  if (settings.some((name) => own.has(name))) throw new Refusal('Cannot change this setting for other users.');
  return target.user_ids.map((id) => {
    const found = state.users.get(id);
    if (!found) throw new Refusal('No such user');
    return found;
  });
}
