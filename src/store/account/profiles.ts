import { join } from 'node:path';
import { Failure, labelled } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import type { Clock, System } from '../../core/system.ts';
import { isObject } from '../../core/json.ts';
import { readProfileName, urlOf, type Kind, type Profile } from '../../schema/profile.ts';
import { refuseExposed } from '../../schema/url.ts';
import { remove } from '../disk/files.ts';
import { foldersOf, namesFile } from '../disk/folders.ts';
import { changeConfiguration, readConfiguration, type Content, type Files } from './configuration.ts';
import { keyEntry } from './credentials.ts';
import { originOfProfile, parseProfile } from './profile.ts';

export interface CandidateProfile {
  readonly kind: Kind;
  readonly name: string;
}

export type Profiles = ReturnType<typeof openProfiles>;

/** The stored profiles (docs/apis.md, Credentials). Methods throw Failure config for unsafe files and unknown names. */
export function openProfiles(system: System, clock: Clock) {
  const host = { system, clock };
  const read = async () => readConfiguration('config', host);
  const stored = async () => entriesOf((await read())['profiles']);
  const change = (edit: (config: Content, files: Files) => Content | Promise<Content>): Promise<void> =>
    changeConfiguration(host, async (files) => files.write('config', await edit(await files.read('config'), files)));
  const parsed = (name: string, value: unknown): Profile | undefined => {
    const label = `${join(foldersOf(system).config, 'config.json')}: profile '${name}'`;
    return labelled(label, () => parseProfile(name, value), 'config');
  };
  /** A profile as it will be read again. @throws Failure usage or config where it may not be stored */
  const check = (profile: CandidateProfile): Profile => {
    const valid = parseProfile(readProfileName(profile.name), profile);
    if (valid) return valid;
    throw new Error('only a profile of a kind that is known is stored');
  };

  return {
    check,
    all: async () => (await stored()).flatMap(([name, value]) => parsed(name, value) ?? []),
    defaults: async () => defaultsIn(await read()),
    async find(name: string): Promise<Profile | undefined> {
      const own = (await stored()).find(([known]) => known === name);
      return own && parsed(name, own[1]);
    },
    /** Every stored name, also of a kind that this version does not know. */
    names: async () => (await stored()).map(([name]) => name),
    /** Writes nothing. @throws Failure config for plain http without consent */
    refuseExposed: (profile: Profile): void => refuseExposed(urlOf(profile), profile, system.env),
    /** Writes nothing, and fails where no profile has a name. */
    async refuseUnknown(names: string | readonly string[]): Promise<void> {
      const config = await read();
      for (const name of [names].flat()) storedIn(config, name);
    },
    /**
     * Stores a profile and its key in place of one of the same name; the first of its kind becomes the default. Without a
     * key and key command the stored key stays, bound to its origin.
     */
    async save(profile: Profile, key: Secret | undefined): Promise<void> {
      const valid = check(profile);
      refuseExposed(urlOf(valid), valid, system.env);
      await change(async (config, files) => {
        await saveKey(files, profile, key);
        return { ...config, ...withProfile(config, valid) };
      });
    },
    async use(name: string): Promise<void> {
      await change((config) => {
        const profile = parsed(name, storedIn(config, name));
        if (!profile) throw unknownProfile(name, config);
        return { ...config, defaults: { ...defaultsIn(config), [profile.kind]: name } };
      });
    },
    /** Forgets the profiles, keys without a profile, and their servers' names. No other default is chosen silently. */
    async remove(forgotten: readonly string[]): Promise<void> {
      await change(async (config, files) => {
        for (const name of forgotten) storedIn(config, name);
        const others = entriesOf(config['profiles']).filter(([other]) => !forgotten.includes(other));
        const isLeft = (name: unknown): boolean => others.some(([other]) => other === name);
        const credentials = await files.read('credentials');
        const keys = entriesOf(credentials['keys']);
        const otherKeys = keys.filter(([name]) => isLeft(name));
        if (otherKeys.length < keys.length)
          await files.write('credentials', { ...credentials, keys: Object.fromEntries(otherKeys) });
        const defaults = Object.entries(defaultsIn(config)).filter(([, name]) => isLeft(name));
        return { ...config, defaults: Object.fromEntries(defaults), profiles: Object.fromEntries(others) };
      });
      await remove(namesFile(system));
    },
  };
}

function withProfile(config: Content, { name, ...fields }: Profile): Content {
  const { kind } = fields;
  const others = entriesOf(config['profiles']).filter(([other]) => other !== name);
  const defaults = Object.entries(defaultsIn(config)).filter(([other, chosen]) => other === kind || chosen !== name);
  const isFirst = !others.some(([, stored]) => isObject(stored) && stored['kind'] === kind);
  return {
    defaults: { ...Object.fromEntries(defaults), ...(isFirst && { [kind]: name }) },
    profiles: Object.fromEntries([...others, [name, fields]]),
  };
}

/** The key goes first: alone it is harmless; a profile for another origin than its key's is refused when used. */
async function saveKey(files: Files, profile: Profile, key: Secret | undefined): Promise<void> {
  const credentials = await files.read('credentials');
  if (key === undefined && profile.key_command === undefined) return;
  const others = entriesOf(credentials['keys']).filter(([name]) => name !== profile.name);
  const keys = Object.fromEntries([...others, [profile.name, keyEntry(key, originOfProfile(profile))]]);
  await files.write('credentials', { ...credentials, keys });
}

/** @throws Failure config where there is none of that name */
function storedIn(config: Content, name: string): unknown {
  const stored = entriesOf(config['profiles']).find(([other]) => other === name);
  if (stored) return stored[1];
  throw unknownProfile(name, config);
}

function unknownProfile(name: string, config: Content): Failure {
  const names = entriesOf(config['profiles']).map(([other]) => other);
  return new Failure('config', `there is no profile '${name}'`, {
    hint: names.length === 0 ? 'Make one with: chatelaine auth login' : `Stored are: ${names.join(', ')}.`,
  });
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

/** Names under `defaults` of kinds that this version does not know are kept. */
function defaultsIn(config: Content): Readonly<Partial<Record<Kind, string>>> {
  return Object.fromEntries(entriesOf(config['defaults']).filter(([, name]) => typeof name === 'string'));
}
