import { parseDuration } from '../core/duration.ts';
import { labelled, unless, usage } from '../core/failure.ts';
import { type Field, type Fields, readField } from './field.ts';
import { suggestion } from './nearest.ts';
import { settings } from './settings.ts';

/** Settings whose name, values or help contain every one of the words, in the order of the table. */
export function settingsMatching(words: readonly string[]) {
  const wanted = words.map((word) => searchable(word).trim());
  return Object.entries<Field>(settings).flatMap(([name, field]) => {
    const choices = field.kind === 'string' ? (field.choices ?? []) : [];
    const names = field.kind === 'integer' ? Object.keys(field.names ?? {}) : choices;
    const text = searchable([name, ...names, field.help].join(' '));
    return wanted.every((word) => text.includes(word)) ? [{ name, field }] : [];
  });
}

/** The setting of that name; dashes count as underscores. @throws Failure usage naming the nearest */
export function settingNamed(typed: string) {
  const name = typed.replaceAll('-', '_');
  const field = settingField(name);
  if (field) return { name, field };
  throw usage(`unknown setting '${typed}'`, suggestion(name, Object.keys(settings)) ?? seeList);
}

/** The field of a setting that this version does not know: it is a text. */
export const unknownField: Field = { kind: 'string', help: '' };

export function settingField(name: string): Field | undefined {
  const fields: Fields = settings;
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

const seeList = 'The names: chatelaine settings list';

/** A text to search in: without differences of case, of blanks, dashes or underscores, and of the dash of e-mail. */
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

/** Languages of the web app; a text that names none of them is sent as typed. */
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
    const near = suggestion(text.replaceAll(' ', '_'), Intl.supportedValuesOf('timeZone'));
    const raw = 'A name that is newer than this program is sent with --raw timezone=NAME.';
    const hint = near ?? `Write a name such as Europe/Berlin. ${raw}`;
    throw usage(`timezone: '${text}' is not in the time zone database`, hint);
  }
  return zone.toLowerCase() === text.toLowerCase() ? zone : text;
}

/** The zones of three letters in the database; the platform also takes PST and others, which servers refuse. */
const shortZones: ReadonlySet<string> = new Set('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '));

/** The current name of the zone; undefined where the platform does not know it. */
export function knownZone(text: string): string | undefined {
  if (/^[+-]/.test(text) || (/^[a-z]{3}$/i.test(text) && !shortZones.has(text.toUpperCase()))) return undefined;
  return unless(RangeError, () => new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone);
}
