import { createLedgerMemory, nameOf, sqlError, type LedgerConnection } from './ledger-memory.ts';
import { actingProcess, type Process, type World } from './computer.ts';

/** What befalls the database of a ledger, or the way to it. */
export type LedgerFault =
  /** The connection of the `nth` statement of all breaks; `isSilent`: its client hears nothing. */
  | {
      readonly does: 'cut';
      readonly nth: number;
      readonly isCarriedOut: boolean;
      readonly isSilent: boolean;
      /** When the server notices. */
      readonly noticed: number;
    }
  /** The server takes the `nth` connection not at all. */
  | { readonly does: 'full'; readonly nth: number }
  /** A pooler ends its connections, and goes on with others: its clients hear nothing. */
  | { readonly does: 'lend'; readonly at: number }
  /** Ends all connections, and takes new ones after `span`. */
  | { readonly does: 'restart'; readonly at: number; readonly span: number }
  /** The same, and lacks what was committed in the last `lag` milliseconds: a replica took over. */
  | { readonly does: 'failover'; readonly at: number; readonly span: number; readonly lag: number };

/** How the shared ledger of a world is. */
export interface LedgerPlan {
  /** By how much the clock of the database is ahead. */
  readonly clockAhead?: number;
  readonly faults?: readonly LedgerFault[];
}

export interface LedgerServer {
  connect(client: Process): Connection;
  /** How the connection breaks before that statement, or after it, if at all. @throws an error of PostgreSQL */
  statement(connection: Connection, text: string, values: readonly unknown[]): Answered;
  /** From now on nothing breaks. */
  heal(): void;
}

interface Answered {
  readonly rows: readonly Record<string, unknown>[] | undefined;
  readonly cut: 'silent' | 'heard' | undefined;
}

/** Gone within that time after its process; where its computer has lost power, within 30 s (tcp_user_timeout). */
const noticed = { kill: 30, power: 30_000 };

class Connection {
  readonly client: Process;
  /** What the database has for it, which holds its locks. */
  session: LedgerConnection & { isEnded?: boolean };
  readonly #boot: number;
  readonly #slowness: number;
  #closed = Infinity;
  /** Called when the server ends it. */
  onEnd: () => void = () => undefined;

  constructor(client: Process) {
    this.client = client;
    this.#boot = client.computer.boot;
    this.#slowness = client.computer.world.chance.next();
    this.session = this.#newSession();
  }

