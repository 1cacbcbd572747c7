import { parseDuration } from '../core/duration.ts';
import { labelled, unless, usage } from '../core/failure.ts';
import { type Field, type Fields, readField } from './field.ts';
import { nearest, suggestion } from './nearest.ts';
import { otherWords, removedSettings, settings } from './settings.ts';

interface SettingField {
  readonly name: string;
  readonly field: Field;
}

/** Settings whose name, values, help or other words contain every one of the words, in the order of the table. */
export function settingsMatching(words: readonly string[]): SettingField[] {
  return settingsMissing(wantedIn(words), 0);
}

/** Where none has all of the words: those with all words but one, else those whose name is nearest by spelling. */
export function settingsNear(words: readonly string[]): SettingField[] {
  const wanted = wantedIn(words);
  const found = wanted.length > 1 ? settingsMissing(wanted, 1) : [];
  if (found.length > 0) return found;
  const names = nearest(wanted.join('_'), Object.keys(settings));
  return names.map((name) => settingNamed(name));
}

const stopWords: ReadonlySet<string> = new Set(
  'a an be by can do every for i in is it less make me more my no not of off on please set should the to turn want when with'.split(
    ' ',
  ),
);

function wantedIn(words: readonly string[]): readonly string[] {
  const all = words.flatMap((word) => searchable(word).trim().split(' '));
  const telling = all.filter((word) => !stopWords.has(word));
  return telling.length > 0 ? telling : all;
}

function settingsMissing(wanted: readonly string[], most: number): SettingField[] {
  return Object.entries<Field>(settings).flatMap(([name, field]) => {
    const text = ` ${searchable(textOf(name, field))}`;
    // A part of a word is enough only where all words are found.
    const has = (word: string): boolean => text.includes(most === 0 ? word : ` ${word}`);
    const lacking = wanted.filter((word) => !has(word) && !text.includes(` ${stemOf(word)}`));
    return lacking.length <= most ? [{ name, field }] : [];
  });
}

/** `dark` of darker: a word of five letters or more without its ending, if that still says something. */
function stemOf(word: string): string {
  return /^(.{4,}?)(?:er|est|ing|ed|s)$/.exec(word)?.[1] ?? word;
}

/** The setting of that name; dashes count as underscores. @throws Failure usage naming the successor or the nearest */
export function settingNamed(typed: string): SettingField {
  const name = typed.replaceAll('-', '_');
  const removed = Object.hasOwn(removedSettings, name) ? removedSettings[name] : undefined;
  if (removed !== undefined) throw usage(removed);
  const field = settingField(name);
  if (field) return { name, field };
  throw usage(`unknown setting '${typed}'`, hintFor(name));
}

/** A setting that this version does not know is a text. */
export const unknownField: Field = { kind: 'string', help: '' };

/** The field of a setting by its name on the wire. */
export function settingField(name: string): Field | undefined {
  const known: Fields = settings;
  return Object.hasOwn(known, name) ? known[name] : undefined;
}

/** How many settings a hint names; of more, it names the command that lists them. */
const mostNamed = 3;

/** The settings whose name contains the word, else the nearest by spelling, else those that mean it. */
function hintFor(name: string): string {
  const words = name.split('_').filter((word) => word.length > 1);
  const means = words.length === 0 ? [] : settingsMatching(words).map((setting) => setting.name);
  const contains = means.filter((known) => known.includes(name));
  const slip = contains.length === 0 ? suggestion(name, Object.keys(settings)) : undefined;
  if (slip !== undefined) return slip;
  if (means.length === 0) return 'chatelaine settings list shows the names.';
  const found = contains.length > 0 ? contains : means;
  if (found.length > mostNamed) return `See chatelaine settings list ${words.join(' ')}.`;
  return `Did you mean ${found.join(' or ')}?`;
}

