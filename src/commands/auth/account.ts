import { refuseOtherApplication } from '../../api/licensing/application.ts';
import { usage } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import type { ChatCredential, LicensingCredential } from '../../store/account/credentials.ts';
import type { Keys, Services, Terminal } from '../context.ts';

export interface KeySource {
  readonly api_key_stdin?: boolean;
  readonly api_key_file?: string;
  readonly key_command?: string;
}

/**
 * The key of a new profile from wherever the user keeps it. A key command is run once, to see that it works.
 * @throws Failure usage, config
 */
export async function readKey(source: KeySource, context: Keys & Pick<Terminal, 'secret'>): Promise<Secret> {
  const given = Object.entries(source).filter(([, value]) => value !== undefined && value !== false);
  if (given.length > 1) throw usage('give one of --api-key-stdin, --api-key-file and --key-command');
  if (source.key_command !== undefined) return context.runKeyCommand(source.key_command);
  if (source.api_key_file !== undefined) return context.keyFromFile(source.api_key_file);
  if (source.api_key_stdin) return context.keyFromInput();
  return context.secret('API key:');
}

/**
 * Asks the server, with calls of the specification, whether it takes the key, and whether the key is of the application that the
 * credential names (docs/apis.md, Credentials).
 * @throws Failure auth where it does not, or names another application; unavailable where it cannot be asked
 */
export async function checkCredential(
  credential: LicensingCredential | ChatCredential,
  { licensingAs, chatAs }: Pick<Services, 'licensingAs' | 'chatAs'>,
): Promise<void> {
  if (credential.kind === 'chat') {
    await chatAs(credential).messages({ anchor: 'newest', num_before: 0, num_after: 0 });
    return;
  }
  const api = licensingAs(credential);
  if (credential.app_code !== undefined) return refuseOtherApplication(api, credential.app_code);
  for await (const _license of api.list({}, 'part')) return;
}

/** The host as a profile name. */
export function hostName(url: string): string {
  return new URL(url).host.replaceAll(/[^A-Za-z0-9._-]/g, '-');
}
