import { Failure, usage } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { readField, valuesOf, type Field, type Fields, type Values } from '../../schema/field.ts';
import {
  keyCommand,
  profileFields,
  urlOf,
  type Kind,
  type Profile,
  kinds,
  type ChatProfile,
  type LicensingProfile,
} from '../../schema/profile.ts';
import { originOf } from '../../schema/url.ts';
import type { Content } from './configuration.ts';

/** A profile in the file, its URL normalised; undefined for an unknown kind. @throws Failure usage or config */
export function parseProfile(name: string, stored: unknown): Profile | undefined {
  if (!isObject(stored)) throw usage('is not an object');
  const { kind } = stored;
  const key = valuesIn(stored, { key_command: keyCommand });
  if (kind === 'licensing') return { kind, name, ...valuesIn(stored, profileFields.licensing), ...key };
  if (kind === 'chat') return { kind, name, ...valuesIn(stored, profileFields.chat), ...key };
  if (typeof kind === 'string') return undefined;
  throw usage('kind is missing');
}

export function originOfProfile(profile: Profile): string {
  return originOf(urlOf(profile));
}

function valuesIn<const T extends Fields>(stored: Content, fields: T): Values<T> {
  return valuesOf(fields, (name, field) => {
    const value = stored[name];
    return value === undefined && !field.required ? undefined : storedValue(name, field, value);
  });
}

/** A value of another type is refused rather than taken for none: a wrong `read_only` would allow writes. */
function storedValue(name: string, field: Field, value: unknown): unknown {
  if (field.kind === 'boolean') {
    if (typeof value === 'boolean') return value;
    throw usage(`${name} is neither true nor false`);
  }
  if (field.kind === 'integer') {
    if (typeof value === 'number') return readField(name, field, String(value));
    throw usage(`${name} is not an integer`);
  }
  if (typeof value === 'string' && value !== '') return readField(name, field, value);
  throw usage(`${name} is missing`);
}

export interface ProfileSource {
  all(): Promise<readonly Profile[]>;
  defaults(): Promise<Readonly<Partial<Record<Kind, string>>>>;
  find(name: string): Promise<Profile | undefined>;
}

type ProfileOf<K extends Kind> = K extends 'licensing' ? LicensingProfile : ChatProfile;

/** The profile of that name and kind. @throws Failure config when there is none, or it is of the other kind */
export async function profileNamed<K extends Kind>(
  profiles: ProfileSource,
  name: string,
  kind: K,
): Promise<ProfileOf<K>> {
  const profile = await profiles.find(name);
  if (isOfKind(profile, kind)) return profile;
  if (profile) {
    throw new Failure('config', `profile '${name}' is a ${kinds[profile.kind]}; this command needs a ${kinds[kind]}`, {
      hint: `Name another profile; chatelaine auth list shows them.`,
    });
  }
  throw new Failure('config', `there is no profile '${name}'`, { hint: 'chatelaine auth list shows what is stored.' });
}

function isOfKind<K extends Kind>(profile: Profile | undefined, kind: K): profile is ProfileOf<K> {
  return profile?.kind === kind;
}

/** The stored app of that code. @throws Failure config when there is none, usage when there are several */
export async function appOf(profiles: ProfileSource, code: number): Promise<LicensingProfile> {
  const apps = (await profiles.all()).filter((profile) => profile.kind === 'licensing');
  const [app, ...others] = apps.filter((profile) => profile.app_code === code);
  if (!app) {
    const codes = [...new Set(apps.map((profile) => profile.app_code))].join(', ');
    throw new Failure('config', `no stored app has the code ${code}${codes === '' ? '' : ` (stored are ${codes})`}`, {
      hint: `Sign in to it: chatelaine auth login licensing --base-url URL --app-code ${code}`,
    });
  }
  if (others.length === 0) return app;
  const names = [app, ...others].map((profile) => profile.name).join(', ');
  throw usage(`several stored apps have the code ${code}: ${names}`, 'Choose one with --profile NAME.');
}

const signIn = {
  licensing: 'chatelaine auth login licensing --base-url URL --app-code C',
  chat: 'chatelaine auth login chat --site URL --email E',
} as const satisfies Record<Kind, string>;

/** The default profile of a kind. @throws Failure config when none is stored, or none is the default */
export async function defaultOf<K extends Kind>(profiles: ProfileSource, kind: K): Promise<ProfileOf<K>> {
  const name = (await profiles.defaults())[kind];
  if (name !== undefined) return profileNamed(profiles, name, kind);
  const stored = (await profiles.all()).filter((profile) => profile.kind === kind).map((profile) => profile.name);
  if (stored.length > 0) {
    throw new Failure('config', `no ${kinds[kind]} is the default`, {
      hint: `Choose one with --profile NAME or chatelaine auth use NAME: ${stored.join(', ')}`,
    });
  }
  throw new Failure('config', `no ${kinds[kind]} is signed in`, {
    hint: `Try it out first with --sandbox, or sign in: ${signIn[kind]}`,
  });
}

/**
 * A server's name in journals and claims: its origin; all names of this computer are one (docs/exactly-once.md,
 * Claims).
 */
export function serverOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/\.$/, '');
  const isThisComputer =
    /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0)$/.test(host) ||
    /^\[(::1?|::ffff:(7f[0-9a-f]{2}|0):[0-9a-f]+)\]$/.test(host);
  return `${protocol}//${isThisComputer ? 'localhost' : host}${port === '' ? '' : `:${port}`}`;
}
