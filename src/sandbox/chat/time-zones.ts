import { invalid, type Reader } from './parameters.ts';
import { otherZones } from './zone-names.ts';

/** A name of the time zone database, spelled as there. */
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

/** The server looks at the files of the system, which has all zones a second time under `posix` and `right`. */
function isZone(zone: string): boolean {
  const name = zone.replace(/^(posix|right)\//, '');
  return Intl.supportedValuesOf('timeZone').includes(name) || otherZones.includes(name);
}
