import { join } from 'node:path';
import { Failure, labelled, usage } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import type { Clock, System } from '../../core/system.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { readField, valuesOf, type Field, type Fields, type Values } from '../../schema/field.ts';
import {
  accountFields,
  firstSignIn,
  keyCommand,
  kinds,
  profileFields,
  readProfileName,
  signIn,
  urlOf,
  type Kind,
  type Profile,
} from '../../schema/profile.ts';
import { originOf, refuseExposed } from '../../schema/url.ts';
import { foldersOf } from '../disk/folders.ts';
import type { Surroundings } from '../lock/lock.ts';
import { headersIn, keyFrom, type Headers, type Secrets } from './secrets.ts';
import { changeConfiguration, readConfiguration, type Files } from './configuration.ts';

export type CandidateProfile = Pick<Profile, 'kind' | 'name'>;

export type Profiles = ReturnType<typeof openProfiles>;

/** The content of config.json, by name and by kind; a change writes it. */
type StoredNames = Readonly<Record<'profiles' | 'defaults', Map<string, unknown>>>;

export type StoredProfiles = Pick<Profiles, 'all' | 'defaults' | 'find' | 'names' | 'secretsOf'>;

/** The stored profiles (docs/apis.md, Credentials). Methods throw Failure config for unsafe files and unknown names. */
export function openProfiles(system: System, clock: Clock) {
  const host = { system, clock };
  return { ...readingOf(host), ...changesOf(host) };
}

function readingOf(host: Surroundings) {
  const { system } = host;
  const read = async () => readConfiguration('config', host);
  const stored = async () => mapOf((await read())['profiles']);
  return {
    check,
    all: async () => [...(await stored())].map(([name, value]) => storedProfile(name, value, system)),
    defaults: async () => defaultsIn(await read()),
    async find(name: string): Promise<Profile | undefined> {
      const known = await stored();
      return known.has(name) ? storedProfile(name, known.get(name), system) : undefined;
    },
    names: async () => [...(await stored()).keys()],
    /** Writes nothing. @throws Failure config for plain http without consent */
    refuseExposed: (profile: Profile): void => refuseExposed(urlOf(profile), profile, system.env),
    /** Writes nothing. @throws Failure config where one of the names has no profile */
    async refuseUnknown(names: string | readonly string[]): Promise<void> {
      refuseUnknown([names].flat(), await stored());
    },
    /** Headers and key, which a command may give instead. @throws Failure config where they cannot be used */
    async secretsOf(profile: Profile): Promise<Partial<Secrets>> {
      refuseExposed(urlOf(profile), profile, system.env);
      const file = join(foldersOf(system).config, 'credentials.json');
      return secretsIn(await readConfiguration('credentials', host), profile, file);
    },
    /** The headers that are stored for the profile's server. */
    async headersOf(profile: Profile): Promise<Headers | undefined> {
      const { origin, headers } = entryIn(await readConfiguration('credentials', host), profile);
      return origin === originOf(urlOf(profile)) ? headersIn(headers) : undefined;
    },
  };
}

