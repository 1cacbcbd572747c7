import type { Chapter } from './roff.ts';

/** How several machines share their claims, and what they need for it. */
export function ledgerChapters(): Chapter[] {
  return [severalMachines(), connecting(), recipes()];
}

/** What a ledger promises. */
export function severalMachines(): Chapter {
  return {
    title: 'SEVERAL MACHINES',
    blocks: [
      {
        text:
          'Without a ledger, runs on one machine do not create licenses of the same user at the same time, and several machines do not ' +
          'see each other. With one, license create, ensure and apply of every machine that is configured with the same ledger see each ' +
          'other. license apply of one roster, started on three machines, shares its rows among them.',
      },
      {
        text: 'A run that uses the ledger also sees the runs on its own machine that do not. The embedded sandbox uses no ledger.',
      },
      {
        text:
          'Every machine has to be configured with the ledger, and name the licensing server by the same URL. A ledger that cannot be ' +
          'reached is exit code 7, and nothing is created: no run continues without it. Where the connection is lost in the middle, no ' +
          'further license is asked for: exit code 8, or 9 where a request is unconfirmed; the same command resumes.',
      },
      {
        text:
          'A run that is killed leaves its users free. Where it had recorded a request without its end, the next run waits until the ' +
          'time limit of that request (--timeout) and --settle are over, and lists before it creates.',
      },
    ],
  };
}

function connecting(): Chapter {
  return {
    title: 'CONNECTING',
    blocks: [
      {
        text:
          'PostgreSQL 13 or newer. The URL is CHATELAINE_LEDGER, or the ledger of the profile (auth login licensing --ledger URL): ' +
          'postgres://ROLE@HOST:PORT/DATABASE, with the parameters host (the folder of a unix socket), port, user, dbname, service, ' +
          'sslmode and sslrootcert. It holds no password: PGPASSWORD, the file of PGPASSFILE (~/.pgpass, mode 0600) or the service of ' +
          'PGSERVICE (~/.pg_service.conf) has it. What the URL leaves out comes from the service, then from PGHOST, PGPORT, PGUSER, ' +
          'PGDATABASE, PGSSLMODE and PGSSLROOTCERT. CHATELAINE_LEDGER that is set and empty is exit code 3.',
      },
      {
        text:
          'Beyond this machine TLS is verify-full: the certificate is of a trusted authority and of that host. sslmode=verify-ca, ' +
          'require (encrypted, not verified; verify-ca where sslrootcert or ~/.postgresql/root.crt is there) and disable say otherwise; ' +
          'allow and prefer are refused. --ca-file, sslrootcert and NODE_EXTRA_CA_CERTS name further authorities. ' +
          'NODE_TLS_REJECT_UNAUTHORIZED=0 beyond this machine is exit code 3.',
      },
      {
        text:
          'The connection stays open for the whole run. A pooler in between has to keep one server connection for one client (session ' +
          'pooling). The database must not lose what it has committed: no failover to a replica that lags behind.',
      },
    ],
  };
}

function recipes(): Chapter {
  return {
    title: 'RECIPES',
    blocks: [
      { heading: 'Trying it, with a container' },
      {
        lines: ['docker run -d -p 127.0.0.1:5432:5432 -e POSTGRES_HOST_AUTH_METHOD=trust postgres:16'],
      },
      {
        commands: ['export CHATELAINE_LEDGER=postgres://postgres@localhost/postgres; chatelaine ledger init'],
      },
      { heading: 'A role that can use the ledger and nothing else' },
      {
        commands: [
          'createdb ledger && createuser runner',
          'CHATELAINE_LEDGER=postgres:///ledger?host=/run/postgresql chatelaine ledger init',
          'psql ledger -c "GRANT USAGE ON SCHEMA chatelaine TO runner"',
        ],
      },
      { heading: 'GitHub Actions' },
      { text: 'Jobs share a database that outlives them; three of them share one roster:' },
      {
        workflow: 'github',
        lines: [
          'jobs:',
          '  licenses:',
          '    runs-on: ubuntu-latest',
          '    strategy: { matrix: { runner: [1, 2, 3] } }',
          '    env:',
          '      CHATELAINE_LEDGER: postgres://runner@db.example.com/ledger',
          '      PGPASSWORD: ${{ secrets.LEDGER_PASSWORD }}',
          '      CHATELAINE_BASE_URL: https://licenses.example.com',
          "      CHATELAINE_APP_CODE: '4711'",
          '      CHATELAINE_API_KEY: ${{ secrets.LICENSING_KEY }}',
          '    steps:',
          '      - uses: actions/checkout@v4',
          '      # Install chatelaine here: its tarball or its Debian package.',
          '      - run: chatelaine license apply roster.csv',
        ],
      },
      {
        text: 'A service container belongs to one job. It shows that the set-up works, and shares nothing with other jobs:',
      },
      {
        workflow: 'github',
        lines: [
          'jobs:',
          '  try-ledger:',
          '    runs-on: ubuntu-latest',
          '    services:',
          '      postgres:',
          '        image: postgres:16',
          '        env: { POSTGRES_HOST_AUTH_METHOD: trust }',
          "        ports: ['5432:5432']",
          '        options: --health-cmd pg_isready --health-interval 2s',
          '    env:',
          '      CHATELAINE_LEDGER: postgres://postgres@localhost/postgres',
          '    steps:',
          '      # Install chatelaine here.',
          '      - run: chatelaine ledger init',
          '      - run: chatelaine ledger status',
        ],
      },
      { heading: 'GitLab' },
      { text: 'PGPASSWORD and CHATELAINE_API_KEY are masked variables of the project:' },
      {
        workflow: 'gitlab',
        lines: [
          'licenses:',
          '  parallel: 3',
          '  variables:',
          '    CHATELAINE_LEDGER: postgres://runner@db.example.com/ledger',
          '    CHATELAINE_BASE_URL: https://licenses.example.com',
          "    CHATELAINE_APP_CODE: '4711'",
          '  script:',
          '    - chatelaine license apply roster.csv',
        ],
      },
      { text: 'With a service, which belongs to one job too, and speaks no TLS:' },
      {
        workflow: 'gitlab',
        lines: [
          'try-ledger:',
          '  services: [{ name: postgres:16, alias: db }]',
          '  variables:',
          '    POSTGRES_HOST_AUTH_METHOD: trust',
          '    CHATELAINE_LEDGER: postgres://postgres@db/postgres?sslmode=disable',
          '  script:',
          '    - chatelaine ledger init',
          '    - chatelaine ledger status',
        ],
      },
    ],
  };
}
