import { labelled, usage } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { readLedgerUrl } from '../ledger/ledger-url.ts';
import { type Content } from './configuration.ts';
import { originOf, readBaseUrl, readSite } from './url.ts';

interface Common {
  readonly name: string;
  /** Refuse every write before the network. */
  readonly read_only?: boolean;
  /** Run at each use; its first line is the key. */
  readonly key_command?: string;
}

/** A licensing app. */
export interface LicensingProfile extends Common {
  readonly kind: 'licensing';
  readonly base_url: string;
  readonly app_code: number;
  /** The field of an answer that holds the license key (docs/apis.md, Finding the key). */
  readonly key_field?: string;
  /** The URL of the ledger that keeps the claims of several machines. */
  readonly ledger?: string;
  /** Send MAC addresses as they were typed. */
  readonly mac_format?: 'as_is';
}

/** A chat account. */
export interface ChatProfile extends Common {
  readonly kind: 'chat';
  readonly site: string;
  readonly email: string;
}

export type Profile = LicensingProfile | ChatProfile;
export type Kind = Profile['kind'];

/** What a kind of profile is called. */
export const kinds = { licensing: 'licensing app', chat: 'chat account' } as const satisfies Record<Kind, string>;

/**
 * A name as a user may give it.
 * @throws Failure usage
 */
export function readProfileName(text: string): string {
  if (text === 'environment')
    throw usage(`a profile cannot be named 'environment': the name means the variables of the environment`);
  if (/^[A-Za-z0-9._][A-Za-z0-9._-]{0,63}$/.test(text)) return text;
  throw usage('a profile name is 1 to 64 letters, digits, dots, dashes or underscores, and does not begin with a dash');
}

/**
 * A profile as the file holds it, with its URL normalised; undefined for a kind that this version does not know.
 * @throws Failure usage or config naming the field that is wrong
 */
export function parseProfile(name: string, stored: unknown): Profile | undefined {
  if (!isObject(stored)) throw usage('is not an object');
  const { kind } = stored;
  if (kind === 'licensing') return licensingFrom(name, stored);
  if (kind === 'chat') return chatFrom(name, stored);
  if (typeof kind === 'string') return undefined;
  throw usage('kind is missing');
}

/** The origin that the profile's key is sent to. */
export function originOfProfile(profile: Profile): string {
  return originOf(profile.kind === 'licensing' ? profile.base_url : profile.site);
}

/**
 * An e-mail address that can be the user of basic authentication (RFC 7617: no colon).
 * @throws Failure usage
 */
export function readEmail(text: string): string {
  if (text !== '' && !/[\s:\p{Cc}]/u.test(text)) return text;
  throw usage('the e-mail address is empty, or holds a space or a colon');
}

function licensingFrom(name: string, stored: Content): LicensingProfile {
  const { app_code, key_field, mac_format } = stored;
  if (typeof app_code !== 'number' || !Number.isSafeInteger(app_code)) throw usage('app_code is not an integer');
  if (mac_format !== undefined && mac_format !== 'as_is') throw usage(`mac_format can only be "as_is"`);
  return {
    kind: 'licensing',
    name,
    base_url: readBaseUrl(textOf(stored, 'base_url')),
    app_code,
    ...(key_field === undefined ? {} : { key_field: textOf(stored, 'key_field') }),
    ...(stored['ledger'] === undefined ? {} : { ledger: readLedgerUrl(textOf(stored, 'ledger')) }),
    ...(mac_format === undefined ? {} : { mac_format }),
    ...commonFrom(stored),
  };
}

function chatFrom(name: string, stored: Content): ChatProfile {
  return {
    kind: 'chat',
    name,
    site: readSite(textOf(stored, 'site')),
    email: readEmail(textOf(stored, 'email')),
    ...commonFrom(stored),
  };
}

/** A wrong `read_only` is refused rather than taken for false, which would allow writes. */
function commonFrom(stored: Content): Omit<Common, 'name'> {
  const { read_only } = stored;
  if (read_only !== undefined && typeof read_only !== 'boolean') throw usage('read_only is neither true nor false');
  return {
    ...(read_only === undefined ? {} : { read_only }),
    ...(stored['key_command'] === undefined ? {} : { key_command: textOf(stored, 'key_command') }),
  };
}

function textOf(stored: Content, field: string): string {
  const value = stored[field];
  if (typeof value === 'string' && value !== '') return value;
  throw usage(`${field} is missing`);
}

/** What choosing a credential needs of the profiles. */
export interface ProfileSource {
  all(): Promise<readonly Profile[]>;
  defaults(): Promise<Readonly<Partial<Record<Kind, string>>>>;
  find(name: string): Promise<Profile | undefined>;
}

/** Gives a failure of stored data its place, as a failure of the configuration. */
export function inFile<T>(place: string, read: () => T): T {
  return labelled(place, read, 'config');
}