function changesOf(host: Surroundings) {
  const { system } = host;
  const change = (edit: (stored: StoredNames, files: Files) => void | Promise<void>): Promise<void> =>
    changeConfiguration(host, async (files) => {
      const config = await files.read('config');
      const [profiles, defaults] = [mapOf(config['profiles']), mapOf(defaultsIn(config))];
      await edit({ profiles, defaults }, files);
      const changed = { defaults: Object.fromEntries(defaults), profiles: Object.fromEntries(profiles) };
      await files.write('config', { ...config, ...changed });
    });
  return {
    /** Replaces a profile of this name; the first of a kind is the default. Without a new key the stored one stays. */
    async save(profile: Profile, key: Secret | undefined, headers?: Headers): Promise<void> {
      const valid = check(profile);
      refuseExposed(urlOf(valid), valid, system.env);
      const { name, ...fields } = valid;
      await change(async ({ profiles, defaults }, files) => {
        await saveSecrets(files, profile, key, headers);
        profiles.delete(name);
        for (const [kind, one] of defaults) if (kind !== fields.kind && one === name) defaults.delete(kind);
        const isFirst = ![...profiles.values()].some((other) => isObject(other) && other['kind'] === fields.kind);
        if (isFirst) defaults.set(fields.kind, name);
        profiles.set(name, fields);
      });
    },
    use: (name: string): Promise<void> =>
      change(({ profiles, defaults }) => {
        refuseUnknown([name], profiles);
        defaults.set(storedProfile(name, profiles.get(name), system).kind, name);
      }),
    /** Forgets the chosen profiles, and keys without a profile. No other default is chosen silently. */
    remove: (choose: (stored: readonly string[]) => readonly string[]): Promise<void> =>
      change(async ({ profiles, defaults }, files) => {
        const forgotten = choose([...profiles.keys()]);
        refuseUnknown(forgotten, profiles);
        for (const name of forgotten) profiles.delete(name);
        const credentials = await files.read('credentials');
        const keys = [...mapOf(credentials['keys'])];
        const kept = keys.filter(([name]) => profiles.has(name));
        if (kept.length < keys.length)
          await files.write('credentials', { ...credentials, keys: Object.fromEntries(kept) });
        for (const [kind, name] of defaults) if (!profiles.has(String(name))) defaults.delete(kind);
      }),
  };
}

/** A profile as it will be read again. @throws Failure usage or config where it may not be stored */
function check(profile: CandidateProfile): Profile {
  return parseProfile(readProfileName(profile.name), profile);
}

function storedProfile(name: string, value: unknown, system: System): Profile {
  const label = `${join(foldersOf(system).config, 'config.json')}: profile '${name}'`;
  return labelled(label, () => parseProfile(name, value), 'config');
}

/** The key goes first: alone it is harmless; a profile for another origin than its key's is refused when used. */
async function saveSecrets(files: Files, profile: Profile, key: Secret | undefined, headers?: Headers): Promise<void> {
  const credentials = await files.read('credentials');
  if (key === undefined && profile.key_command === undefined) return;
  // The key is stored with its origin: a changed URL cannot send it elsewhere.
  const entry = {
    origin: originOf(urlOf(profile)),
    ...(key && { api_key: key.reveal() }),
    ...(headers && {
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()])),
    }),
  };
  const keys = Object.fromEntries(mapOf(credentials['keys']).set(profile.name, entry));
  await files.write('credentials', { ...credentials, keys });
}

/** The stored secrets, whose host is checked before a key command runs; a profile with a command may have none. */
function secretsIn(credentials: JsonObject, profile: Profile, file: string): Partial<Secrets> {
  const { entry, origin, api_key, headers: stored } = entryIn(credentials, profile);
  const [headers, own] = [headersIn(stored), originOf(urlOf(profile))];
  if (entry !== undefined && origin !== own) {
    const bound = typeof origin === 'string' ? origin : 'no host';
    throw new Failure('config', `the key of profile '${profile.name}' is for another host: ${bound}, not ${own}`, {
      hint: `Nothing was sent. If the new address is right, sign in again: ${signInAgain(profile)}`,
    });
  }
  if (profile.key_command !== undefined) return { headers };
  if (typeof api_key === 'string') return { key: keyFrom(api_key, file), headers };
  throw new Failure('config', `no key is stored for profile '${profile.name}'`, {
    hint: `Sign in again: ${signInAgain(profile)}`,
  });
}

function signInAgain(profile: Profile): string {
  const values: Readonly<Record<string, unknown>> = { ...profile };
  const account = Object.keys(accountFields[profile.kind]).map((name) => [name, String(values[name])] as const);
  return commandLine('auth login', [profile.kind], { ...Object.fromEntries(account), name: profile.name });
}

