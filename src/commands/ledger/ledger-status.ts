import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';

export default command({
  about: [
    'Each row is a run that is active, or that left open requests: its licensing server, command, host, process id and start. It counts the requests ' +
      'that have not ended (under_way), those without a response (pending), and those that succeeded but whose licenses no list has shown (open).',
    'A run is active while its connection to the database is open. If it is ended, the next run that needs one of its users looks up what became of the ' +
      'requests. Users are in the ledger as hashes, which no command shows.',
  ],
  options: {},
  examples: ['chatelaine ledger status'],

  rows: async (_values, { ledgers }) => (await ledgers.configured()).status(),

  show: {
    columns: [...whole('origin', 'command', 'host'), 'pid', 'state', 'since', 'under_way', 'pending', 'open'],
    none: 'No run is active, and none left an open request.',
  },
});