function textOf(name: string, field: Field): string {
  const choices = field.kind === 'string' ? (field.choices ?? []) : [];
  const names = field.kind === 'integer' ? Object.keys(field.names ?? {}) : choices;
  const others: Readonly<Record<string, string>> = otherWords;
  return [name, ...names, field.help, Object.hasOwn(others, name) ? others[name] : ''].join(' ');
}

/** Case, and blanks, dashes or underscores between words, make no difference; nor does the dash of e-mail. */
function searchable(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[-_\s]+/g, ' ')
    .replaceAll(/\be mail/g, 'email');
}

/** As `readField`, but `on` and `yes` are `true`, seconds may be `5m`, a language its name. @throws Failure usage */
export function readSetting(name: string, field: Field, text: string): unknown {
  if (field.kind === 'boolean' && /^(?:true|false|on|off|yes|no)$/i.test(text)) return /^(?:true|on|yes)$/i.test(text);
  if (name.endsWith('_seconds') && /^\d+[a-z]+$/i.test(text)) return readField(name, field, secondsOf(name, text));
  if (name === 'default_language') return readField(name, field, languageOf(text));
  const value = readField(name, field, text);
  if (name === 'timezone') return readTimeZone(text);
  if (name === 'email' && (text.indexOf('@') <= 0 || text.endsWith('@')))
    throw usage(`email: '${text}' is not an address: expected NAME@HOST`);
  return value;
}

/** The name of an enumeration's value: `dark` for 2 of color_scheme; undefined where the value has none. */
export function valueName(field: Field, value: unknown): string | undefined {
  if (field.kind !== 'integer') return undefined;
  return Object.entries(field.names ?? {}).find(([, number]) => number === value)?.[0];
}

function secondsOf(name: string, text: string): string {
  const seconds = labelled(name, () => parseDuration(text)) / 1000;
  if (!Number.isInteger(seconds)) throw usage(`${name}: '${text}' is not a whole number of seconds`);
  return String(seconds);
}

/** Languages of the web app; what is none of their names is sent as typed. */
const languages =
  'ar be bg bn ca cs cy da de en en-gb es fa fi fr gl gu hi hu id it ja ko lt lv ml mn nl pl pt pt-br pt-pt ro ru si sk sr sv ta tr uk uz vi zh-hans zh-hant zh-tw';

function languageOf(text: string): string {
  const wanted = text.toLowerCase();
  const isNamed = (code: string): boolean =>
    ['en', code].some(
      (locale) => new Intl.DisplayNames(locale, { type: 'language' }).of(code)?.toLowerCase() === wanted,
    );
  return languages.split(' ').find((code) => code === wanted || isNamed(code)) ?? text;
}

/** The zone in the spelling of the database where only the case differs: servers compare exactly. */
function readTimeZone(text: string): string {
  const zone = knownZone(text);
  if (zone === undefined) {
    const zones = Intl.supportedValuesOf('timeZone');
    const city = text.trim().replaceAll(' ', '_').toLowerCase();
    const found = zones.find((zone) => zone.toLowerCase().endsWith(`/${city}`));
    const near = found === undefined ? suggestion(text, zones) : `Did you mean ${found}?`;
    const raw = 'A name that is newer than this program is sent with --raw timezone=NAME.';
    const hint = near ?? `Write a name such as Europe/Berlin. ${raw}`;
    throw usage(`timezone: '${text}' is not in the time zone database`, hint);
  }
  return zone.toLowerCase() === text.toLowerCase() ? zone : text;
}

/** The zones of three letters in the database; the platform also takes PST and others, which servers refuse. */
const shortZones: ReadonlySet<string> = new Set('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '));

/** Today's name of the zone; undefined where the platform does not know it. */
export function knownZone(text: string): string | undefined {
  if (/^[+-]/.test(text) || (/^[a-z]{3}$/i.test(text) && !shortZones.has(text.toUpperCase()))) return undefined;
  return unless(RangeError, () => new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone);
}
