import { command } from '../command.ts';

export default command({
  args: {
    name: { kind: 'string', required: true, placeholder: 'NAME', suggest: 'profiles', help: 'Name of the profile' },
  },
  examples: ['chatelaine auth use prod'],

  dryRun: ['rows'],

  async run({ name }, { accounts, options }) {
    await accounts.profiles().use(name);
    return { profile: name, default: true, status: options.dry_run ? 'would be stored' : 'stored' };
  },

  show: {
    columns: ['profile', 'default', 'status'],
    line: ({ profile, status }) => `Profile ${profile} ${status === 'stored' ? 'is' : 'would be'} the default`,
  },
});
