import { usage } from '../../core/failure.ts';
import { flagField } from '../../schema/field.ts';
import { command } from '../command.ts';

export default command({
  about: ['Forgets keys on this machine only. If somebody else may have a key, revoke it at its service too.'],
  args: { name: { kind: 'string', placeholder: 'NAME', suggest: 'profiles', help: 'Name of the profile' } },
  options: { all: flagField('Forget every profile; asks first, and needs --yes without a terminal') },
  examples: ['chatelaine auth logout old'],

  rules: [{ oneOf: ['name', 'all'], say: 'give the NAME of one profile, or --all' }],

  dryRun: ['rows'],

  async run({ name }, { accounts: { profiles }, options, terminal, confirm }) {
    let names: readonly string[] = name === undefined ? await profiles().names() : [name];
    if (name === undefined && names.length > 0 && !options.dry_run && !options.yes) {
      if (!terminal.canAsk()) throw usage('auth logout --all needs --yes: nothing was forgotten');
      await confirm(`Forget every profile and its key: ${names.join(', ')}?`);
    }
    // With --yes nobody agreed to a list of names, so --all includes a profile that was stored meanwhile.
    await profiles().remove((stored) => (names = name === undefined && options.yes ? stored : names));
    const row = (profile: string) => ({ profile, status: options.dry_run ? 'would be removed' : 'removed' });
    return name === undefined ? names.map(row) : row(name);
  },

  show: {
    columns: ['profile', 'status'],
    none: 'No profile is stored.',
    line: ({ profile, status }) => `Profile ${profile} ${status === 'removed' ? 'is' : 'would be'} forgotten`,
  },
});
