import { command } from '../command.ts';

export default command({
  name: 'auth use',
  summary: 'Make a profile the default of its kind',
  args: {
    name: { kind: 'string', required: true, placeholder: 'NAME', suggest: 'profiles', help: 'Name of the profile' },
  },
  examples: ['chatelaine auth use prod'],

  async run({ name }, context) {
    await context.profiles().use(name);
    return { profile: name, default: true };
  },

  show: { columns: ['profile', 'default'], line: ({ profile }) => `Profile ${profile} is the default` },
});