/** The entry of a profile in the file of credentials, and its fields. */
function entryIn({ keys }: JsonObject, { name }: Pick<Profile, 'name'>) {
  const entry = isObject(keys) && Object.hasOwn(keys, name) ? keys[name] : undefined;
  const { origin, api_key, headers }: JsonObject = isObject(entry) ? entry : {};
  return { entry, origin, api_key, headers };
}

/** @throws Failure config where a name has no profile */
function refuseUnknown(names: readonly string[], stored: ReadonlyMap<string, unknown>): void {
  for (const name of names) if (!stored.has(name)) throw unknownProfile(name, [...stored.keys()]);
}

function unknownProfile(name: string, names: readonly string[]): Failure {
  return new Failure('config', `there is no profile '${name}'`, {
    hint: names.length === 0 ? firstSignIn : `Stored: ${names.join(', ')}.`,
  });
}

function mapOf(value: unknown): Map<string, unknown> {
  return new Map(isObject(value) ? Object.entries(value) : []);
}

function defaultsIn(config: JsonObject): Readonly<Partial<Record<Kind, string>>> {
  return Object.fromEntries([...mapOf(config['defaults'])].filter(([, name]) => typeof name === 'string'));
}

/** A profile in the file, its URL normalised. @throws Failure usage or config */
export function parseProfile(name: string, stored: unknown): Profile {
  if (!isObject(stored)) throw usage('is not an object');
  const { kind } = stored;
  const key = valuesIn(stored, { key_command: keyCommand });
  if (kind === 'licensing') return { kind, name, ...valuesIn(stored, profileFields.licensing), ...key };
  if (kind === 'chat') return { kind, name, ...valuesIn(stored, profileFields.chat), ...key };
  throw usage('kind is neither licensing nor chat');
}

function valuesIn<const T extends Fields>(stored: JsonObject, fields: T): Values<T> {
  return valuesOf(fields, (name, field) => {
    const value = stored[name];
    return value === undefined && !field.required ? undefined : storedValue(name, field, value);
  });
}

/** A value of another type is refused rather than taken for none: a wrong `read_only` would allow writes. */
function storedValue(name: string, field: Field, value: unknown): unknown {
  if (field.kind === 'boolean' && typeof value !== 'boolean') throw usage(`${name} is neither true nor false`);
  if (field.kind === 'integer' && typeof value !== 'number') throw usage(`${name} is not an integer`);
  if (field.kind === 'string' && (typeof value !== 'string' || value === '')) throw usage(`${name} is missing`);
  return readField(name, field, String(value));
}

type ProfileOf<K extends Kind> = Extract<Profile, { readonly kind: K }>;

/** The profile of that name and kind. @throws Failure config when there is none, or it is of the other kind */
export async function profileNamed<K extends Kind>(profiles: Pick<Profiles, 'find' | 'names'>, name: string, kind: K) {
  const profile = await profiles.find(name);
  if (isOfKind(profile, kind)) return profile;
  if (!profile) throw unknownProfile(name, await profiles.names());
  throw new Failure('config', `profile '${name}' is a ${kinds[profile.kind]}; this command needs a ${kinds[kind]}`, {
    hint: 'Name another profile. To see them: chatelaine auth status',
  });
}

function isOfKind<K extends Kind>(profile: Profile | undefined, kind: K): profile is ProfileOf<K> {
  return profile?.kind === kind;
}

/** The default profile of a kind. @throws Failure config when none is stored, or none is the default */
export async function defaultOf<K extends Kind>(profiles: StoredProfiles, kind: K): Promise<ProfileOf<K>> {
  const name = (await profiles.defaults())[kind];
  if (name !== undefined) return profileNamed(profiles, name, kind);
  const stored = (await profiles.all()).filter((profile) => profile.kind === kind).map((profile) => profile.name);
  const [what, hint] =
    stored.length > 0
      ? ['the default', `Choose ${stored.join(' or ')} with --profile, or for all commands: chatelaine auth use NAME`]
      : ['signed in', `Try it out first with --sandbox, or sign in: ${signIn[kind]}`];
  throw new Failure('config', `no ${kinds[kind]} is ${what}`, { hint });
}
