import { Failure, usage } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import { commandLine, shellWord } from '../../core/shell-word.ts';
import { variable, variableWithText, type Environment, type System } from '../../core/system.ts';
import { readField, valuesOf } from '../../schema/field.ts';
import {
  accountFields,
  credentialFields,
  urlOf,
  variableOf,
  variablesOf,
  type ChatProfile,
  type CredentialValues,
  type Kind,
  type LicensingProfile,
  type Profile,
  type ProfileField,
} from '../../schema/profile.ts';
import { refuseExposed } from '../../schema/url.ts';
import { defaultOf, profileNamed, type StoredProfiles } from './profiles.ts';
import { headersOfEnvironment, keyFrom, readKeyFile, type Headers, type Secrets } from './secrets.ts';

/** The secrets of a credential; `profile` is undefined for one from the environment. */
export type Holder = Secrets & { readonly profile: string | undefined };

export type LicensingCredential = { readonly kind: 'licensing' } & Holder & CredentialValues<'licensing'>;
export type ChatCredential = { readonly kind: 'chat' } & Holder & CredentialValues<'chat'>;

/** Refuses a credential that may not write before anything is sent, lists included. @throws Failure config */
export function refuseReadOnly({ read_only, profile }: Partial<Holder & { readonly read_only: boolean }>): void {
  if (!read_only) return;
  const who = profile === undefined ? 'this run' : `the profile ${profile}`;
  throw new Failure('config', `${who} is read-only: nothing was sent`, {
    hint: 'Choose another profile with --profile, sign in again with --no-read-only, or unset CHATELAINE_READ_ONLY.',
  });
}

export interface Choice {
  readonly profile?: string | undefined;
  /** Given on the command line (default). False: by CHATELAINE_PROFILE, and a complete credential there goes first. */
  readonly typed?: boolean | undefined;
}

export interface LicensingChoice extends Choice {
  readonly app_code?: number | undefined;
  /** The application of a roster row: the chosen credential serves it if it has this code, else a stored app does. */
  readonly row_app_code?: number | undefined;
}

/** A stored app whose key is read when it is used, so one broken app does not hide the others. */
export interface StoredApp {
  readonly profile: string;
  readonly app_code: number;
  readonly base_url: string;
  credential(): Promise<LicensingCredential>;
}

type EnvironmentCredential = NonNullable<ReturnType<typeof environmentCredential<'licensing'>>>;

/** Chooses one credential, whole (docs/apis.md, Credentials). @throws Failure config where none is, or it is unsafe */
export class Credentials {
  readonly #system: System;
  readonly #profiles: StoredProfiles;
  readonly #runKeyCommand: (command: string) => Promise<Secret>;
  /** Ends the reading of a key file that is a pipe. */
  readonly #signal: AbortSignal | undefined;
  readonly #keys = new Map<string, Promise<Secret>>();
  #headers: Promise<Headers | undefined> | undefined;
  /** An environment's credential that names no application gets the first row's: one key is of one application. */
  #environmentApp: number | undefined;

