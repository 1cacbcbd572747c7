import { ledgerVersion, nameOf, type statements } from '../../src/store/ledger/ledger-sql.ts';

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

interface Write {
  readonly id: string;
  readonly key: string;
  readonly exact: string;
  readonly origin: string;
  readonly app_code: number;
  readonly run: string;
  readonly asked: { readonly kind: string; readonly settle: number; readonly isFirst?: boolean };
  seq: number;
  latest: number;
  what: Ended | null;
  ended: number | null;
}

interface Ended {
  readonly is: string;
  readonly n?: number;
}

interface Run {
  readonly key: string;
  readonly origin: string;
  readonly name: string;
  readonly command: string;
  readonly host: string;
  readonly pid: number;
  readonly connection: LedgerConnection;
  readonly since: number;
  begun: number;
  passed: number;
  written: number;
}

type BegunRow = Pick<Write, 'id' | 'key' | 'exact' | 'app_code' | 'asked'>;
interface EndedRow {
  readonly id: string;
  readonly what: Ended;
}
interface ToldRow {
  readonly exact: string;
  readonly entry: unknown;
}

interface Committed {
  readonly writes: readonly Write[];
  readonly runs: readonly Run[];
}

const hour = 3_600_000;

export function createLedgerMemory(now: () => number): LedgerMemory {
  let writes: Write[] = [];
  let runs: Run[] = [];
  const events: ToldRow[] = [];
  const locks = new Map<string, LedgerConnection>();
  let [place, knownPlace, restored, lastSeq]: [number, number, number | null, number] = [0, 0, null, 0];

  const holder = (key: string): LedgerConnection | undefined => {
    const connection = locks.get(key);
    return connection?.isOpen() ? connection : undefined;
  };
  const take = (key: string, connection: LedgerConnection): boolean => {
    if ((holder(key) ?? connection) !== connection) return false;
    locks.set(key, connection);
    return true;
  };
  const runOf = (key: unknown): Run | undefined => runs.find((run) => run.key === key);
  const counts = ({ what, run, ended, asked }: Write): boolean =>
    !what ||
    (what.is === 'no answer' && (holder(run) !== undefined || now() < (ended ?? 0) + (what.n ?? 0) * asked.settle));
  const isDead = ({ what, run }: Write, me: string): boolean => !what && run !== me && !holder(run);
  const sweep = (me: string, origin: string): void => {
    const n = new Set(writes.filter((write) => write.origin === origin && counts(write)).map(({ id }) => id)).size;
    for (const write of writes)
      if (write.origin === origin && isDead(write, me))
        Object.assign(write, { what: { is: 'no answer', n }, ended: Math.max(now(), write.latest) });
  };
  const recorded = (write: Write) => {
    const { name, command, host } = runOf(write.run) ?? {};
    return { ...write, run: name, command, host, now: now() };
  };
  const known = (me: string, origin: string, keys: readonly string[], users: readonly string[]) => {
    if (writes.some((write) => keys.includes(write.key) && isDead(write, me))) sweep(me, origin);
    return keys.map((key, index) => ({
      at: index + 1,
      writes: writes.filter((write) => write.key === key).map(recorded),
      told: events.filter(({ exact }) => exact === users[index]).map(({ entry }) => entry),
    }));
  };

  type Statement = (connection: LedgerConnection, ...values: never[]) => readonly Row[];
  const functions: Readonly<Partial<Record<StatementName, Statement>>> = {
    about: () => [{ version: ledgerVersion, salt: Buffer.from('c0ffee', 'hex'), restored, now: now() }],
    enter() {
      if (knownPlace !== place) [knownPlace, restored] = [place, now()];
      return [];
    },
    open(connection, key: string, origin: string, name: string, command: string, host: string, pid: number) {
      const isForgotten = ({ what, asked, ended }: Write) =>
        (what?.is === 'answered' && asked.kind === 'change' && (ended ?? 0) + asked.settle < now()) ||
        (what?.n === 0 && (ended ?? 0) + 24 * hour < now());
      writes = writes.filter((write) => !isForgotten(write));
      const isKept = (run: Run) =>
        run.since >= now() - hour || holder(run.key) !== undefined || writes.some((write) => write.run === run.key);
      runs = runs.filter(isKept);
      sweep(key, origin);
      take(key, connection);
      const run = { key, origin, name, command, host, pid, connection, since: now() };
      runs.push({ ...run, begun: 0, passed: 0, written: now() });
      return [];
    },
    take(
      connection,
      me: string,
      origin: string,
      given: readonly string[],
      wanted: readonly string[],
      keys: readonly string[],
      users: readonly string[],
    ) {
      for (const key of given) if (holder(key) === connection) locks.delete(key);
      const taken = new Set(wanted.filter((key) => take(key, connection)));
      return known(me, origin, keys, users).filter((_row, index) => taken.has(keys[index] ?? ''));
    },
    known: (_connection, me: string, origin: string, keys: readonly string[], users: readonly string[]) =>
      known(me, origin, keys, users),
    holder(_connection, keys: readonly string[]) {
      const holders = keys.map(holder);
      const found = runs.filter(({ connection, key }) => holders.includes(connection) && holder(key) === connection);
      return found.map((run) => ({ ...run, progress: run.written }));
    },
    note(connection, me: string, origin: string, limit: number, begun: string, ended: string, told: string) {
      const held = (JSON.parse(begun) as BegunRow[]).filter(({ key }) => holder(key) === connection);
      const passed: number[] = [];
      for (const row of held) {
        lastSeq += 1;
        const attempt = { seq: lastSeq, latest: now() + limit, what: null };
        const before = writes.find(({ id, exact }) => id === row.id && exact === row.exact);
        if (before) Object.assign(before, attempt);
        else writes.push({ ...row, ...attempt, origin, run: me, ended: null });
      }
      for (const { id, what } of JSON.parse(ended) as EndedRow[]) {
        const own = writes.filter((write) => write.id === id);
        if (what.is === 'answered' || what.is === 'shown') passed.push(...own.map(({ seq }) => seq));
        if (what.is !== 'answered' && what.is !== 'no answer') writes = writes.filter((write) => write.id !== id);
        else
          for (const write of own)
            if (what.is === 'answered' || !write.what || what.n === 0) Object.assign(write, { what, ended: now() });
      }
      events.push(...(JSON.parse(told) as ToldRow[]));
      const run = runOf(me);
      if (!run) return [];
      run.begun = held.length > 0 ? lastSeq : run.begun;
      run.passed = Math.max(run.passed, ...passed);
      run.written = now();
      return [{ written: held.length }];
    },
    underWay(_connection, me: string, origin: string) {
      sweep(me, origin);
      const others = writes.filter((write) => write.origin === origin && write.run !== me && counts(write));
      const beside = runs.filter((run) => run.origin === origin && run.key !== me);
      return [
        {
          counted: Object.fromEntries(others.map(({ id, asked }) => [id, asked.settle])),
          begun: Math.max(0, ...beside.map((run) => run.begun)),
          passed: Math.max(0, ...beside.map((run) => run.passed)),
        },
      ];
    },
    firsts: (_connection, origin: string) =>
      writes
        .filter((write) => write.origin === origin && write.what?.is === 'answered' && write.asked.isFirst === true)
        .filter(({ ended }) => now() - (ended ?? 0) < 24 * hour)
        .map((write) => ({ write: recorded(write) })),
    close(_connection, key: string) {
      runs = runs.filter((run) => run.key !== key || run.begun !== 0);
      return [];
    },
    told: (_connection, users: readonly string[]) =>
      events.flatMap(({ exact, entry }) =>
        users.flatMap((user, index) => (user === exact ? [{ at: index + 1, entry }] : [])),
      ),
  };

  return {
    query(connection, text, values) {
      const statement = functions[nameOf(text) as StatementName];
      if (!statement) throw new Error(`the ledger in memory does not know: ${text}`);
      return statement(connection, ...(values as never[]));
    },
    copy: () => ({ writes: writes.map((write) => ({ ...write })), runs: runs.map((run) => ({ ...run })) }),
    restore(committed) {
      [writes, runs] = [[...committed.writes], [...committed.runs]];
      place += 1;
    },
  };
}

/** An error of PostgreSQL. */
export function sqlError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
