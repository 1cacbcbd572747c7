import { resolve } from 'node:path';
import { refuseOtherApplication } from '../../api/licensing/application.ts';
import { usage, Failure } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import { namesIn } from '../../core/table-names.ts';
import { type ChatCredential, type LicensingCredential, credentialFrom } from '../../store/account/credentials.ts';
import type { Keys, Services, Terminal, Accounts, Invocation } from '../context.ts';
import { kinds as allKinds, urlOf, userOf, type Kind, type Profile } from '../../schema/profile.ts';
import { type Secrets, keyText } from '../../store/account/secrets.ts';
import type { CandidateProfile } from '../../store/account/profiles.ts';

interface KeySource {
  readonly password?: boolean;
  readonly api_key_stdin?: boolean;
  readonly api_key_file?: string;
  readonly key_command?: string;
}

/** The argument of commands that check stored profiles; without names they check all of them. */
export const profilesArgument = { kind: 'string', many: true, placeholder: 'NAME', suggest: 'profiles' } as const;

export interface Candidate {
  readonly name: string;
  /** The name, followed by the kind where the name does not imply it. */
  readonly subject: string;
  readonly open: () => Promise<LicensingCredential | ChatCredential>;
}

/** The named profiles; without names those of the sandbox, or of the environment and all stored profiles. */
export async function candidatesOf(
  names: readonly string[],
  { options, licensingAccount, chatAccount, accounts }: Accounts & Invocation,
  inUse?: { readonly stored: readonly string[]; readonly kinds: readonly Kind[] },
): Promise<Candidate[]> {
  const ofKind = (name: string, kind: Kind): Candidate => ({
    name,
    subject: `${name} ${kind}`,
    open: () => (kind === 'chat' ? chatAccount() : licensingAccount()),
  });
  const named = (list: readonly string[]): Candidate[] =>
    list.map((name) => ({ name, subject: name, open: () => accounts.credentialOf(name) }));
  if (names.length > 0) return named(names);
  if (options.sandbox) return namesIn(allKinds).map((kind) => ofKind('sandbox', kind));
  const stored = inUse?.stored ?? (await accounts.profiles().all()).map(({ name }) => name);
  const kinds = inUse?.kinds ?? accounts.environmentKinds();
  return [...kinds.map((kind) => ofKind('environment', kind)), ...named(stored)];
}

export const keyPlaces = {
  licensing: "The licensing key is in the dashboard, under the application's credentials.",
  chat: 'The chat key is in the app: Settings, Account & privacy, API key. It is not your password; --password asks for that instead.',
} as const;

/** Reads the key of a new profile from its source; a key command is run once. @throws Failure usage, config */
export async function readKey(
  source: KeySource,
  profile: Profile,
  context: Keys & Pick<Terminal, 'terminal' | 'say'>,
  headers?: Secrets['headers'],
): Promise<Secret> {
  const given = Object.entries(source).filter(([, value]) => value !== undefined && value !== false);
  if (given.length > 1) throw usage('give one of --password, --api-key-stdin, --api-key-file and --key-command');
  if (source.key_command !== undefined) return context.keys.fromCommand(source.key_command);
  if (source.api_key_file !== undefined) return context.keys.fromFile(source.api_key_file);
  if (source.api_key_stdin) return context.keys.fromInput();
  if (source.password && profile.kind === 'chat') {
    if (!context.terminal.canAsk())
      throw usage('--password needs a terminal to ask for it', 'Give the key with --api-key-stdin.');
    return context.keys.fromPassword(profile, await context.terminal.secret(`Password of ${profile.email}:`), headers);
  }
  if (context.terminal.canAsk()) context.say(keyPlaces[profile.kind]);
  return (await context.terminal.secret('API key:')).framed((text) => keyText(text, 'API key'));
}

/** Refuses a wrong key, or one of another application (docs/apis.md, Credentials). @throws Failure auth, unavailable */
export async function checkCredential(
  credential: LicensingCredential | ChatCredential,
  { servers: { licensingAs, chatAs } }: Services,
): Promise<void> {
  if (credential.kind === 'chat') {
    await chatAs(credential).messages({ anchor: 'newest', num_before: 0, num_after: 0 });
    return;
  }
  const api = licensingAs(credential);
  if (credential.app_code !== undefined) return refuseOtherApplication(api, credential.app_code);
  for await (const _license of api.list({}, 'part')) return;
}

