import { command } from '../command.ts';

export default command({
  name: 'auth logout',
  summary: 'Forget a profile and its key',
  args: {
    name: { kind: 'string', required: true, placeholder: 'NAME', suggest: 'profiles', help: 'Name of the profile' },
  },
  examples: ['chatelaine auth logout old'],

  async run({ name }, context) {
    await context.profiles().remove(name);
    return { profile: name, status: 'removed' };
  },

  show: { columns: ['profile', 'status'], line: ({ profile }) => `Profile ${profile} is forgotten` },
});