  constructor(
    system: System,
    profiles: StoredProfiles,
    runKeyCommand: (command: string) => Promise<Secret>,
    signal?: AbortSignal,
  ) {
    [this.#system, this.#profiles, this.#runKeyCommand, this.#signal] = [system, profiles, runKeyCommand, signal];
  }

  /** @throws Failure config when no app has the code of a row; usage when several stored apps have that code */
  async licensing({ profile, typed = true, app_code, row_app_code }: LicensingChoice): Promise<LicensingCredential> {
    const [env, profiles] = [this.#system.env, this.#profiles];
    const given = environmentCredential(env, 'licensing');
    const row = row_app_code === app_code ? undefined : row_app_code;
    if (given && (profile === undefined || !typed)) {
      const own = app_code ?? given.values.app_code ?? (this.#environmentApp ??= row);
      if (row === undefined || row === own) return this.#licensingOfEnvironment(given);
      return this.#credentialOf(await appOf(profiles, row, given.values.base_url));
    }
    const chosen = await chosenApp(profiles, { profile, typed, app_code }, env, row);
    const isOther = row !== undefined && row !== chosen.app_code;
    return this.#credentialOf(isOther ? await appOf(profiles, row) : chosen);
  }

  async chat({ profile, typed = true }: Choice): Promise<ChatCredential> {
    const given = environmentCredential(this.#system.env, 'chat');
    if (given && (profile === undefined || !typed)) {
      const secrets = await this.#secretsOfEnvironment(given.values.site, given.key);
      return { kind: 'chat', profile: undefined, ...given.values, ...secrets };
    }
    const profiles = this.#profiles;
    return this.#credentialOf(
      await (profile === undefined ? defaultOf(profiles, 'chat') : profileNamed(profiles, profile, 'chat')),
    );
  }

  /** Every stored app; without one, the environment's. */
  async licensingApps(): Promise<readonly StoredApp[]> {
    const apps = (await this.#profiles.all()).filter((profile) => profile.kind === 'licensing');
    const given = apps.length === 0 ? environmentCredential(this.#system.env, 'licensing') : undefined;
    if (given?.values.app_code !== undefined) {
      const { app_code, base_url } = given.values;
      return [{ profile: 'environment', app_code, base_url, credential: () => this.#licensingOfEnvironment(given) }];
    }
    return apps.map((app) => ({
      profile: app.name,
      app_code: app.app_code,
      base_url: app.base_url,
      credential: () => this.#credentialOf(app),
    }));
  }

  #credentialOf(profile: LicensingProfile): Promise<LicensingCredential>;
  #credentialOf(profile: ChatProfile): Promise<ChatCredential>;
  async #credentialOf(profile: Profile): Promise<LicensingCredential | ChatCredential> {
    const { key, headers } = await this.#profiles.secretsOf(profile);
    const { key_command: command = '' } = profile;
    const own = key ?? (await this.#once(`command ${command}`, () => this.#runKeyCommand(command)));
    return credentialFrom(profile, { key: own, headers });
  }

  async #licensingOfEnvironment({ values, key }: EnvironmentCredential): Promise<LicensingCredential> {
    const secrets = await this.#secretsOfEnvironment(values.base_url, key);
    return { kind: 'licensing', profile: undefined, ...values, ...secrets };
  }

  async #secretsOfEnvironment(url: string, source: EnvironmentKey): Promise<Secrets> {
    const [system, signal] = [this.#system, this.#signal];
    refuseExposed(url, {}, system.env);
    const { variable: name } = source;
    const key = await this.#once(name, async () =>
      'file' in source ? readKeyFile(source.file, name, system, signal) : keyFrom(source.text, name),
    );
    return { key, headers: await (this.#headers ??= headersOfEnvironment(system, signal)) };
  }

  /** Asks each source for its key once in a run: a command may ask a person, and a file may be a pipe. */
  #once(source: string, ask: () => Promise<Secret>): Promise<Secret> {
    const key = this.#keys.get(source) ?? ask();
    this.#keys.set(source, key);
    return key;
  }
}

export function credentialFrom(profile: Profile, secrets: Secrets): LicensingCredential | ChatCredential {
  const { name, key_command: _, ...fields } = profile;
  return { ...fields, profile: name, ...secrets };
}

/** The stored app in use, else the row's. Options go before the environment. */
async function chosenApp(
  profiles: StoredProfiles,
  { profile, typed, app_code }: LicensingChoice,
  env: System['env'],
  row: number | undefined,
): Promise<LicensingProfile> {
  if (!typed && app_code !== undefined) return appOf(profiles, app_code);
  if (profile !== undefined) return profileNamed(profiles, profile, 'licensing');
  const code = app_code ?? appCodeOf(env);
  if (code !== undefined) return appOf(profiles, code);
  const isChosen = (await profiles.defaults()).licensing !== undefined;
  return isChosen || row === undefined ? defaultOf(profiles, 'licensing') : appOf(profiles, row);
}

/** The stored app of that code; `url`: where one is missing. @throws Failure config for none, usage for several */
async function appOf(profiles: Pick<StoredProfiles, 'all'>, code: number, url?: string): Promise<LicensingProfile> {
  const apps = (await profiles.all()).filter((profile) => profile.kind === 'licensing');
  const [app, ...others] = apps.filter((profile) => profile.app_code === code);
  if (!app) {
    const codes = [...new Set(apps.map((profile) => profile.app_code))].join(', ');
    const [known = 'URL', ...more] = new Set(url === undefined ? apps.map(urlOf) : [url]);
    const base_url = more.length === 0 ? known : 'URL';
    throw new Failure('config', `no stored app has the code ${code}${codes === '' ? '' : ` (stored: ${codes})`}`, {
      hint: `Sign in to it: ${commandLine('auth login', ['licensing'], { base_url, app_code: code })}`,
    });
  }
  if (others.length === 0) return app;
  const choices = [app, ...others].map(({ name }) => `--profile ${shellWord(name)}`).join(' or ');
  throw usage(`several stored apps have the code ${code}`, `Choose one: add ${choices}`);
}

type EnvironmentKey =
  { readonly variable: string; readonly text: string } | { readonly variable: string; readonly file: string };

/** The environment's complete credential; opens no key file. @throws Failure config for a part of one; usage */
export function environmentCredential<K extends Kind>(env: Environment, kind: K) {
  const rows: Readonly<Record<string, ProfileField>> = credentialFields[kind];
  for (const name of Object.keys(variablesOf(kind))) variableWithText(env, name);
  const textOf = (name: string): string | undefined => variable(env, variableOf(kind, name));
  const belonging = Object.keys(rows).filter((name) => rows[name]?.environment !== undefined && !rows[name].alone);
  const present = belonging.filter((name) => textOf(name) !== undefined);
  const key = environmentKey(env, kind);
  if (present.length === 0 && !key) return undefined;
  const missing = belonging.filter((name) => rows[name]?.required && textOf(name) === undefined);
  if (!key || missing.length > 0) throw incomplete(kind, present, missing, key);
  const values = valuesOf(credentialFields[kind], (name, field) => {
    const text = rows[name]?.environment === undefined ? undefined : textOf(name);
    return text === undefined ? undefined : readField(variableOf(kind, name), field, text);
  });
  return { values, key };
}

/** CHATELAINE_APP_CODE: completes the environment's credential, alone acts as --app-code. @throws Failure usage */
function appCodeOf(env: Environment): number | undefined {
  const name = variableOf('licensing', 'app_code');
  const text = variable(env, name);
  return text === undefined ? undefined : readField(name, accountFields.licensing.app_code, text);
}

function environmentKey(env: Environment, kind: Kind): EnvironmentKey | undefined {
  const [name, fileName] = [variableOf(kind, 'api_key'), variableOf(kind, 'api_key_file')];
  const [text, file] = [variable(env, name), variable(env, fileName)];
  if (text !== undefined && file !== undefined)
    throw new Failure('config', `${name} and ${fileName} are both set`, { hint: 'Unset one of them.' });
  if (text !== undefined) return { variable: name, text };
  return file === undefined ? undefined : { variable: fileName, file };
}

function incomplete(kind: Kind, present: readonly string[], missing: readonly string[], key?: EnvironmentKey) {
  const namesOf = (fields: readonly string[]): string[] => fields.map((name) => variableOf(kind, name));
  const keyNames = `${variableOf(kind, 'api_key')} (or ${variableOf(kind, 'api_key_file')})`;
  const lacking = [...namesOf(missing), ...(key ? [] : [keyNames])];
  const set = [...namesOf(present), ...(key ? [key.variable] : [])];
  return new Failure(
    'config',
    `the environment contains only part of a credential: ${lacking.join(', ')} ${lacking.length > 1 ? 'are' : 'is'} missing`,
    { hint: `Set what is missing, or unset ${set.join(', ')}: variables and profiles are never mixed.` },
  );
}
