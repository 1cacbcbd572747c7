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

interface Write {
  readonly id: string;
  readonly exact: Buffer;
  readonly folded: Buffer;
  readonly origin: string;
  readonly app_code: number;
  readonly run: string;
  readonly asked: { readonly kind: string; readonly settle: number; readonly isFirst?: boolean };
  seq: number;
  latest: number;
  state: string;
  ended: number | null;
  n: number | null;
  status: number | null;
  key_end: string | null;
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

interface BegunRow extends Pick<Write, 'id' | 'app_code' | 'asked'> {
  readonly exact: string;
  readonly folded: string;
  readonly key: string;
}

interface EndedRow extends Partial<Pick<Write, 'n' | 'status' | 'key_end'>> {
  readonly id: string;
  readonly is: string;
}

interface Committed {
  readonly writes: readonly Write[];
  readonly runs: readonly Run[];
}

const names = new Map(Object.entries(statements).map(([name, text]) => [text, name as StatementName]));

/** The name of a statement, for the story of a history. */
export function nameOf(text: string): string {
  return names.get(text as (typeof statements)[StatementName]) ?? text;
}

const hour = 3_600_000;

export function createLedgerMemory(now: () => number): LedgerMemory {
  let writes: Write[] = [];
  let runs: Run[] = [];
  const events: (readonly [exact: Buffer, entry: unknown])[] = [];
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
  const counts = ({ state, run, ended, n, asked }: Write): boolean =>
    state === 'begun' ||
    (state === 'no answer' && (holder(run) !== undefined || now() < (ended ?? 0) + (n ?? 0) * asked.settle));
  const noteRun = (key: unknown, change: (run: Run) => void): void => {
    const run = runOf(key);
    if (!run) return;
    change(run);
    run.written = now();
  };
  const ofRun = (key: string) => {
    const { name, command, host } = runOf(key) ?? {};
    return { run: name, command, host };
  };

  type Statement = (connection: LedgerConnection, ...values: never[]) => readonly Row[];
  const functions: Readonly<Record<StatementName, Statement>> = {
    about: () => [{ version: ledgerVersion, salt: Buffer.from('c0ffee', 'hex'), restored, now: now() }],
    settings: () => [],
    moved() {
      if (knownPlace !== place) [knownPlace, restored] = [place, now()];
      return [];
    },
    forget() {
      const isForgotten = ({ state, asked, ended, n }: Write) =>
        (state === 'answered' && asked.kind === 'change' && (ended ?? 0) + asked.settle < now()) ||
        (state === 'no answer' && n === 0 && (ended ?? 0) + 24 * hour < now());
      writes = writes.filter((write) => !isForgotten(write));
      return [];
    },
    clean() {
      const isKept = ({ since, key }: Run) =>
        since >= now() - hour || holder(key) !== undefined || writes.some(({ run }) => run === key);
      runs = runs.filter(isKept);
      return [];
    },
    open(connection, key: string, origin: string, name: string, command: string, host: string, pid: number) {
      take(key, connection);
      const run = { key, origin, name, command, host, pid, connection, since: now() };
      runs.push({ ...run, begun: 0, passed: 0, written: now() });
      return [];
    },
    lock: (connection, keys: readonly string[]) => keys.map((key) => ({ key, taken: take(key, connection) })),
    unlock(connection, keys: readonly string[]) {
      for (const key of keys) if (holder(key) === connection) locks.delete(key);
      return [];
    },
    holder(_connection, keys: readonly string[]) {
      const holders = keys.map(holder);
      const found = runs.filter(({ connection, key }) => holders.includes(connection) && holder(key) === connection);
      return found.map((run) => ({ ...run, progress: run.written }));
    },
    known(
      _connection,
      origin: string,
      me: string,
      apps: readonly number[],
      exacts: readonly Buffer[],
      folds: readonly Buffer[],
    ) {
      const rows = writes.flatMap((write) =>
        apps.flatMap((app, at) => {
          const { folded, app_code, run, exact } = write;
          if (write.origin !== origin || app_code !== app || folds[at]?.equals(folded) !== true) return [];
          const is_dead = run !== me && holder(run) === undefined;
          return [{ ...write, ...ofRun(run), at: at + 1, is_exact: exacts[at]?.equals(exact), is_dead, now: now() }];
        }),
      );
      return rows.sort((one, other) => (one.ended ?? Infinity) - (other.ended ?? Infinity));
    },
    begin(connection, run: string, origin: string, limit: number, rows: string) {
      const held = (JSON.parse(rows) as BegunRow[]).filter(({ key }) => holder(key) === connection);
      for (const { id, exact: hex, folded, app_code, asked } of held) {
        const exact = Buffer.from(hex, 'hex');
        lastSeq += 1;
        const begun = { seq: lastSeq, latest: now() + limit, state: 'begun' };
        const known = writes.find((write) => write.id === id && write.exact.equals(exact));
        const fields = { id, exact, folded: Buffer.from(folded, 'hex'), origin, app_code, run, asked };
        if (known) Object.assign(known, begun);
        else writes.push({ ...fields, ...begun, ended: null, n: null, status: null, key_end: null });
      }
      noteRun(run, (one) => (one.begun = held.length > 0 ? lastSeq : one.begun));
      return [{ written: held.length }];
    },
    end(_connection, run: string, rows: string) {
      const passed: number[] = [];
      for (const { id, is: state, n = null, status = null, key_end = null } of JSON.parse(rows) as EndedRow[])
        for (const write of writes)
          if (write.id === id && (state === 'answered' || write.state === 'begun' || n === 0)) {
            Object.assign(write, { state, ended: now(), n, status, key_end });
            if (state === 'answered') passed.push(write.seq);
          }
      noteRun(run, (one) => (one.passed = Math.max(one.passed, ...passed)));
      return [];
    },
    settled(_connection, run: string, rows: string) {
      const passed = new Map(
        (JSON.parse(rows) as { id: string; passed: boolean }[]).map((row) => [row.id, row.passed]),
      );
      const gone = writes.filter(({ id }) => passed.has(id));
      writes = writes.filter(({ id }) => !passed.has(id));
      const seqs = gone.flatMap(({ id, seq }) => (passed.get(id) ? [seq] : []));
      noteRun(run, (one) => (one.passed = Math.max(one.passed, ...seqs)));
      return [];
    },
    sweep(_connection, origin: string, me: string) {
      const n = new Set(writes.filter((write) => write.origin === origin && counts(write)).map(({ id }) => id)).size;
      for (const write of writes)
        if (write.origin === origin && write.state === 'begun' && write.run !== me && !holder(write.run))
          Object.assign(write, { state: 'no answer', ended: Math.max(now(), write.latest), n });
      return [];
    },
    counted(_connection, origin: string, me: string) {
      const others = writes.filter((write) => write.origin === origin && write.run !== me && counts(write));
      return [...new Map(others.map(({ id, asked }) => [id, { id, settle: asked.settle }])).values()];
    },
    latest(_connection, origin: string, me: string) {
      const others = runs.filter((run) => run.origin === origin && run.key !== me);
      if (others.length === 0) return [{ begun: null, passed: null }];
      return [
        {
          begun: Math.max(...others.map(({ begun }) => begun)),
          passed: Math.max(...others.map(({ passed }) => passed)),
        },
      ];
    },
    firsts: (_connection, origin: string) =>
      writes
        .filter((write) => write.origin === origin && write.state === 'answered' && write.asked.isFirst === true)
        .filter(({ ended }) => (ended ?? 0) > now() - 24 * hour)
        .map((write) => ({ ...write, ...ofRun(write.run), now: now() })),
    close(_connection, key: string) {
      runs = runs.filter((run) => run.key !== key || run.begun !== 0);
      return [];
    },
    tell(_connection, exacts: readonly Buffer[], entries: readonly string[]) {
      for (const [at, exact] of exacts.entries()) events.push([exact, JSON.parse(entries[at] ?? '')]);
      return [];
    },
    told: (_connection, exacts: readonly Buffer[]) =>
      events.flatMap(([who, entry]) =>
        exacts.flatMap((exact, at) => (exact.equals(who) ? [{ at: at + 1, entry }] : [])),
      ),
    openAnswers: (_connection, exact: Buffer) =>
      writes
        .filter(
          ({ state, asked, exact: who }) => state === 'answered' && asked.kind === 'creation' && who.equals(exact),
        )
        .map((write) => ({ ...write, ...ofRun(write.run) })),
    status: () =>
      runs.map(({ key, ...run }) => {
        const count = (state: string, kind = '') =>
          new Set(
            writes
              .filter((write) => write.run === key && write.state === state && write.asked.kind.includes(kind))
              .map(({ id }) => id),
          ).size;
        const counted = { under_way: count('begun'), pending: count('no answer'), open: count('answered', 'creation') };
        return { ...run, is_active: holder(key) !== undefined, since: new Date(run.since), ...counted };
      }),
  };

  return {
    query(connection, text, values) {
      const name = names.get(text as (typeof statements)[StatementName]);
      if (!name) throw new Error(`the ledger in memory does not know: ${text}`);
      return functions[name](connection, ...(values as never[]));
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
