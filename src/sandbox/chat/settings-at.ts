import type { Field } from '../../schema/field.ts';
import { identitySettings, settings } from '../../schema/settings.ts';
import { isObject } from '../../core/json.ts';
import type { User } from '../records.ts';
import { among, boolean, integer, jsonString, plain, type Reader, invalid, jsonValue } from './parameters.ts';
import { levels } from './levels.ts';
import { requireAdministrator, type UserCall } from './chat-call.ts';
import { Refusal } from './refusal.ts';

export type SettingValue = boolean | number | string;
type SettingReader = Reader<SettingValue | ReturnType<typeof targetUsers>>;

type Group = 'all' | 'identity' | 'display' | 'notifications';

/** What PATCH /settings (or its alias, below level 80) takes at that level, in the order of the specification. */
export function settingsAt(level: number, group: Group): Readonly<Record<string, SettingReader>> {
  const known = Object.entries<Field>(settings).flatMap(([name, field]): [string, SettingReader][] => {
    const wire = (field.level ?? 0) <= level ? name : renamed[name];
    return wire === undefined ? [] : [[wire, readerAt(level, name, field)]];
  });
  const besides = others.filter(({ since = 0, until = Infinity }) => level >= since && level < until);
  const all = [...known, ...besides.map(({ name, read }): [string, SettingReader] => [name, read])];
  return Object.fromEntries(all.filter(([name]) => group === 'all' || groupOf(name) === group));
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

/** A name of the time zone database, spelled as there. */
function timeZone(read: Reader<string>): Reader<string> {
  return (name, text) => {
    const zone = read(name, text);
    if (!isZone(zone)) throw invalid(name, 'Not a recognized time zone');
    return zone;
  };
}

/** Old names are kept under today's. */
export const canonicalZones: Readonly<Record<string, string>> = {
  'America/Montreal': 'America/Toronto',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Europe/Kiev': 'Europe/Kyiv',
  'US/Central': 'America/Chicago',
  'US/Eastern': 'America/New_York',
  'US/Pacific': 'America/Los_Angeles',
};

/** The server looks at the files of the system, which has all zones a second time under `posix` and `right`. */
function isZone(zone: string): boolean {
  const name = zone.replace(/^(posix|right)\//, '');
  return Intl.supportedValuesOf('timeZone').includes(name) || otherZones.includes(name);
}

/**
 * Names of the time zone database that `Intl.supportedValuesOf` leaves out in some versions of Node: old names, abbreviations,
 * and names that ICU and the database spell differently.
 */
const otherZones: readonly string[] = [
  'Africa/Asmara Africa/Asmera Africa/Timbuktu America/Argentina/Buenos_Aires America/Argentina/Catamarca',
  'America/Argentina/ComodRivadavia America/Argentina/Cordoba America/Argentina/Jujuy America/Argentina/Mendoza',
  'America/Atikokan America/Atka America/Buenos_Aires America/Catamarca America/Coral_Harbour America/Cordoba',
  'America/Ensenada America/Fort_Wayne America/Godthab America/Indiana/Indianapolis America/Indianapolis',
  'America/Jujuy America/Kentucky/Louisville America/Knox_IN America/Kralendijk America/Louisville',
  'America/Lower_Princes America/Marigot America/Mendoza America/Montreal America/Nipigon America/Nuuk',
  'America/Pangnirtung America/Porto_Acre America/Rainy_River America/Rosario America/Santa_Isabel',
  'America/Shiprock America/St_Barthelemy America/Thunder_Bay America/Virgin America/Yellowknife',
  'Antarctica/South_Pole Arctic/Longyearbyen Asia/Ashkhabad Asia/Calcutta Asia/Choibalsan Asia/Chongqing',
  'Asia/Chungking Asia/Dacca Asia/Harbin Asia/Ho_Chi_Minh Asia/Istanbul Asia/Kashgar Asia/Kathmandu',
  'Asia/Katmandu Asia/Kolkata Asia/Macao Asia/Rangoon Asia/Saigon Asia/Tel_Aviv Asia/Thimbu Asia/Ujung_Pandang',
  'Asia/Ulan_Bator Asia/Yangon Atlantic/Faeroe Atlantic/Faroe Atlantic/Jan_Mayen Australia/ACT',
  'Australia/Canberra Australia/Currie Australia/LHI Australia/NSW Australia/North Australia/Queensland',
  'Australia/South Australia/Tasmania Australia/Victoria Australia/West Australia/Yancowinna Brazil/Acre',
  'Brazil/DeNoronha Brazil/East Brazil/West CET CST6CDT Canada/Atlantic Canada/Central Canada/Eastern',
  'Canada/Mountain Canada/Newfoundland Canada/Pacific Canada/Saskatchewan Canada/Yukon Chile/Continental',
  'Chile/EasterIsland Cuba EET EST EST5EDT Egypt Eire Etc/GMT Etc/GMT+0 Etc/GMT+1 Etc/GMT+10 Etc/GMT+11',
  'Etc/GMT+12 Etc/GMT+2 Etc/GMT+3 Etc/GMT+4 Etc/GMT+5 Etc/GMT+6 Etc/GMT+7 Etc/GMT+8 Etc/GMT+9 Etc/GMT-0',
  'Etc/GMT-1 Etc/GMT-10 Etc/GMT-11 Etc/GMT-12 Etc/GMT-13 Etc/GMT-14 Etc/GMT-2 Etc/GMT-3 Etc/GMT-4 Etc/GMT-5',
  'Etc/GMT-6 Etc/GMT-7 Etc/GMT-8 Etc/GMT-9 Etc/GMT0 Etc/Greenwich Etc/UCT Etc/UTC Etc/Universal Etc/Zulu',
  'Europe/Belfast Europe/Bratislava Europe/Busingen Europe/Kiev Europe/Kyiv Europe/Mariehamn Europe/Nicosia',
  'Europe/Podgorica Europe/San_Marino Europe/Tiraspol Europe/Uzhgorod Europe/Vatican Europe/Zaporozhye Factory',
  'GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET',
  'MST MST7MDT Mexico/BajaNorte Mexico/BajaSur Mexico/General NZ NZ-CHAT Navajo PRC PST8PDT Pacific/Chuuk',
  'Pacific/Enderbury Pacific/Johnston Pacific/Kanton Pacific/Pohnpei Pacific/Ponape Pacific/Samoa Pacific/Truk',
  'Pacific/Yap Poland Portugal ROC ROK Singapore Turkey UCT US/Alaska US/Aleutian US/Arizona US/Central',
  'US/East-Indiana US/Eastern US/Hawaii US/Indiana-Starke US/Michigan US/Mountain US/Pacific US/Samoa UTC',
  'Universal W-SU WET Zulu',
].flatMap((line) => line.split(' '));

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

/** Settings that the specification does not have: those of early levels, and parameters of later ones (docs/apis.md, Settings). */
const others: readonly { name: string; read: SettingReader; since?: number; until?: number }[] = [
  { name: 'dense_mode', read: boolean, until: levels.noDenseMode },
  { name: 'realm_name_in_notifications', read: boolean, until: levels.noRealmNameInNotifications },
  { name: 'web_inbox_show_channel_folders', read: boolean, since: levels.channelFolders },
  { name: 'target_users', read: targetUsers, since: levels.targetUsers },
];

/** Settings that an administrator cannot change for others; the name is dropped without a word (docs/apis.md, Settings). */
const own = new Set([
  ...['email', 'new_password', 'timezone', 'allow_private_data_export', 'email_address_visibility'],
  ...['enable_digest_emails', 'enable_login_emails', 'enable_marketing_emails', 'presence_enabled'],
  ...['send_private_typing_notifications', 'send_stream_typing_notifications', 'send_read_receipts'],
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
