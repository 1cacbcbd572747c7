import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';

export default command({
  about: [
    'Each row is a run that works, or has left something: its licensing server, command, host and process id, and since when it runs. It counts the requests ' +
      'that have not ended (under_way), those without an answer (pending), and answered requests whose licenses no list has shown (open).',
    'A run is active while its connection to the database is open. If it is ended, the next run that needs one of its users looks up what became of the ' +
      'requests. Users are in the ledger as hashes, which no command shows.',
  ],
  options: {},
  examples: ['chatelaine ledger status'],

  rows: async (_values, { ledgers }) => (await ledgers.configured()).status(),

  show: {
    columns: [...whole('origin', 'command', 'host'), 'pid', 'state', 'since', 'under_way', 'pending', 'open'],
    none: 'No run works, and none has left anything.',
  },
});
