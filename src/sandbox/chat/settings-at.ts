import type { Field } from '../../schema/field.ts';
import { identitySettings, settings } from '../../schema/settings.ts';
import { among, boolean, integer, jsonString, plain, type Reader } from './parameters.ts';
import { targetUsers, type TargetUsers } from './target-users.ts';
import { timeZone } from './time-zones.ts';
import { levels } from './levels.ts';

export type SettingValue = boolean | number | string;
type SettingReader = Reader<SettingValue | TargetUsers>;

type Group = 'all' | 'identity' | 'display' | 'notifications';

/** What PATCH /settings (or its alias, below level 80) takes at that level, in the order of the specification. */
export function settingsAt(level: number, group: Group): Readonly<Record<string, SettingReader>> {
  const known = Object.entries<Field>(settings)
    .filter(([name, field]) => (field.level ?? 0) <= level || renamed[name] !== undefined)
    .flatMap(([name, field]): [string, SettingReader][] => {
      const wire = nameAt(level, name, field);
      return wire === undefined ? [] : [[wire, readerAt(level, name, field)]];
    });
  const all = [...known, ...removedAt(level), ...addedAt(level)];
  return Object.fromEntries(all.filter(([name]) => group === 'all' || groupOf(name) === group));
}

/** Names that settings had before the level of their present name (docs/apis.md, Settings). */
const renamed: Readonly<Record<string, string>> = {
  web_home_view: 'default_view',
  web_escape_navigates_to_home_view: 'escape_navigates_to_default_view',
};

function nameAt(level: number, name: string, field: Field): string | undefined {
  return (field.level ?? 0) <= level ? name : renamed[name];
}

/** Settings that later levels do not have (docs/apis.md, Settings). */
function removedAt(level: number): [string, SettingReader][] {
  const removed: [string, SettingReader][] = [];
  if (level < levels.noDenseMode) removed.push(['dense_mode', boolean]);
  if (level < levels.noRealmNameInNotifications) removed.push(['realm_name_in_notifications', boolean]);
  return removed;
}

/** Parameters of later levels that the specification does not have (docs/apis.md, Settings). */
function addedAt(level: number): [string, SettingReader][] {
  const added: [string, SettingReader][] = [];
  if (level >= levels.channelFolders) added.push(['web_inbox_show_channel_folders', boolean]);
  if (level >= levels.targetUsers) added.push(['target_users', targetUsers]);
  return added;
}

function readerAt(level: number, name: string, field: Field): Reader<SettingValue> {
  const string = quotedBelow[name] !== undefined && level < quotedBelow[name] ? jsonString : plain;
  if (name === 'timezone') return timeZone(string);
  if (name === 'web_home_view') return among(string, homeViews(level));
  if (name === 'web_channel_default_view') return among(integer, channelViews(level));
  if (name === 'desktop_icon_count_display' && level < levels.desktopIconCount) return among(integer, [1, 2, 3]);
  if (field.kind === 'boolean') return boolean;
  if (field.kind === 'integer') return field.names ? among(integer, Object.values(field.names)) : integer;
  return field.kind === 'string' && field.choices ? among(string, field.choices) : string;
}

/** Strings that had to be JSON below these levels (docs/apis.md, Settings). */
const quotedBelow: Readonly<Record<string, number>> = {
  default_language: levels.plainLanguageAndSound,
  notification_sound: levels.plainLanguageAndSound,
  timezone: levels.plainStrings,
  emojiset: levels.plainStrings,
  web_home_view: levels.plainStrings,
};

function homeViews(level: number): string[] {
  return [level >= levels.recentView ? 'recent' : 'recent_topics', 'inbox', 'all_messages'];
}

function channelViews(level: number): number[] {
  return [1, 2, ...(level >= levels.listOfTopics ? [3] : []), ...(level >= levels.topUnreadTopic ? [4] : [])];
}

function groupOf(name: string): Group {
  if (identitySettings.has(name)) return 'identity';
  return notifications.test(name) ? 'notifications' : 'display';
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
