import { isDeepStrictEqual } from 'node:util';
import { once } from '../../core/batch.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { Secret } from '../../core/secret.ts';
import type { Surroundings } from '../lock/lock.ts';
import { isEntry, type HistoryEntry } from '../record/history.ts';
import { hashOf, type WritePlace } from '../record/run-record.ts';
import { ledgerAddress } from './ledger-address.ts';
import { ledgerVersion, schemaSql, statements, type LedgerRow } from './ledger-sql.ts';
import { LedgerWrites, type LedgerState, type RecordedRun } from './ledger-writes.ts';
import { openDatabase, type Connecting, type Database } from './postgres.ts';

interface LedgerHost extends Surroundings, Connecting {
  /** Remembers the password of the database as a secret. */
  readonly watch: (secret: Secret) => Secret;
}

/**
 * The database that several machines share, by its URL (docs/exactly-once.md, The shared ledger): one connection of a
 * run, made when it is first used. Each method @throws Failure unavailable, auth or config, and the signal's reason.
 */
export class Ledger {
  readonly #host: LedgerHost;
  readonly #address: () => ReturnType<typeof ledgerAddress>;
  /** Prepares the connection of a run that writes, and reads the ledger's state. */
  readonly #state: () => Promise<LedgerState>;
  /** The records of this run, by licensing server. */
  readonly #writes = new Map<string, LedgerWrites>();
  #opened: Promise<Database> | undefined;

  constructor(url: string, host: LedgerHost) {
    this.#host = host;
    this.#address = once(() => ledgerAddress(url, host.system));
    this.#state = once(async () => {
      await this.#current();
      await this.#ask(statements.enter);
      return this.#current();
    });
  }

  /** The address in words: `db.example.com/ledger`. */
  async name(): Promise<string> {
    return (await this.#address()).name;
  }

  /** Opens the record of one licensing server, with the writes of all machines. */
  async writes(origin: string, run: RecordedRun): Promise<WritePlace> {
    const ask = this.#ask.bind(this);
    const writes = new LedgerWrites(ask, await this.#state(), origin, run, this.#host, this.#host.alarm);
    await writes.open();
    this.#writes.set(origin, writes);
    return writes;
  }

  /** Adds an entry, without names, to the history that machines share, if this run writes at its server. */
  async tell({ remote_user, remote_user_before: before, ...rest }: HistoryEntry): Promise<void> {
    const { salt } = await this.#state();
    const names = before === undefined ? [remote_user] : [remote_user, before];
    // Null replaces the name by which the row is found, and ? the other one.
    const entries = names.map((user) => {
      const other = before === undefined ? {} : { remote_user_before: user === before ? null : '?' };
      const entry = { ...rest, remote_user: user === remote_user ? null : '?', ...other };
      return { exact: hashOf(`${salt} ${user}`), entry };
    });
    await this.#writes.get(rest.origin)?.tell(entries);
  }

  /** The shared history of a user, oldest first; for `origin` as it was when this run locked the user. */
  async entries(user: string, origin?: string): Promise<HistoryEntry[]> {
    const { salt } = await (this.#writes.size > 0 ? this.#state() : this.#current());
    const exact = hashOf(`${salt} ${user}`);
    const atLock = this.#writes.get(origin ?? '')?.entriesAtLock(exact);
    const stored = atLock ?? (await this.#ask(statements.told, [exact])).map(({ entry }) => entry);
    return stored.flatMap((entry) => {
      if (!isObject(entry)) return [];
      const named = Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, value ?? user]));
      return isEntry(named, 'remote_user') ? [named] : [];
    });
  }

  /** Creates the tables. @throws Failure config where tables of another version exist */
  async init(): Promise<'created' | 'unchanged'> {
    try {
      await this.#ask(schemaSql);
      return 'created';
    } catch (cause) {
      const [found] = await this.#ask(`SELECT to_regclass('chatelaine.ledger') IS NOT NULL AS is_there`);
      if (found?.['is_there'] !== true) throw cause;
    }
    await this.#current();
    return 'unchanged';
  }

  /** The runs that are active, or have left writes. */
  async status(): Promise<readonly LedgerRow[]> {
    await this.#current();
    return this.#ask(statements.status);
  }

  /** @throws Failure config for no ledger, another version or a wrong pooler */
  async examine(): Promise<void> {
    await this.#current();
    const other = await this.#connect();
    try {
      const own = await (this.#opened ??= this.#connect());
      await refusePooler(await this.name(), [own, other]);
    } finally {
      await other.close();
    }
  }

  async close(): Promise<void> {
    await (await this.#opened?.catch(() => undefined))?.close();
  }

  async #connect(): Promise<Database> {
    const { password, ...place } = await this.#address();
    return openDatabase({ ...place, password: password && this.#host.watch(password) }, this.#host);
  }

  async #ask(text: string, values: readonly unknown[] = [], limit?: Milliseconds): Promise<readonly LedgerRow[]> {
    return (await (this.#opened ??= this.#connect())).query(text, values, limit);
  }

  async #current(): Promise<LedgerState> {
    return stateIn((await this.#ask(statements.about))[0]);
  }
}

/** Reads the ledger's state from its row. @throws Failure config for another version */
export function stateIn({ version, salt, age }: LedgerRow = {}): LedgerState {
  if (version === ledgerVersion && Buffer.isBuffer(salt)) return { salt: salt.toString('hex'), age: Number(age) };
  const is = `the ledger has version ${String(version)}, and this chatelaine needs ${ledgerVersion}`;
  throw new Failure('config', is, {
    hint:
      Number(version) > ledgerVersion
        ? 'Upgrade chatelaine on this machine.'
        : 'Once chatelaine is upgraded on all machines, and no run is working, DROP SCHEMA chatelaine CASCADE, then: chatelaine ledger init',
  });
}

/** Session pooling keeps a server process for each client; transaction pooling lends one to several in turn. */
async function refusePooler(name: string, clients: readonly Database[]): Promise<void> {
  const seen: unknown[] = [];
  for (const client of [...clients, ...clients])
    seen.push((await client.query('SELECT pg_backend_pid() AS pid'))[0]?.['pid']);
  const [first, second, ...again] = seen;
  if (first !== second && isDeepStrictEqual(again, [first, second])) return;
  throw new Failure('config', `a pooler in front of the ledger ${name} changes connections between statements`, {
    hint: 'A lock belongs to one connection: set session pooling for this database (pool_mode = session), or connect without the pooler.',
  });
}
