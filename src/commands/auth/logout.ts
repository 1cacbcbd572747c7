import { usage } from '../../core/failure.ts';
import { flagField } from '../../schema/field.ts';
import { command } from '../command.ts';
import type { Accounts, Invocation, Terminal } from '../context.ts';

export default command({
  about: ['Forgets keys on this machine only. If somebody else may have a key, revoke it at its service too.'],
  args: { name: { kind: 'string', placeholder: 'NAME', suggest: 'profiles', help: 'Name of the profile' } },
  options: { all: flagField('Every profile; asks first, and needs --yes where nobody can be asked') },
  examples: ['chatelaine auth logout old'],

  rules: [{ oneOf: ['name', 'all'], say: 'give the NAME of one profile, or --all' }],

  dryRun: ['rows'],

  run({ name }, context) {
    return name === undefined ? everyProfile(context) : forgotten(name, context);
  },

  show: {
    columns: ['profile', 'status'],
    none: 'No profile is stored.',
    line: ({ profile, status }) => `Profile ${profile} ${status === 'removed' ? 'is' : 'would be'} forgotten`,
  },
});

type Forgetting = Pick<Accounts, 'accounts'> & Pick<Invocation, 'options'> & Pick<Terminal, 'interactive' | 'confirm'>;

async function forgotten(profile: string, { accounts: { profiles }, options }: Forgetting) {
  await profiles().remove([profile]);
  return { profile, status: options.dry_run ? 'would be removed' : 'removed' };
}

/** @throws Failure usage where nobody can be asked, and --yes is not typed */
async function everyProfile({ accounts: { profiles }, options, interactive, confirm }: Forgetting) {
  const names = await profiles().names();
  if (names.length > 0 && !options.dry_run && !options.yes) {
    if (!interactive()) throw usage('auth logout --all needs --yes: nothing was forgotten');
    await confirm(`Forget every profile and its key: ${names.join(', ')}?`);
  }
  await profiles().remove(names);
  return names.map((profile) => ({ profile, status: options.dry_run ? 'would be removed' : 'removed' }));
}
