import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';

export default command({
  about: [
    'A claim reserves a user for one run: no other create, ensure or apply requests a license for that user. Each row is a run in one application: its ' +
      'host and process id, since when it holds users, how many, and for how many of them it has sent a request that has not ended (sending).',
    'A run is active while its connection to the database is open. It is ended when the connection is gone: the next run that needs these users takes over. For users with a request that has not ended, it first waits until ' +
      'the time in the column until, and then for --settle. Users are in the ledger as ' +
      'hashes, which no command shows.',
  ],
  options: {},
  examples: ['chatelaine ledger status'],

  rows: async (_values, { ledgers }) => (await ledgers.configured()).status(),

  show: {
    columns: [...whole('target', 'host'), 'pid', 'state', 'since', 'users', 'sending', 'until'],
    none: 'Nobody holds a claim.',
  },
});
