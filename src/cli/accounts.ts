import { kinds, urlOf } from '../schema/profile.ts';
import { serverOf } from '../schema/url.ts';
import {
  type ChatCredential,
  Credentials,
  environmentCredential,
  type LicensingCredential,
  refuseReadOnly,
} from '../store/account/credentials.ts';
import { isGuarded, unknownVariables } from '../commands/environment.ts';
import type { Accounts, Keys } from '../commands/context.ts';
import { Secret } from '../core/secret.ts';
import { namesIn } from '../core/table-names.ts';
import type { Clock } from '../core/system.ts';
import { readHeaderLines, keyFrom, readKeyFile, readSecretFile } from '../store/account/secrets.ts';
import { openProfiles } from '../store/account/profiles.ts';
import { canOthersRead } from '../store/disk/private.ts';
import { keyHider } from './typed.ts';
import type { RunParts } from './values.ts';
import { isInteractive, readInputLine, readInputText } from './input.ts';
import { truncate } from './messages.ts';
import type { EmbeddedSandbox } from './sandbox.ts';

/**
 * The parts of a context that choose credentials and read keys. A write refuses a read-only credential; `fromPassword`
 * requests a key from the server.
 */
export function openAccounts(
  running: RunParts,
  sandbox: EmbeddedSandbox,
  aim: 'read' | 'write',
  fromPassword: Keys['keys']['fromPassword'],
): Accounts & Keys {
  const { host, options, redactor, signal } = running;
  const { system } = host;
  let hide: ReturnType<typeof keyHider> | undefined;
  // A wait for the configuration's lock ends when the command does.
  const clock: Clock = { ...host.clock, sleep: (span, given = signal) => host.clock.sleep(span, given) };
  const profiles = openProfiles(system, clock);
  // A dry run changes nothing that is stored, but refuses an unknown name too.
  const remove: typeof profiles.remove = async (choose) => profiles.refuseUnknown(choose(await profiles.names()));
  const unchanged = { save: () => Promise.resolve(), use: profiles.refuseUnknown, remove };
  const shownProfiles = options.dry_run ? { ...profiles, ...unchanged } : profiles;
  const runKeyCommand = keyCommandRunner(running);
  const credentials = new Credentials(system, profiles, runKeyCommand, signal);
  const chosen = { profile: options.profile, typed: options.typed.has('profile') };
  const source = options.sandbox ? sandbox : credentials;
  const isReadOnly = isGuarded(system.env, 'CHATELAINE_READ_ONLY');
  const places = new Set<string>();
  /** Notes the profile that is used if there are several, and refuses to write with a credential that only reads. */
  const inUse = async <C extends LicensingCredential | ChatCredential>(found: Promise<C>): Promise<C> => {
    const account = await found;
    const { kind, profile } = account;
    const isStored = profile !== undefined && !options.sandbox;
    if (isStored && (await profiles.all()).filter((one) => one.kind === kind).length > 1)
      places.add(`${new URL(urlOf(account)).host}, profile ${profile}`);
    const credential = isReadOnly ? { ...account, read_only: true } : account;
    if (aim === 'write') refuseReadOnly(credential);
    return credential;
  };
  return {
    licensingAccount: (choice) => inUse(source.licensing({ ...chosen, ...choice })),
    chatAccount: () => inUse(source.chat(chosen)),
    accounts: {
      licensingApps: () => source.licensingApps(),
      places: () => [...places],
      unknownVariables: () => unknownVariables(system.env),
      environmentKinds: () => namesIn(kinds).filter((kind) => environmentCredential(system.env, kind)),
      profiles: () => shownProfiles,
      async credentialOf(name) {
        const profile = await profiles.find(name);
        return profile?.kind === 'chat'
          ? credentials.chat({ profile: name })
          : credentials.licensing({ profile: name });
      },
      identityOf: (account) =>
        options.sandbox ? 'sandbox' : serverOf('site' in account ? account.site : account.base_url),
    },
    keys: { ...keysOf(running), fromCommand: runKeyCommand, fromPassword },
    secrets: {
      hide: (text) => redactor.watch(new Secret(text)),
      clean: (text) => truncate((hide ??= keyHider(running.typed))(redactor.clean(text))),
    },
  };
}

function keysOf(running: RunParts) {
  const { redactor, signal } = running;
  const { system } = running.host;
  return {
    fromFile: async (file: string) => redactor.watch(await readKeyFile(file, '--api-key-file', system, signal)),
    fromInput: async () => redactor.watch(keyFrom(await readInputLine(running), 'standard input')),
    async headers(file: string) {
      if (file === '-') return readHeaderLines(await readInputText(running, file), 'standard input');
      return readHeaderLines(await readSecretFile(file, '--header-file', system, signal), file);
    },
    othersCanRead: (file: string) => canOthersRead(file, system),
  };
}

function keyCommandRunner({ host, options, redactor, signal }: RunParts): Keys['keys']['fromCommand'] {
  return async (command) => {
    const { runKeyCommand } = await import('../store/account/key-command.ts');
    // Standard input is for chatelaine: the key command must not read what a pipe holds.
    const interactive = host.stdin.isTTY === true && isInteractive(host, options);
    const { system, alarm } = host;
    return redactor.watch(await runKeyCommand(command, { system, alarm, signal, interactive }));
  };
}