/** The name of the profile to store; --profile means the same as --name. @throws Failure usage for two names */
export function typedName(name: string | undefined, { options }: Invocation): string | undefined {
  const other = options.typed.has('profile') ? options.profile : undefined;
  if (name !== undefined && other !== undefined && name !== other)
    throw usage(`--name '${name}' and --profile '${other}' are two profiles`, 'Give one of them.');
  return name ?? other;
}

export function hostName(url: string): string {
  return new URL(url).host.replaceAll(/[^A-Za-z0-9._-]/g, '-');
}

type StoreParts = Services & Accounts & Terminal & Invocation;

/**
 * Completes the given fields with those of the stored profile of that name; an empty text removes a setting. Asks
 * before a profile of another account is replaced.
 * @throws Failure config, usage; cancelled on no
 */
export async function mergeWithStored(
  given: CandidateProfile,
  { accounts: { profiles }, confirm, options: { ca_file, typed } }: StoreParts,
): Promise<Profile> {
  const candidate = typed.has('ca_file') ? { ...given, ca_file: ca_file && resolve(ca_file) } : given;
  const stored = await profiles().find(given.name);
  const { key_command: _, allow_http, ...reused }: Partial<Profile> = stored?.kind === given.kind ? stored : {};
  const merged = profiles().check(withoutEmpty({ ...reused, ...candidate }));
  // The user allowed plain http for one server, so the permission is dropped if the URL changes.
  const isConsent = stored !== undefined && urlOf(stored) === urlOf(merged);
  const profile = isConsent ? profiles().check(withoutEmpty({ allow_http, ...merged })) : merged;
  profiles().refuseExposed(profile);
  if (stored && accountOf(stored) !== accountOf(profile))
    await confirm(
      `Profile '${profile.name}' is ${accountOf(stored)} (--name NAME keeps both). Replace it with ${accountOf(profile)}?`,
    );
  return profile;
}

function withoutEmpty({ kind, name, ...fields }: CandidateProfile): CandidateProfile {
  const given = Object.entries<unknown>(fields).filter(([, value]) => value !== undefined && value !== '');
  return { kind, name, ...Object.fromEntries(given) };
}

/** The header lines of the file, or without a file the stored ones; '' means none. @throws Failure usage, config */
export async function headersFrom(file: string | undefined, profile: Profile, { keys, accounts }: Keys & Accounts) {
  if (file === undefined) return accounts.profiles().headersOf(profile);
  return file === '' ? undefined : keys.headers(file);
}

/** Stores the profile, after a check of its key unless `check` is false. @throws Failure of the check; config */
export async function storeProfile(
  profile: Profile,
  secrets: Secrets,
  check: boolean | undefined,
  context: StoreParts,
): Promise<{ readonly profile: string; readonly kind: Profile['kind']; readonly status: string }> {
  if (check !== false) await tryKey(profile, secrets, context);
  const done = (await context.accounts.profiles().find(profile.name)) ? 'replaced' : 'stored';
  const key = profile.key_command === undefined ? secrets.key : undefined;
  await context.accounts.profiles().save(profile, key, secrets.headers);
  const status = context.options.dry_run ? `would be ${done}` : done;
  return { profile: profile.name, kind: profile.kind, status: check === false ? `${status} unchecked` : status };
}

async function tryKey(profile: Profile, secrets: Secrets, context: StoreParts): Promise<void> {
  try {
    await checkCredential(credentialFrom(profile, secrets), context);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    const advice = /malformed api key/i.test(cause.details.server?.msg ?? '')
      ? 'That is not a chat key, which has 32 letters and digits. For a password: auth login chat --password.'
      : cause.details.hint;
    const hint = ['Nothing was stored.', advice].filter((text) => text !== undefined).join(' ');
    throw cause.as(cause.kind, cause.message, { hint });
  }
}

/** The account in words; two profiles with the same words have the same account. */
function accountOf(profile: Profile): string {
  return `${profile.kind === 'licensing' ? 'application ' : ''}${userOf(profile)} on ${urlOf(profile)}`;
}
