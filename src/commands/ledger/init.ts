import { ledgerVersion, upgradeScript } from '../../store/ledger/ledger-steps.ts';
import { command } from '../command.ts';

export default command({
  about: [
    'Creates the schema chatelaine in the database that CHATELAINE_LEDGER or the profile names, or upgrades an older one to the ' +
      'version of this program, in one transaction. Repeated, it changes nothing. If the ledger is newer than this program, the exit code is 3: upgrade ' +
      'chatelaine. Commands of an older chatelaine that are running stop before their next request (exit code 8).',
    'The role that runs it needs CREATE on the database, and owns the schema; a role that only uses the ledger needs USAGE on the schema, ' +
      'which the owner gives: GRANT USAGE ON SCHEMA chatelaine TO role.',
    'With --dry-run it prints the SQL, so that somebody else can run it: for the configured ledger, or for a new one if none is ' +
      'configured.',
  ],
  options: {},
  examples: ['chatelaine ledger init --dry-run'],

  dryRun: ['rows'],

  async run(_values, { options, ledgers }) {
    if (options.dry_run) {
      const ledger = await ledgers.any();
      return { sql: ledger ? await ledger.plan() : upgradeScript(0) };
    }
    const opened = await ledgers.configured();
    const status = await opened.init();
    return { ledger: await opened.name(), version: ledgerVersion, status };
  },

  show: {
    columns: ['ledger', 'version', 'status'],
    text: (row) => ('sql' in row ? row.sql.trimEnd() : `${row.ledger}: ${row.status}`),
  },
});
