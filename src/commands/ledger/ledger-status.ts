import { command } from '../command.ts';

export default command({
  about: [
    'A claim keeps a user for one run: no other run changes the licenses of that user meanwhile. A row for each run and application: host and process id, since when, how many users it holds, and for how many of them a request is ' +
      'recorded that has not ended (sending). active: its connection to the database is open. ended: it is gone, and the next run that ' +
      'wants these users takes over; for those with a request it waits until that will have ended at the latest (until), and --settle more. ' +
      'Users are in the ledger as hashes, which no command shows.',
  ],
  options: {},
  examples: ['chatelaine ledger status'],

  run: async (_values, { ledger }) => (await ledger()).status(),

  result: 'rows',

  show: {
    columns: ['target', 'host', 'pid', 'state', 'since', 'users', 'sending', 'until'],
    untruncated: ['target', 'host'],
    none: 'Nobody holds a claim.',
  },
});
