import { isDeepStrictEqual } from 'node:util';
import { batched } from '../../core/batch.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import type { Alarm } from '../../core/system.ts';
import type { Surroundings } from '../lock/lock.ts';
import type { HistoryEntry } from '../record/history.ts';
import type { WritePlace } from '../record/writes.ts';
import { ledgerAddress, type LedgerAddress } from './ledger-address.ts';
import { entryIn, saltedHash, stateIn, type LedgerRow, type LedgerState, type RecordedRun } from './ledger-rows.ts';
import { ledgerVersion, lockSchemaSql, schemaSql, statements } from './ledger-sql.ts';
import { LedgerWrites, type Ask } from './ledger-writes.ts';
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
  /** Where this run writes at each server. */
  readonly #writes = new Map<string, LedgerWrites>();
  readonly #read: (asked: AskedUser) => Promise<void>;
  #found: Promise<LedgerAddress> | undefined;
  #opened: Promise<Database> | undefined;
  #state: Promise<LedgerState> | undefined;

  constructor(url: string, host: LedgerHost) {
    this.#url = url;
    this.#host = host;
    this.#read = batched((asked) => this.#readTold(asked));
  }

  /** The address in words: `db.example.com/ledger`. */
  async name(): Promise<string> {
    return (await this.#address()).name;
  }

  /** Where a run sees the writes of all machines to one licensing server. */
  async writes(origin: string, run: RecordedRun): Promise<WritePlace> {
    const state = await (this.#state ??= this.#open());
    const writes = new LedgerWrites(this.#ask, state, origin, run, this.#host);
    await writes.open();
    this.#writes.set(origin, writes);
    return writes;
  }

  /** Adds to the history that machines share, if this run writes at that server: without names. */
  async tell({ remote_user, remote_user_before: before, ...rest }: HistoryEntry): Promise<void> {
    const writes = this.#writes.get(rest.origin);
    if (!writes) return;
    const names = before === undefined ? [remote_user] : [remote_user, before];
    const salt = await this.#salt();
    // Null is in the place of the name that the row is found by, and ? in that of the other one.
    const entries = names.map((user) => {
      const other = before === undefined ? {} : { remote_user_before: user === before ? null : '?' };
      return {
        exact: saltedHash(salt, user),
        entry: { ...rest, remote_user: user === remote_user ? null : '?', ...other },
      };
    });
    await writes.tell(entries);
  }

  /** What runs of all machines did for a user, the oldest first. */
  async told(user: string): Promise<HistoryEntry[]> {
    const exact = saltedHash(await this.#salt(), user);
    const asked: AskedUser = { exact, entries: undefined };
    for (const writes of this.#writes.values()) asked.entries ??= writes.freshlyTold(exact);
    if (!asked.entries) await this.#read(asked);
    return (asked.entries ?? []).flatMap((entry) => entryIn(entry, user));
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

  /** Runs that work, or have left something. */
  async status(): Promise<readonly LedgerRow[]> {
    await this.#current();
    return this.#ask(statements.status, []);
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

  async #salt(): Promise<Buffer> {
    return (await (this.#state ?? this.#current())).salt;
  }

  async #readTold(asked: readonly AskedUser[]): Promise<void> {
    const rows = await this.#ask(statements.told, [asked.map(({ exact }) => exact)]);
    for (const [index, one] of asked.entries())
      one.entries = rows.flatMap(({ at, entry }) => (Number(at) === index + 1 ? [entry] : []));
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

  /** Prepares the connection of a run that writes. */
  async #open(): Promise<LedgerState> {
    await this.#current();
    await this.#ask(statements.enter, []);
    return this.#current();
  }

  async #current(): Promise<LedgerState> {
    const [row] = await this.#ask(statements.about, []);
    return stateIn(row);
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

interface AskedUser {
  readonly exact: string;
  entries: readonly unknown[] | undefined;
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
