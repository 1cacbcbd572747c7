import { ledgerSql, ledgerVersion } from '../../store/ledger/ledger-sql.ts';
import { command } from '../command.ts';

export default command({
  name: 'ledger init',
  summary: 'Create the shared ledger in a PostgreSQL database',
  about: [
    'Creates the schema chatelaine in the database of CHATELAINE_LEDGER, or of the ledger of the profile, in one transaction. Run again, ' +
      'it changes nothing. The role that runs it needs CREATE on the database, and owns the schema; a role that only uses the ledger ' +
      'needs USAGE on the schema, which the owner gives: GRANT USAGE ON SCHEMA chatelaine TO role.',
    'With --dry-run it prints the SQL, for a database whose schema somebody else creates: nothing is connected.',
  ],
  options: {},
  examples: ['chatelaine ledger init --dry-run'],

  plans: true,

  async run(_values, { options, ledger }) {
    if (options.dry_run) return { sql: ledgerSql };
    const opened = await ledger();
    const status = await opened.init();
    return { ledger: await opened.name(), version: ledgerVersion, status };
  },

  show: {
    columns: ['ledger', 'version', 'status'],
    quiet: (row) => ('sql' in row ? row.sql.trimEnd() : `${row.ledger}: ${row.status}`),
    alwaysQuiet: true,
  },
});
