import { command } from '../command.ts';

export default command({
  examples: ['chatelaine sandbox reset'],

  dryRun: ['rows'],

  async run(_values, { options, sandbox }) {
    if (options.dry_run) return { data: sandbox().file(), status: 'would reset' };
    return { data: await sandbox().reset(), status: 'reset' };
  },

  show: {
    columns: ['data', 'status'],
    line: ({ data, status }) =>
      `The sandbox ${status === 'reset' ? 'holds' : 'would hold'} its sample data again (${data})`,
  },
});
