import { ledgerVersion, statements } from '../../src/store/ledger/ledger-sql.ts';

/**
 * A ledger in memory: what the statements of src/store/ledger/ledger-sql.ts do, written a second time. Each statement
 * is one step, so no two of them meet. test/store/ledger/ledger-memory.test.ts holds both to the same answers.
 */
export interface LedgerMemory {
  /** Does what a statement says, over that connection. @throws an Error with the SQLSTATE code of PostgreSQL */
  query(connection: LedgerConnection, text: string, values: readonly unknown[]): readonly Row[];
  /** All that is committed, to be put back later: then the ledger is at another place. */
  copy(): Committed;
  restore(committed: Committed): void;
}

/** The other end of a client's connection, which holds locks while it is open. */
export interface LedgerConnection {
  isOpen(): boolean;
}

type Row = Readonly<Record<string, unknown>>;
type StatementName = keyof typeof statements;

interface Run {
  readonly key: string;
  readonly token: string;
  readonly origin: string;
  readonly name: string;
  readonly command: string;
  readonly host: string;
  readonly pid: number;
  readonly limit: number;
  readonly since: number;
}

interface Line {
  readonly seq: number;
  readonly run: string;
  readonly number: number;
  readonly at: number;
  readonly line: unknown;
}

interface NewLine {
  readonly number: number;
  readonly line: unknown;
  readonly keys?: readonly string[];
  readonly latest?: number;
}

interface ToldRow {
  readonly exact: string;
  readonly entry: unknown;
}

interface Committed {
  readonly lines: readonly Line[];
  readonly runs: readonly Run[];
}

type Known = Readonly<Record<string, number>>;

export function createLedgerMemory(now: () => number): LedgerMemory {
  let lines: Line[] = [];
  let runs: Run[] = [];
  const events: ToldRow[] = [];
  const locks = new Map<string, LedgerConnection>();
  let [place, knownPlace, restored, lastSeq] = [0, 0, -Infinity, 0];

  const holder = (key: string): LedgerConnection | undefined => {
    const connection = locks.get(key);
    return connection?.isOpen() ? connection : undefined;
  };
  const take = (key: string, connection: LedgerConnection): boolean => {
    if ((holder(key) ?? connection) !== connection) return false;
    locks.set(key, connection);
    return true;
  };
  const add = (run: string, { number, line, latest = 0 }: NewLine): void => {
    lastSeq += 1;
    lines.push({ seq: lastSeq, run, number, at: Math.max(now(), latest), line });
  };
  const linesAfter = (run: Run, known: Known) => {
    const seq = known[run.token] ?? 0;
    return lines.filter((one) => one.run === run.key && one.seq > seq).map((one) => [one.seq, one.at, one.line]);
  };

  type Statement = (connection: LedgerConnection, ...values: never[]) => readonly Row[];
  const functions: Readonly<Partial<Record<StatementName, Statement>>> = {
    about() {
      return [{ version: ledgerVersion, salt: Buffer.from('c0ffee', 'hex'), age: now() - restored }];
    },
    enter() {
      if (knownPlace !== place) [knownPlace, restored] = [place, now()];
      return [];
    },
    open(
      connection,
      key: string,
      token: string,
      origin: string,
      name: string,
      command: string,
      host: string,
      pid: number,
      limit: number,
    ) {
      take(key, connection);
      runs.push({ key, token, origin, name, command, host, pid, limit, since: now() });
      return [];
    },
    exchange(
      connection,
      me: string,
      origin: string,
      added: string,
      newlyTold: string,
      given: readonly string[],
      wanted: readonly string[],
      users: readonly string[],
      known: string,
    ) {
      const all = JSON.parse(added) as NewLine[];
      const held = all.filter(({ keys = [] }) => keys.every((key) => holder(key) === connection));
      for (const line of held) add(me, line);
      events.push(...(JSON.parse(newlyTold) as ToldRow[]));
      for (const key of given) if (holder(key) === connection) locks.delete(key);
      const taken = wanted.filter((key) => take(key, connection));
      const told = events.filter(({ exact }) => users.includes(exact)).map(({ exact, entry }) => [exact, entry]);
      const others = runs.filter((run) => run.origin === origin && run.key !== me);
      const read = others.map((run) => ({
        ...{ token: run.token, run: run.name, command: run.command, limit: run.limit },
        isGone: !holder(run.key),
        lines: linesAfter(run, JSON.parse(known) as Known),
      }));
      return [{ exchange: { written: held.length, taken, told, runs: read, now: now() } }];
    },
    holder(_connection, wanted: string) {
      const found = runs.filter(({ key }) => holder(key) !== undefined && holder(key) === holder(wanted));
      return found.map((run) => ({ ...run, progress: lines.findLast((one) => one.run === run.key)?.seq }));
    },
    ended(_connection, token: string, added: string) {
      const run = runs.find((one) => one.token === token);
      if (run) for (const line of JSON.parse(added) as NewLine[]) add(run.key, line);
      return [];
    },
    remove(_connection, token: string) {
      const gone = runs.find((run) => run.token === token);
      lines = lines.filter(({ run }) => run !== gone?.key);
      runs = runs.filter((run) => run !== gone);
      return [];
    },
    told: (_connection, user: string) => events.flatMap(({ exact, entry }) => (user === exact ? [{ entry }] : [])),
  };

  return {
    query(connection, text, values) {
      const statement = functions[nameOf(text)];
      if (!statement) throw new Error(`the ledger in memory does not know: ${text}`);
      return statement(connection, ...(values as never[]));
    },
    copy: () => ({ lines: [...lines], runs: runs.map((run) => ({ ...run })) }),
    restore(committed) {
      [lines, runs] = [[...committed.lines], committed.runs.map((run) => ({ ...run }))];
      place += 1;
    },
  };
}

/** The name of a statement of the program. */
export function nameOf(text: string): StatementName {
  const [name] = Object.entries(statements).find(([, known]) => known === text) ?? [];
  return name as StatementName;
}

/** An error of PostgreSQL. */
export function sqlError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
