import { namesIn } from '../../core/table-names.ts';
import type { LicenseRecord } from '../records.ts';

interface NameChange {
  readonly means: string;
  /** The name as the server keeps it. */
  readonly stored: (name: string) => string;
  /** What answers show in place of the license's own fields. */
  readonly shown?: (license: LicenseRecord) => Readonly<Record<string, unknown>>;
}

/** Characters that remain of a name that is cut. */
const cutAt = 30;

/** Every change of names that can be asked for; `sandbox serve --help` and the manual show them. */
export const nameChanges = {
  lower: { means: 'names are kept in lower case', stored: (name) => name.toLowerCase() },
  upper: { means: 'names are kept in upper case', stored: (name) => name.toUpperCase() },
  domain: {
    means: 'what follows an @ is kept in lower case',
    stored: (name) => name.replace(/@.*/, (domain) => domain.toLowerCase()),
  },
  blanks: { means: 'blanks are removed', stored: (name) => name.replaceAll(' ', '') },
  plus: { means: '+ becomes a blank', stored: (name) => name.replaceAll('+', ' ') },
  tags: { means: 'what looks like a tag is removed', stored: (name) => name.replace(/<[^>]*>/g, '') },
  dot: { means: 'a final dot is removed', stored: (name) => name.replace(/\.$/, '') },
  decimal: {
    means: 'zeros at the end of a decimal are removed: 1.50 is 1.5',
    stored: (name) => (/^\d+\.\d+$/.test(name) ? String(Number(name)) : name),
  },
  'cut-20': { means: 'names are cut to 20 characters', stored: (name) => name.slice(0, 20) },
  'cut-64': { means: 'names are cut to 64 characters', stored: (name) => name.slice(0, 64) },
  trim: { means: 'blanks at both ends of a name are removed', stored: (name) => name.trim() },
  collapse: {
    means: 'each run of blanks in a name becomes one blank',
    stored: (name) => name.replace(/\s{2,}/g, ' '),
  },
  cut: { means: `names are cut to ${cutAt} characters`, stored: (name) => name.slice(0, cutAt) },
  number: {
    means: 'a name of digits becomes a number: 007 is 7',
    stored: (name) => (isNumber(name) ? String(Number(name)) : name),
    shown: ({ remote_user }) => (isNumber(remote_user) ? { remote_user: Number(remote_user) } : {}),
  },
  'text-codes': {
    means: 'names are kept, and app_code is answered as text',
    stored: (name) => name,
    shown: ({ app_code }) => ({ app_code: String(app_code) }),
  },
} as const satisfies Readonly<Record<string, NameChange>>;

export type NameChangeName = keyof typeof nameChanges;

export const nameChangeNames = namesIn(nameChanges);

/** The name under which a server with that change keeps it. */
export function storedName(name: string, change: NameChangeName | undefined): string {
  return change === undefined ? name : nameChanges[change].stored(name);
}

/** The fields that answers of a server with that change show in another form. */
export function shownNames(
  license: LicenseRecord,
  change: NameChangeName | undefined,
): Readonly<Record<string, unknown>> {
  const row: NameChange | undefined = change && nameChanges[change];
  return row?.shown?.(license) ?? {};
}

function isNumber(name: string): boolean {
  return /^[0-9]{1,15}$/.test(name);
}
