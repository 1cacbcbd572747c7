import { invalid, type Reader } from './parameters.ts';

/** A name of the time zone database. */
export function timeZone(read: Reader<string>): Reader<string> {
  return (name, text) => {
    const zone = read(name, text);
    if (!isZone(zone)) throw invalid(name, 'Not a recognized time zone');
    return zone;
  };
}

/** The name under which the server keeps it: old names are kept under today's. */
export function canonicalZone(zone: string): string {
  return aliases[zone] ?? zone;
}

const aliases: Readonly<Record<string, string>> = {
  'America/Montreal': 'America/Toronto',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Europe/Kiev': 'Europe/Kyiv',
  'US/Central': 'America/Chicago',
  'US/Eastern': 'America/New_York',
  'US/Pacific': 'America/Los_Angeles',
};

/** Names that the platform's own list leaves out. */
const others: ReadonlySet<string> = new Set(['UTC', 'GMT', 'Etc/UTC', 'Etc/GMT', ...Object.values(aliases)]);

function isZone(zone: string): boolean {
  return Intl.supportedValuesOf('timeZone').includes(zone) || Object.hasOwn(aliases, zone) || others.has(zone);
}
