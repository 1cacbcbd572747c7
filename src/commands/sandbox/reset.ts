import { command } from '../command.ts';

export default command({
  name: 'sandbox reset',
  summary: "Put the embedded sandbox's sample data back",
  examples: ['chatelaine sandbox reset'],

  run: async (_values, context) => ({ data: await context.sandbox().reset(), status: 'reset' }),

  show: { columns: ['data', 'status'], line: ({ data }) => `The sandbox holds its sample data again (${data})` },
});
