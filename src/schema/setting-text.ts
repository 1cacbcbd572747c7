import { usage } from '../core/failure.ts';
import { type Field, type Fields, readField } from './field.ts';
import { suggestion } from './nearest.ts';
import { otherWords, removedSettings, settings } from './settings.ts';

/** A setting by its wire name. */
interface NamedSetting {
  readonly name: string;
  readonly field: Field;
}

/** Settings whose name, values, help or other words contain every one of the words, in the order of the table. */
export function settingsMatching(words: readonly string[]): NamedSetting[] {
  const wanted = words.map(searchable);
  return Object.entries<Field>(settings).flatMap(([name, field]) => {
    const text = searchable(textOf(name, field));
    return wanted.every((word) => text.includes(word)) ? [{ name, field }] : [];
  });
}

/**
 * The setting of that name; dashes are accepted for underscores.
 * @throws Failure usage naming what replaced a removed one, else the nearest by spelling or meaning
 */
export function settingNamed(typed: string): NamedSetting {
  const name = typed.replaceAll('-', '_');
  const removed = Object.hasOwn(removedSettings, name) ? removedSettings[name] : undefined;
  if (removed !== undefined) throw usage(removed);
  const known: Fields = settings;
  const field = Object.hasOwn(known, name) ? known[name] : undefined;
  if (field) return { name, field };
  throw usage(`unknown name '${typed}'`, hintFor(name));
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
  if (means.length === 0) return 'See chatelaine settings list for the names.';
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

/** Case, and blanks, dashes or underscores between words, make no difference. */
function searchable(text: string): string {
  return text.toLowerCase().replaceAll(/[-_\s]+/g, ' ');
}

/**
 * Reads the text of one setting: `readField`, and what a server would refuse anyway. `True` is `true`, as `Dark` is `dark`.
 * @throws Failure usage with the rule that was broken
 */
export function readSetting(name: string, field: Field, text: string): unknown {
  if (field.kind === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  const value = readField(name, field, text);
  if (name === 'timezone') return readTimeZone(text);
  if (name === 'email') refuseNoAddress(text);
  return value;
}

/** The name of an enumeration's value: `dark` for 2 of color_scheme; undefined where the value has none. */
export function valueName(field: Field, value: unknown): string | undefined {
  if (field.kind !== 'integer') return undefined;
  return Object.entries(field.names ?? {}).find(([, number]) => number === value)?.[0];
}

function refuseNoAddress(text: string): void {
  const isAddress = text.indexOf('@') > 0 && !text.endsWith('@');
  if (!isAddress) throw usage(`email: '${text}' is not an address: expected NAME@HOST`);
}

/** The zone in the spelling of the database where only the case differs: servers compare exactly. */
function readTimeZone(text: string): string {
  const zone = knownZone(text);
  if (zone === undefined) {
    const near = nearestZone(text);
    const raw = 'A name that is newer than this program is sent with --raw timezone=NAME.';
    throw usage(
      `timezone: '${text}' is not in the time zone database`,
      near ?? `Write a name such as Europe/Berlin. ${raw}`,
    );
  }
  return zone.toLowerCase() === text.toLowerCase() ? zone : text;
}

/** The zones of three letters in the database; the platform also takes PST and others, which servers refuse. */
const shortZones: ReadonlySet<string> = new Set('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '));

/** Today's name of the zone; undefined where the platform does not know it. */
function knownZone(text: string): string | undefined {
  if (/^[+-]/.test(text) || (/^[a-z]{3}$/i.test(text) && !shortZones.has(text.toUpperCase()))) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** `Did you mean …?` for a city without its region, or a slip. */
function nearestZone(text: string): string | undefined {
  const zones = Intl.supportedValuesOf('timeZone');
  const city = text.trim().replaceAll(' ', '_').toLowerCase();
  const found = zones.find((zone) => zone.toLowerCase().endsWith(`/${city}`));
  return found === undefined ? suggestion(text, zones) : `Did you mean ${found}?`;
}
