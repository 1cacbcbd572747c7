import { Socket } from 'node:net';
import { rootCertificates } from 'node:tls';
import pg from 'pg';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, abortReason, messageOf, orAborted } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { decodeText } from '../../core/read.ts';
import type { Alarm } from '../../core/system.ts';
import { orFailure, readFile } from '../disk/files.ts';
import type { LedgerAddress } from './ledger-address.ts';

export interface Connecting {
  readonly alarm: Alarm;
  /** Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  /** Certificates to trust besides the usual ones (`--ca-file`). */
  readonly caFile: string | undefined;
}

const connectLimit: Milliseconds = 10_000;
const statementLimit: Milliseconds = 30_000;
const closeLimit: Milliseconds = 1000;
/** How long to wait for an answer after Ctrl-C or the deadline. */
const grace: Milliseconds = 1000;

/** @throws Failure unavailable, auth where the role is refused, config for what is missing; the signal's reason */
export async function openDatabase(address: LedgerAddress, connecting: Connecting): Promise<Database> {
  const socket = new Socket();
  const client = new pg.Client(await configOf(address, connecting, socket));
  withoutOptions(client);
  const database = new Database(client, socket, address, connecting);
  await database.connect();
  return database;
}

/** One connection to the database of a ledger. */
export class Database {
  readonly #client: pg.Client;
  readonly #socket: Socket;
  readonly #address: LedgerAddress;
  readonly #connecting: Connecting;
  #lost: Failure | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: pg.Client, socket: Socket, address: LedgerAddress, connecting: Connecting) {
    this.#client = client;
    this.#socket = socket;
    this.#address = address;
    this.#connecting = connecting;
    client.on('error', (cause) => this.#end(cause));
    client.on('end', () => this.#end(new Error('the connection was closed')));
  }

  /** @throws as `openDatabase` */
  async connect(): Promise<void> {
    const { signal } = this.#connecting;
    try {
      await orAborted(this.#limited(connectLimit, this.#client.connect()), signal);
    } catch (cause) {
      this.#socket.destroy();
      throw this.#failureOf(cause);
    }
    this.#socket.setKeepAlive(true, 15_000);
  }

  /**
   * Statements run one after another. `limit`: after so long without an answer the connection is given up. @throws
   * Failure; the signal's reason, and then the statement still runs
   */
  query(text: string, values: readonly unknown[] = [], limit = statementLimit) {
    const { signal, alarm } = this.#connecting;
    const sent = this.#last.then(() => this.#send(text, values, limit));
    this.#last = sent.catch(() => undefined);
    return orAborted(sent, signal).catch((cause: unknown) => {
      if (cause !== signal.reason) throw cause;
      return within(alarm, grace, sent, () => abortReason(signal));
    });
  }

  /** Ends the connection: the server releases what its session holds. */
  async close(): Promise<void> {
    const ending = this.#last.then(() => this.#client.end());
    await this.#limited(closeLimit, ending).catch(() => undefined);
    this.#socket.destroy();
  }

  async #send(text: string, values: readonly unknown[], limit: Milliseconds) {
    if (this.#lost) throw this.#lost;
    try {
      return (await this.#limited(limit, this.#client.query<Record<string, unknown>>(text, [...values]))).rows;
    } catch (cause) {
      throw this.#failureOf(cause);
    }
  }

  /** Gives the connection up if the work takes longer than `limit`. */
  #limited<T>(limit: Milliseconds, work: Promise<T>): Promise<T> {
    return within(this.#connecting.alarm, limit, work, () => {
      const cause = new Error(`it did not answer within ${limit / 1000} s`);
      this.#end(cause);
      return cause;
    });
  }

  #failureOf(cause: unknown): Failure {
    return this.#lost ?? ledgerFailure(this.#address, cause);
  }

  #end(cause: unknown): void {
    this.#lost = this.#failureOf(cause);
    this.#socket.destroy();
  }
}

/** The package sends PGOPTIONS, with which a pooler refuses the connection, and no setting keeps it from that. */
function withoutOptions(client: pg.Client): void {
  const parameters: unknown = Reflect.get(client, 'connectionParameters');
  if (isObject(parameters)) Reflect.deleteProperty(parameters, 'options');
}

/** Waits for work, but not longer than a span of real time: then it rejects with what `late` returns. */
function within<T>(alarm: Alarm, span: Milliseconds, work: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = alarm(span, () => reject(late()));
    void work.then(resolve, reject).finally(cancel);
  });
}

async function configOf(address: LedgerAddress, connecting: Connecting, socket: Socket): Promise<pg.ClientConfig> {
  const { host, port, user, database, password } = address;
  return {
    host,
    port,
    user,
    database,
    application_name: 'chatelaine',
    ssl: await tlsOptions(address, connecting),
    stream: () => socket,
    password() {
      if (password) return password.reveal();
      throw new Failure('config', `the ledger ${address.name} needs a password for ${user}, and none is set`, {
        hint: 'Set PGPASSWORD, or write the password into ~/.pgpass (PGPASSFILE).',
      });
    },
  };
}

async function tlsOptions(
  { tls, rootCertificates: file, extraCertificates: extra }: LedgerAddress,
  { caFile }: Connecting,
): Promise<pg.ClientConfig['ssl']> {
  if (tls === 'none') return false;
  if (tls === 'encrypt') return { rejectUnauthorized: false };
  const files = [file, caFile].filter((one) => one !== undefined);
  // Node's own list contains the extra certificates already.
  const given = files.length === 0 || extra === undefined ? files : [...files, extra];
  const own = await Promise.all(given.map((path) => orFailure(`read the certificates ${path}`, readFile(path))));
  const ca = own.length === 0 ? {} : { ca: [...rootCertificates, ...own.map((text) => decodeText(text))] };
  // Set explicitly: NODE_TLS_REJECT_UNAUTHORIZED=0 changes the default.
  const verified = { ...ca, rejectUnauthorized: true };
  // verify-ca: the certificate is of a trusted authority, for whatever host.
  return tls === 'verify-ca' ? { ...verified, checkServerIdentity: () => undefined } : verified;
}

/** SQLSTATE codes of a role that is refused or has no right, and of what is not there before `ledger init`. */
const refused: ReadonlySet<string> = new Set(['28P01', '28000', '42501']);
const notSetUp: ReadonlySet<string> = new Set(['3D000', '3F000', '42P01', '42883']);

/** What an error of the database or of the network means, and what to do. A Failure is returned unchanged. */
function ledgerFailure({ name, user }: LedgerAddress, cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  const [said, code] = [messageOf(cause), (cause instanceof pg.DatabaseError && cause.code) || ''];
  if (refused.has(code))
    return new Failure('auth', `the ledger ${name} refuses the role ${user}: ${said}`, {
      hint: 'PGPASSWORD or PGPASSFILE has the password, PGUSER or the URL the role. For its rights: chatelaine ledger init --help',
      cause,
    });
  if (notSetUp.has(code))
    return new Failure('config', `the database ${name} holds no ledger: ${said}`, {
      hint: `${code === '3D000' ? 'Create the database (createdb), or ask its administrator to. Then create the ledger' : 'Create it once'}: chatelaine ledger init`,
      cause,
    });
  return new Failure('unavailable', `the ledger ${name} is not available: ${said}`, {
    hint: 'Without the ledger nothing is created. To see what is wrong with it: chatelaine doctor',
    cause,
  });
}
