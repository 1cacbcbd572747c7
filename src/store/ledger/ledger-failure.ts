import { Failure, messageOf, type FailureKind } from '../../core/failure.ts';
import { shellWord } from '../../core/shell-word.ts';
import type { LedgerAddress } from './ledger-address.ts';

interface Meaning {
  readonly kind: FailureKind;
  readonly what: string;
  readonly hint: string;
}

/** What SQLSTATE codes mean; the others, and all failures of the network: the ledger is unavailable. */
function meaningsAt({ name, user, host, port, database }: LedgerAddress): Readonly<Record<string, Meaning>> {
  const notSetUp: Meaning = {
    kind: 'config',
    what: `the database ${name} holds no ledger`,
    hint: 'Create it once: chatelaine ledger init',
  };
  const refused: Meaning = {
    kind: 'auth',
    what: `the ledger ${name} refuses the role ${user}`,
    hint: 'PGPASSWORD or PGPASSFILE has the password, PGUSER or the URL the role.',
  };
  return {
    '28P01': refused,
    '28000': refused,
    '3D000': {
      kind: 'config',
      what: `the database of the ledger ${name} does not exist`,
      hint: `Name another one in CHATELAINE_LEDGER, or create it: createdb --host ${shellWord(host)} --port ${port} ${shellWord(database)}`,
    },
    '3F000': notSetUp,
    '42P01': notSetUp,
    '42883': notSetUp,
    '42501': {
      kind: 'auth',
      what: `the role ${user} has no right to the ledger ${name}`,
      hint: `The owner gives it: GRANT USAGE ON SCHEMA chatelaine TO "${user}"; to create a ledger a role needs CREATE on the database.`,
    },
    [noFunction]: {
      kind: 'auth',
      what: `the role ${user} may not call the functions of the ledger ${name}`,
      hint: `The owner gives the right, after each ledger init: GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA chatelaine TO "${user}";`,
    },
    '53300': {
      kind: 'unavailable',
      what: `the ledger ${name} takes no more connections`,
      hint: 'Each run has one: raise max_connections, or the CONNECTION LIMIT of the role or the database.',
    },
    P0002: {
      kind: 'config',
      what: `the ledger ${name} has lost the row of its own table`,
      hint: 'chatelaine ledger init says what to do.',
    },
    CH001: {
      kind: 'config',
      what: `the ledger ${name} is of an older version`,
      hint: 'Upgrade it, once chatelaine is upgraded on all machines: chatelaine ledger init',
    },
    CH003: {
      kind: 'config',
      what: `the ledger ${name} is of a newer version`,
      hint: 'Upgrade chatelaine on this machine.',
    },
    CH002: {
      kind: 'unavailable',
      what: `the session of this run on the ledger ${name} has ended`,
      hint: 'Run the command again. A pooler in front of the database has to keep one connection for one client (session pooling).',
    },
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
  if (meaning) return new Failure(meaning.kind, `${meaning.what}: ${said}`, { hint: meaning.hint, cause });
  return new Failure('unavailable', `the ledger ${address.name} is not available: ${said}`, {
    hint: 'Without the ledger nothing is created. chatelaine doctor shows what is wrong with it.',
    cause,
  });
}
