import { isDeepStrictEqual } from 'node:util';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import type { Alarm } from '../../core/system.ts';
import type { Surroundings } from '../lock/lock.ts';
import type { WritePlace } from '../record/writes.ts';
import { ledgerAddress, type LedgerAddress } from './ledger-address.ts';
import { LedgerHistory } from './ledger-history.ts';
import { stateIn, type LedgerRow, type LedgerState, type RecordedRun } from './ledger-rows.ts';
import { ledgerVersion, lockSchemaSql, schemaSql, statements } from './ledger-sql.ts';
import { ledgerWrites, type Ask } from './ledger-writes.ts';
import { openDatabase, stateOf, type Database } from './postgres.ts';

interface LedgerHost extends Surroundings {
  readonly alarm: Alarm;
  readonly signal: AbortSignal;
  readonly caFile: string | undefined;
  /** Remembers the password of the database as a secret. */
  readonly watch: (secret: Secret) => Secret;
}

/** How long an answer is waited for after Ctrl-C or the deadline. */
const grace: Milliseconds = 1000;
const longestWait: Milliseconds = 300_000;
const longestPause: Milliseconds = 2000;

const noConnectionLeft = '53300';
/** A deadlock, and a conflict under the isolation of the role: the transaction was undone as a whole. */
const undone: readonly (string | undefined)[] = ['40P01', '40001'];
const mostRepeats = 10;

/**
 * The database that several machines share, by its URL (docs/exactly-once.md, The shared ledger): one connection of a
 * run, made when it is first used. Each method @throws Failure unavailable, auth or config, and the signal's reason.
 */
export class Ledger {
  readonly #url: string;
  readonly #host: LedgerHost;
  readonly history: LedgerHistory;
  #found: Promise<LedgerAddress> | undefined;
  #opened: Promise<Database> | undefined;
  #state: Promise<LedgerState> | undefined;

