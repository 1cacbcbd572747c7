import { Failure } from '../../core/failure.ts';
import { namesOf, urlOf } from '../../schema/profile.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import type { Keys, Services } from '../context.ts';
import { candidatesOf, checkCredential, profilesArgument, type Candidate } from './account.ts';

export default command({
  about: [
    'Tries every stored profile, and the credentials of the environment; with --sandbox those of the embedded sandbox. Exit code 4 if one is refused.',
  ],
  args: { name: { ...profilesArgument, help: 'Profiles to check (default: all)' } },
  options: {},
  examples: ['chatelaine auth status'],

  async *rows({ name: names = [] }, context) {
    const chosen = names.length > 0 ? names : [context.options.profile ?? []].flat();
    // A word that names no profile may be a key, and is in no row.
    await context.accounts.profiles().refuseUnknown(chosen);
    const tried = await candidatesOf(chosen, context);
    if (tried.length === 0)
      throw new Failure('config', 'no credential is stored', { hint: 'Store one: chatelaine auth login.' });
    const failures: Failure[] = [];
    for (const { name, open } of tried) yield await statusOf(name, open, context, failures);
    const worst = failures.find(({ kind }) => kind === 'auth') ?? failures[0];
    const counted = `${failures.length} of ${tried.length} credentials cannot be used`;
    if (worst) throw new Failure(worst.kind, `${counted}: ${worst.message}`, worst.details);
  },

  show: {
    columns: [...whole('profile', 'kind', 'url', 'app_code', 'email'), 'status', { name: 'detail', width: 20 }],
  },
});

const words: Partial<Record<Failure['kind'], string>> = {
  auth: 'refused',
  unavailable: 'unreachable',
  config: 'unusable',
};

async function statusOf(profile: string, open: Candidate['open'], context: Services & Keys, failures: Failure[]) {
  let known: { readonly kind?: string; readonly url?: string } = {};
  try {
    const credential = await open();
    known = { kind: credential.kind, url: urlOf(credential), ...namesOf(credential) };
    await checkCredential(credential, context);
    return { profile, ...known, status: 'ok', detail: credential.read_only ? 'read-only' : null };
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    failures.push(cause);
    return { profile, ...known, status: words[cause.kind] ?? 'failed', detail: context.secrets.clean(cause.message) };
  }
}
