import { Failure, messageOf, type FailureKind } from '../../core/failure.ts';
import { shellWord } from '../../core/shell-word.ts';
import type { LedgerAddress } from './ledger-address.ts';

type Meaning = readonly [kind: FailureKind, what: string, hint: string];

/** What SQLSTATE codes mean; the others, and all failures of the network: the ledger is unavailable. */
function meaningsAt({ name, user, host, port, database }: LedgerAddress): Readonly<Record<string, Meaning>> {
  const notSetUp: Meaning = [
    'config',
    `the database ${name} holds no ledger`,
    'Create it once: chatelaine ledger init',
  ];
  const where = `--host ${shellWord(host)} --port ${port} ${shellWord(database)}`;
  const refused: Meaning = [
    'auth',
    `the ledger ${name} refuses the role ${user}`,
    'PGPASSWORD or PGPASSFILE has the password, PGUSER or the URL the role.',
  ];
  return {
    '28P01': refused,
    '28000': refused,
    '3D000': [
      'config',
      `the database of the ledger ${name} does not exist`,
      `Name another one in CHATELAINE_LEDGER, or create it: createdb ${where}`,
    ],
    '3F000': notSetUp,
    '42P01': notSetUp,
    '42883': notSetUp,
    '42501': [
      'auth',
      `the role ${user} has no right to the ledger ${name}`,
      `The owner gives it: GRANT USAGE ON SCHEMA chatelaine TO "${user}"; to create a ledger a role needs CREATE on the database.`,
    ],
    [noFunction]: [
      'auth',
      `the role ${user} may not call the functions of the ledger ${name}`,
      `The owner gives the right, after each ledger init: GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA chatelaine TO "${user}";`,
    ],
    '53300': [
      'unavailable',
      `the ledger ${name} takes no more connections`,
      'Each run has one: raise max_connections, or the CONNECTION LIMIT of the role or the database.',
    ],
    P0002: [
      'config',
      `the ledger ${name} has lost the row of its own table`,
      'chatelaine ledger init says what to do.',
    ],
    CH001: [
      'config',
      `the ledger ${name} is of an older version`,
      'Upgrade it, once chatelaine is upgraded on all machines: chatelaine ledger init',
    ],
    CH003: ['config', `the ledger ${name} is of a newer version`, 'Upgrade chatelaine on this machine.'],
    CH002: [
      'unavailable',
      `the session of this run on the ledger ${name} has ended`,
      'Run the command again. A pooler in front of the database has to keep one connection for one client (session pooling).',
    ],
  };
}

/** A message, since its code is that of every missing permission. */
const noFunction = 'permission denied for function';

/** The SQLSTATE code behind a failure of the ledger. */
export function stateOf(failure: unknown): string | undefined {
  return failure instanceof Failure ? codeIn(failure.cause) : undefined;
}

function codeIn(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
}

/** What an error of the database or of the network means, and what to do. A Failure is returned unchanged. */
export function ledgerFailure(address: LedgerAddress, cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  const said = messageOf(cause);
  const meaning = meaningsAt(address)[said.startsWith(noFunction) ? noFunction : (codeIn(cause) ?? '')];
  const [kind, what, hint] = meaning ?? [
    'unavailable',
    `the ledger ${address.name} is not available`,
    'Without the ledger nothing is created. chatelaine doctor shows what is wrong with it.',
  ];
  return new Failure(kind, `${what}: ${said}`, { hint, cause });
}
