import { join } from 'node:path';
import { rm } from '../../core/outside.ts';
import { Failure, labelled } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import type { Clock, System } from '../../core/system.ts';
import { isObject } from '../../core/json.ts';
import { readProfileName, urlOf, type Kind, type Profile } from '../../schema/profile.ts';
import { refuseExposed } from '../../schema/url.ts';
import { storageFailure } from '../disk/files.ts';
import { foldersOf, namesFile } from '../disk/folders.ts';
import { changeConfiguration, readConfiguration, type Content, type Files } from './configuration.ts';
import { keyEntry } from './credentials.ts';
import { originOfProfile, parseProfile, type ProfileSource } from './profile.ts';

export interface Profiles extends ProfileSource {
  /**
   * Stores a profile and its key in place of one of the same name; the first of its kind becomes the default. Without a
   * key and key command the stored key stays, bound to its origin.
   */
  save(profile: Profile, key: Secret | undefined): Promise<void>;
  /** A profile as it will be read again. @throws Failure usage or config where it may not be stored */
  check(profile: CandidateProfile): Profile;
  /** Writes nothing. @throws Failure config for plain http without consent */
  refuseExposed(profile: Profile): void;
  /** Writes nothing, and fails where no profile has a name. */
  refuseUnknown(names: string | readonly string[]): Promise<void>;
  use(name: string): Promise<void>;
  /** Every stored name, also of a kind that this version does not know. */
  names(): Promise<readonly string[]>;
  /** Forgets the profiles, keys without a profile, and their servers' names. No other default is chosen silently. */
  remove(names: readonly string[]): Promise<void>;
}

/** The stored profiles (docs/apis.md, Credentials). Methods throw Failure config for unsafe files and unknown names. */
export function openProfiles(system: System, clock: Clock): Profiles {
  const host = { system, clock };
  const check = (profile: CandidateProfile): Profile => {
    const valid = parseProfile(readProfileName(profile.name), profile);
    if (valid) return valid;
    throw new Error('only a profile of a kind that is known is stored');
  };
  const path = (): string => join(foldersOf(system).config, 'config.json');
  const read = async () => readConfiguration('config', host);
  const change = (edit: (config: Content, files: Files) => Promise<Content>): Promise<void> =>
    changeConfiguration(host, async (files) => files.write('config', await edit(await files.read('config'), files)));

  return {
    async all() {
      return entriesOf((await read())['profiles']).flatMap(([name, stored]) => profileIn(path(), name, stored) ?? []);
    },
    async defaults() {
      return defaultsIn(await read());
    },
    async find(name) {
      const stored = entriesOf((await read())['profiles']).find(([known]) => known === name);
      return stored && profileIn(path(), name, stored[1]);
    },
    check,
    refuseExposed: (profile) => refuseExposed(urlOf(profile), profile, system.env),
    async save(profile, key) {
      const valid = check(profile);
      refuseExposed(urlOf(valid), valid, system.env);
      await change(async (config, files) => {
        await saveKey(files, profile, key);
        return { ...config, ...withProfile(config, valid) };
      });
    },
    async refuseUnknown(names) {
      const config = await read();
      for (const name of [names].flat()) refuseUnknown(name, config);
    },
    async use(name) {
      await change((config) => {
        const profile = known(path(), config, name);
        return Promise.resolve({ ...config, defaults: { ...defaultsIn(config), [profile.kind]: name } });
      });
    },
    async names() {
      return entriesOf((await read())['profiles']).map(([name]) => name);
    },
    async remove(forgotten) {
      await change(async (config, files) => {
        for (const name of forgotten) refuseUnknown(name, config);
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
      const names = namesFile(system);
      await rm(names, { force: true }).catch((cause: unknown) => {
        throw storageFailure(`cannot remove ${names}`, cause);
      });
    },
  };
}

export interface CandidateProfile {
  readonly kind: Kind;
  readonly name: string;
}

function withProfile(config: Content, profile: Profile): Content {
  const { name, ...fields } = profile;
  const { kind } = profile;
  const others = Object.entries(defaultsIn(config)).filter(([other, chosen]) => other === kind || chosen !== name);
  const defaults: Partial<Record<string, string>> = Object.fromEntries(others);
  const isFirst = !entriesOf(config['profiles']).some(
    ([other, stored]) => other !== name && isObject(stored) && stored['kind'] === kind,
  );
  if (isFirst) defaults[kind] = name;
  const profiles = entriesOf(config['profiles']).filter(([other]) => other !== name);
  return { defaults, profiles: Object.fromEntries([...profiles, [name, fields]]) };
}

/** The key goes first: alone it is harmless; a profile for another origin than its key's is refused when used. */
async function saveKey(files: Files, profile: Profile, key: Secret | undefined): Promise<void> {
  const credentials = await files.read('credentials');
  if (key === undefined && profile.key_command === undefined) return;
  const entry = keyEntry(key, originOfProfile(profile));
  const others = entriesOf(credentials['keys']).filter(([name]) => name !== profile.name);
  const next = Object.fromEntries([...others, [profile.name, entry]]);
  await files.write('credentials', { ...credentials, keys: next });
}

function profileIn(path: string, name: string, stored: unknown): Profile | undefined {
  return labelled(`${path}: profile '${name}'`, () => parseProfile(name, stored), 'config');
}

function known(path: string, config: Content, name: string): Profile {
  const stored = entriesOf(config['profiles']).find(([other]) => other === name);
  const profile = stored && profileIn(path, name, stored[1]);
  if (!profile) throw unknownProfile(name, config);
  return profile;
}

function refuseUnknown(name: string, config: Content): void {
  if (!entriesOf(config['profiles']).some(([other]) => other === name)) throw unknownProfile(name, config);
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
