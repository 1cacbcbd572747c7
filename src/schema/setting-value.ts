import { usage } from '../core/failure.ts';
import { readField, type Field } from './field.ts';
import { suggestion } from './nearest.ts';

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
