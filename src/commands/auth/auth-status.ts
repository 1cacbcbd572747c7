import { Failure } from '../../core/failure.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import { candidatesOf, profilesArgument } from './account.ts';
import { accountStatus, statusLine } from './account-status.ts';

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
    for (const candidate of tried) {
      const { row, failure } = await accountStatus(candidate, context);
      if (failure) failures.push(failure);
      yield row;
    }
    const worst = failures.find(({ kind }) => kind === 'auth') ?? failures[0];
    if (worst)
      throw new Failure(worst.kind, `${failures.length} of ${tried.length} credentials cannot be used`, {
        ...worst.details,
        hint: undefined,
      });
  },

  show: {
    columns: [
      ...whole('profile', 'kind', 'url', 'app_code', 'email'),
      'default',
      'read_only',
      'key',
      'status',
      { name: 'detail', width: 20 },
      'advice',
    ],
    line: statusLine,
  },
});
