import type { Accounts, Keys } from '../commands/context.ts';
import { Secret } from '../core/secret.ts';
import { namesIn } from '../core/table-names.ts';
import type { Clock } from '../core/system.ts';
import { kinds } from '../schema/profile.ts';
import { openCredentials } from '../store/account/credentials.ts';
import { readKeyFile } from '../store/account/key-text.ts';
import { openProfiles } from '../store/account/profiles.ts';
import { environmentCredential } from '../store/account/environment-credential.ts';
import { serverOf } from '../store/account/profile.ts';
import { canOthersRead } from '../store/disk/private-file.ts';
import { isInteractive } from './input.ts';
import { shortened } from './redactor.ts';
import type { EmbeddedSandbox } from './sandbox.ts';
import type { Running } from './values.ts';

/** The parts of a context that choose credentials (stored, the environment's, the sandbox's) and read keys. */
export function openAccounts(running: Running, sandbox: EmbeddedSandbox): Accounts & Omit<Keys, 'keyFromInput'> {
  const { host, options, redactor, signal } = running;
  const { system } = host;
  // A wait for the lock of the configuration ends with the command.
  const clock: Clock = { ...host.clock, sleep: (span, given = signal) => host.clock.sleep(span, given) };
  const profiles = openProfiles(system, clock);
  const { refuseUnknown } = profiles;
  // In a dry run what is stored stays as it is; a name that is not known is refused all the same.
  const unchanged = { save: () => Promise.resolve(), use: refuseUnknown, remove: refuseUnknown };
  const shownProfiles = options.dry_run ? { ...profiles, ...unchanged } : profiles;
  const runKeyCommand = keyCommandRunner(running);
  const credentials = openCredentials(system, clock, profiles, runKeyCommand, signal);
  const chosen = { profile: options.profile, typed: options.typed.has('profile') };
  const source: Pick<Accounts, 'licensingAccount' | 'chatAccount' | 'licensingApps'> = options.sandbox
    ? {
        licensingAccount: ({ row_app_code, app_code } = {}) => sandbox.licensing(row_app_code ?? app_code),
        chatAccount: sandbox.chat,
        licensingApps: sandbox.licensingApps,
      }
    : {
        licensingAccount: (choice) => credentials.licensing({ ...chosen, ...choice }),
        chatAccount: () => credentials.chat(chosen),
        licensingApps: credentials.licensingApps,
      };
  return {
    ...source,
    environmentKinds: () => namesIn(kinds).filter((kind) => environmentCredential(system.env, kind)),
    profiles: () => shownProfiles,
    async credentialOf(name) {
      const profile = await profiles.find(name);
      return profile?.kind === 'chat' ? credentials.chat({ profile: name }) : credentials.licensing({ profile: name });
    },
    keyFromFile: async (file) => redactor.watch(await readKeyFile(file, '--api-key-file', system, signal)),
    othersCanRead: (file) => canOthersRead(file, system),
    runKeyCommand,
    hide: (text) => redactor.watch(new Secret(text)),
    clean: (text) => shortened(redactor.clean(text)),
    identityOf: ({ base_url }) => (options.sandbox ? 'sandbox' : serverOf(base_url)),
  };
}

function keyCommandRunner({ host, options, messages, redactor, signal }: Running): Keys['runKeyCommand'] {
  return async (command) => {
    const { runKeyCommand } = await import('../store/account/key-command.ts');
    const verbose = options.verbose ? messages.note : undefined;
    // Its input is ours: what a pipe holds is not for it.
    const interactive = host.stdin.isTTY === true && isInteractive(host, options);
    const { system, alarm } = host;
    return redactor.watch(await runKeyCommand(command, { system, alarm, signal, verbose, interactive }));
  };
}
