import { ledgerScript, ledgerVersion } from '../../store/ledger/ledger-sql.ts';
import { command } from '../command.ts';

export default command({
  about: [
    'Creates the schema chatelaine in the database that CHATELAINE_LEDGER or the profile names, in one transaction. Running it again changes nothing. ' +
      'If the ledger has a version that this program cannot use, it exits with 3.',
    'The role that runs it needs CREATE on the database, and owns the schema. A role that only uses the ledger needs: ' +
      'GRANT USAGE ON SCHEMA chatelaine TO role; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA chatelaine TO role.',
    'With --dry-run it prints the SQL of a new ledger, so that somebody else can run it.',
  ],
  options: {},
  examples: ['chatelaine ledger init --dry-run'],

  dryRun: ['rows'],

  async run(_values, { options, ledgers }) {
    if (options.dry_run) return { sql: ledgerScript };
    const opened = await ledgers.configured();
    const status = await ledgers.init(opened);
    return { ledger: await opened.name(), version: ledgerVersion, status };
  },

  show: {
    columns: ['ledger', 'version', 'status'],
    text: (row) => ('sql' in row ? row.sql.trimEnd() : `${row.ledger}: ${row.status}`),
  },
});
