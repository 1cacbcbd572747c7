import { command } from '../command.ts';

export default command({
  name: 'auth logout',
  summary: 'Forget a profile and its key',
  args: {
    name: { kind: 'string', required: true, placeholder: 'NAME', suggest: 'profiles', help: 'Name of the profile' },
  },
  examples: ['chatelaine auth logout old'],

  plans: true,

  async run({ name }, { profiles, options }) {
    await profiles().remove(name);
    return { profile: name, status: options.dry_run ? 'would be removed' : 'removed' };
  },

  show: {
    columns: ['profile', 'status'],
    line: ({ profile, status }) => `Profile ${profile} ${status === 'removed' ? 'is' : 'would be'} forgotten`,
  },
});