  #newSession(): Connection['session'] {
    const session: Connection['session'] = { isOpen: () => !session.isEnded && this.isOpen() };
    return session;
  }

  /** The locks of the one before are free. */
  changeSession(): void {
    this.session.isEnded = true;
    this.session = this.#newSession();
  }

  close(at: number): void {
    this.#closed = Math.min(this.#closed, at);
  }

  isOpen(): boolean {
    const { computer, ended } = this.client;
    const isPowerCut = this.#boot !== computer.boot;
    const gone = ended === undefined ? Infinity : ended + (isPowerCut ? noticed.power * this.#slowness : noticed.kill);
    return computer.world.time.now() < Math.min(this.#closed, gone);
  }
}

/** The database in which runs of all computers of a world see one another. */
export function ledgerServer(world: World, { clockAhead = 0, faults = [] }: LedgerPlan): LedgerServer {
  const { time } = world;
  const memory = createLedgerMemory(() => time.now() + clockAhead);
  const connections: Connection[] = [];
  let left = faults;
  let isDown = false;
  const counts = { statement: 0, connection: 0 };
  const faultOf = <D extends LedgerFault['does']>(does: D, nth: number) =>
    left.find(
      (one): one is Extract<LedgerFault, { readonly does: D }> => one.does === does && 'nth' in one && one.nth === nth,
    );

  const end = (span: number): void => {
    for (const connection of connections) {
      connection.close(time.now());
      connection.onEnd();
    }
    isDown = true;
    time.after(span, () => (isDown = false));
  };
  for (const fault of faults) {
    if (fault.does === 'restart')
      time.after(fault.at, () => {
        world.tell('ledger', () => 'RESTART');
        end(fault.span);
      });
    if (fault.does === 'lend')
      time.after(fault.at, () => {
        world.tell('ledger', () => 'THE POOLER CHANGES ITS CONNECTIONS');
        for (const connection of connections) connection.changeSession();
      });
    if (fault.does !== 'failover') continue;
    time.after(Math.max(0, fault.at - fault.lag), () => {
      const committed = memory.copy();
      time.after(Math.min(fault.at, fault.lag), () => {
        world.tell('ledger', () => `A REPLICA TAKES OVER, ${fault.lag} ms behind`);
        memory.restore(committed);
        end(fault.span);
      });
    });
  }

  return {
    connect(client) {
      counts.connection += 1;
      if (isDown) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      if (faultOf('full', counts.connection)) throw sqlError('53300', 'sorry, too many clients already');
      const connection = new Connection(client);
      connections.push(connection);
      return connection;
    },
    statement(connection, text, values) {
      counts.statement += 1;
      if (!connection.isOpen()) return { rows: undefined, cut: 'heard' };
      const cut = faultOf('cut', counts.statement);
      const rows = cut?.isCarriedOut === false ? undefined : memory.query(connection.session, text, values);
      if (cut) {
        world.tell('ledger', () => `the connection of ${connection.client.computer.name} is cut`);
        connection.close(time.now() + cut.noticed);
      }
      return { rows, cut: cut && (cut.isSilent ? 'silent' : 'heard') };
    },
    heal: () => void (left = []),
  };
}

const servers = new WeakMap<World, LedgerServer>();

export function putLedger(world: World, server: LedgerServer): void {
  servers.set(world, server);
}

/**
 * What the program asks of `pg.Client`: `bundle.js` puts this file in the place of that package, so limits of time,
 * the order of statements and failures are those of src/store/ledger/postgres.ts.
 */
class Client {
  #connection: Connection | undefined;
  #isCut = false;
  readonly #listeners = new Map<string, (cause?: unknown) => void>();
  /** Statements whose answers are awaited. */
  readonly #waiting = new Set<(cause: Error) => void>();

  on(event: 'error' | 'end', listener: (cause?: unknown) => void): void {
    this.#listeners.set(event, listener);
  }

  async connect(): Promise<void> {
    const client = actingProcess();
    await this.#exchange('connect', () => {
      const connection = serverOf(client).connect(client);
      connection.onEnd = () => client.later(travel(client), () => this.#break());
      this.#connection = connection;
      return { rows: [], cut: undefined };
    });
  }

  async query(text: string, values: readonly unknown[] = []) {
    const connection = this.#connection;
    const name = nameOf(text);
    if (!connection) throw new Error('not connected');
    const rows = await this.#exchange(name, () => serverOf(connection.client).statement(connection, text, values));
    return { rows };
  }

  async end(): Promise<void> {
    const connection = this.#connection;
    if (!connection) return;
    await this.#exchange('end', () => {
      connection.close(connection.client.computer.world.time.now());
      return { rows: [], cut: undefined };
    });
  }

  /** Sends something, and waits for the answer; once the connection is cut, nothing arrives, and nothing is heard. */
  #exchange(name: string, serve: () => Answered): Promise<NonNullable<Answered['rows']>> {
    const client = actingProcess();
    const { world } = client.computer;
    return new Promise((resolve, reject) => {
      const over = (settle: () => void): void => {
        this.#waiting.delete(reject);
        settle();
      };
      this.#waiting.add(reject);
      void client.call('SQL', name, () => {
        if (this.#isCut) return;
        world.time.after(travel(client), () => {
          const answer = answerOf(serve);
          if (answer instanceof Error) {
            client.later(travel(client), () => over(() => reject(answer)));
            return;
          }
          const { rows, cut } = answer;
          if (cut === 'silent') this.#isCut = true;
          else if (cut === 'heard') client.later(travel(client), () => this.#break());
          else if (rows) client.later(travel(client), () => over(() => resolve(rows)));
        });
      });
    });
  }

  #break(): void {
    this.#isCut = true;
    const cause = new Error('Connection terminated unexpectedly');
    for (const reject of this.#waiting) reject(cause);
    this.#waiting.clear();
    this.#listeners.get('error')?.(cause);
  }
}

function serverOf(client: Process): LedgerServer {
  const server = servers.get(client.computer.world);
  if (!server) throw new Error('the world has no ledger');
  return server;
}

function answerOf(serve: () => Answered): Answered | Error {
  try {
    return serve();
  } catch (cause) {
    return cause instanceof Error ? cause : new Error(String(cause));
  }
}

function travel({ computer }: Process): number {
  return 1 + computer.world.chance.next() * 10;
}

export default { Client, DatabaseError: Error };
