import { command } from '../command.ts';

export default command({
  args: {
    name: { kind: 'string', required: true, placeholder: 'NAME', suggest: 'profiles', help: 'Name of the profile' },
  },
  examples: ['chatelaine auth logout old'],

  dryRun: ['rows'],

  async run({ name }, { profiles, options }) {
    await profiles().remove(name);
    return { profile: name, status: options.dry_run ? 'would be removed' : 'removed' };
  },

  show: {
    columns: ['profile', 'status'],
    line: ({ profile, status }) => `Profile ${profile} ${status === 'removed' ? 'is' : 'would be'} forgotten`,
  },
});