  constructor(url: string, host: LedgerHost) {
    this.#url = url;
    this.#host = host;
    this.history = new LedgerHistory(this.#ask, async () => (await (this.#state ?? this.#current())).salt);
  }

  /** The address in words: `db.example.com/ledger`. */
  async name(): Promise<string> {
    return (await this.#address()).name;
  }

  /** Where a run sees the writes of all machines to one licensing server. */
  async writes(origin: string, run: RecordedRun): Promise<WritePlace> {
    await this.#whileFull(run.note);
    const state = await (this.#state ??= this.#open());
    return ledgerWrites(this.#ask, state, origin, run, this.#host);
  }

  /** Creates the tables. @throws Failure config where there are those of another version */
  async init(): Promise<'created' | 'unchanged'> {
    await this.#ask('BEGIN', []);
    try {
      await this.#ask(lockSchemaSql, []);
      const isThere = await this.#isThere();
      if (!isThere) await this.#ask(schemaSql, []);
      await this.#ask('COMMIT', []);
      return isThere ? 'unchanged' : 'created';
    } catch (cause) {
      if (cause instanceof Failure && !cause.isInterruption) await this.#ask('ROLLBACK', []).catch(() => undefined);
      throw cause;
    }
  }

  /** The SQL that `init` would run. */
  async plan(): Promise<string> {
    return (await this.#isThere())
      ? `-- The ledger has version ${ledgerVersion}: nothing is to be done.\n`
      : ledgerScript;
  }

  async status() {
    await this.#current();
    return (await this.#ask(statements.status, [])).map(runIn);
  }

  /** @throws Failure config for no ledger, another version, or a pooler that changes connections in between */
  async examine(): Promise<void> {
    await this.#current();
    const other = await this.#connect();
    try {
      await refusePooler(await this.name(), [await this.#connection(), other], this.#host.signal);
    } finally {
      await other.close();
    }
  }

  async close(): Promise<void> {
    await (await this.#opened?.catch(() => undefined))?.close();
  }

  #address(): Promise<LedgerAddress> {
    return (this.#found ??= ledgerAddress(this.#url, this.#host.system));
  }

  async #connect(): Promise<Database> {
    const { password, ...place } = await this.#address();
    return openDatabase({ ...place, password: password && this.#host.watch(password) }, this.#host);
  }

  async #connection(): Promise<Database> {
    try {
      return await (this.#opened ??= this.#connect());
    } catch (cause) {
      this.#opened = undefined;
      throw cause;
    }
  }

  readonly #ask: Ask = async (text, values, limit) => {
    const { signal, clock } = this.#host;
    const database = await this.#connection();
    for (let repeats = 0; ; repeats += 1)
      try {
        return await database.query(text, values, { signal, grace, ...(limit !== undefined && { limit }) });
      } catch (cause) {
        if (repeats === mostRepeats || !undone.includes(stateOf(cause))) throw cause;
        await clock.sleep(20 * (repeats + 1) * clock.random());
      }
  };

  /** Each run has a connection of its own: where the server takes no more, one is free when another run ends. */
  async #whileFull(note: RecordedRun['note']): Promise<void> {
    const { clock, signal } = this.#host;
    const end = clock.elapsed() + longestWait;
    for (let round = 0; ; round += 1)
      try {
        await this.#connection();
        return;
      } catch (cause) {
        if (!(cause instanceof Failure) || stateOf(cause) !== noConnectionLeft || clock.elapsed() > end) throw cause;
        if (round === 0) note(`${cause.message}; waiting for a free one`);
        await clock.sleep(Math.min(200 * (round + 1), longestPause) * (0.5 + clock.random()), signal);
      }
  }

  /** Prepares the connection of a run that writes. */
  async #open(): Promise<LedgerState> {
    await this.#current();
    await this.#ask(statements.settings, []);
    await this.#ask(statements.moved, []);
    return this.#current();
  }

  async #current(): Promise<LedgerState> {
    const [row] = await this.#ask(statements.about, []);
    return refuseOtherVersion(row);
  }

  async #isThere(): Promise<boolean> {
    const [row] = await this.#ask(`SELECT to_regclass('chatelaine.ledger') IS NOT NULL AS is_there`, []);
    if (row?.['is_there'] !== true) return false;
    await this.#current();
    return true;
  }
}

/** The SQL of a new ledger, to run by hand. */
export const ledgerScript = `BEGIN;\n${lockSchemaSql};\n${schemaSql}COMMIT;\n`;

/** @throws Failure config */
function refuseOtherVersion(row: LedgerRow | undefined): LedgerState {
  const { version, ...state } = stateIn(row);
  if (version === ledgerVersion) return state;
  const is = `the ledger has version ${version}, and this chatelaine needs ${ledgerVersion}`;
  throw new Failure('config', is, {
    hint:
      version > ledgerVersion
        ? 'Upgrade chatelaine on this machine.'
        : 'Once chatelaine is upgraded on all machines, and no run is working: DROP SCHEMA chatelaine CASCADE, then chatelaine ledger init.',
  });
}

/** Session pooling keeps a server process for each client; transaction pooling lends one to several in turn. */
async function refusePooler(name: string, clients: readonly Database[], signal: AbortSignal): Promise<void> {
  const seen: unknown[] = [];
  for (const client of [...clients, ...clients])
    seen.push((await client.query('SELECT pg_backend_pid() AS pid', [], { signal }))[0]?.['pid']);
  const [first, second, ...again] = seen;
  if (first !== second && isDeepStrictEqual(again, [first, second])) return;
  throw new Failure('config', `a pooler in front of the ledger ${name} changes connections between statements`, {
    hint: 'A lock belongs to one connection: set session pooling for this database (pool_mode = session), or connect without the pooler.',
  });
}

function runIn({ origin, command, host, pid, is_active, since, under_way, pending, open }: LedgerRow) {
  return {
    /** The licensing server. */
    origin: String(origin),
    command: String(command),
    host: String(host),
    pid: Number(pid),
    /** `ended`: the connection is gone; the next run settles what this one left. */
    state: is_active === true ? 'active' : 'ended',
    /** When the run began, RFC 3339. */
    since: since instanceof Date ? since.toISOString() : '',
    /** Requests that have not ended. */
    under_way: Number(under_way),
    /** Requests without an answer. */
    pending: Number(pending),
    /** Answered requests whose licenses no list has shown. */
    open: Number(open),
  };
}
