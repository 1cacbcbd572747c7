import { command } from '../command.ts';

export default command({
  examples: ['chatelaine sandbox reset'],

  dryRun: ['rows'],

  async run(_values, { options, sandbox }) {
    const { file, reset } = sandbox();
    if (!options.dry_run) await reset();
    return { data: file(), status: options.dry_run ? 'would reset' : 'reset' };
  },

  show: {
    columns: ['data', 'status'],
    line: ({ data, status }) =>
      `The sandbox ${status === 'reset' ? 'holds' : 'would hold'} its sample data again (${data})`,
  },
});
