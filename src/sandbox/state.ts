import { isObject } from '../core/json.ts';
import type {
  Activation,
  ChannelRecord,
  LicenseRecord,
  MessageRecord,
  Organization,
  SavedSnippet,
  TopicPolicy,
  User,
  ViewRecord,
} from './records.ts';
import type { SandboxAnswer } from './answer.ts';

export type Store = ReturnType<typeof createStore>;

/** `fill` makes the fixed data: once at the start, and again after a reset. */
export function createStore(fill: (state: State) => void) {
  const journal: { change: Change; before: unknown }[] = [];
  const state = createTables((change, before) => void journal.push({ change, before }));
  const tables = new Map(Object.entries<Replayed>({ ...state }));
  const play = ({ table, key, value }: Change) => tables.get(table)?.play(key, value);
  const begin = () => {
    for (const table of tables.values()) table.clear();
    fill(state);
    journal.splice(0);
  };
  begin();
  return {
    state,
    /** The changes since the last `keep` or `undo`: one record of the log. */
    changes: () => journal.map(({ change }) => change),
    /** Makes the changes final. */
    keep: () => void journal.splice(0),
    /** Reverts the changes. */
    undo: () => {
      for (const { change, before } of journal.splice(0).reverse()) play({ ...change, value: before });
    },
    /**
     * Applies records of the log and ignores anything else. Applying a record twice changes nothing. `{ reset: true }`
     * says that the log was restarted: everything goes back to the fixed data.
     */
    replay: (records: readonly unknown[]) => {
      for (const record of records) {
        if (isObject(record) && record['reset'] === true) begin();
        else if (Array.isArray(record)) record.filter(isChange).forEach(play);
      }
    },
  };
}

/** Everything that the two services know. Rows are never changed in place: a changed row is put again. */
export type State = Readonly<ReturnType<typeof createTables>>;

function createTables(note: Note) {
  return {
    licenses: createTable<string, LicenseRecord>('licenses', note),
    activations: createTable<string, Activation>('activations', note),
    users: createTable<number, User>('users', note),
    channels: createTable<number, ChannelRecord>('channels', note),
    messages: createTable<number, MessageRecord>('messages', note),
    topicPolicies: createTable<string, TopicPolicy>('topicPolicies', note),
    views: createTable<string, ViewRecord>('views', note),
    snippets: createTable<number, SavedSnippet>('snippets', note),
    /** Last numbers given out, by name. */
    counters: createTable<string, number>('counters', note),
    /** One row, under `chat`. */
    organization: createTable<string, Organization>('organization', note),
  };
}

function isChange(value: unknown): value is Change {
  return isObject(value) && 'table' in value && 'key' in value && 'value' in value;
}

/** One change of one row, as in the log; `value: null` takes the row away. */
interface Change {
  readonly table: string;
  readonly key: string | number;
  readonly value: unknown;
}

type Note = (change: Change, before: unknown) => void;

/** A table whose rows are of any type. */
interface Replayed {
  play(key: string | number, value: unknown): void;
  clear(): void;
}

/** Rows under a key, in the order of their keys where these are numbers, else in the order of their arrival. */
function createTable<K extends string | number, T>(name: string, note: Note) {
  let rows = new Map<K, T>();
  let greatest = -Infinity;
  /** Keys arrived in ascending order, so that a million rows need no sorting after each change. */
  let isSorted = true;
  let sorted: readonly T[] | undefined;
  const play = (key: K, value: unknown) => {
    sorted = undefined;
    if (value === null) {
      rows.delete(key);
      return;
    }
    if (typeof key === 'number' && !rows.has(key)) {
      isSorted &&= key > greatest;
      greatest = Math.max(greatest, key);
    }
    rows.set(key, value as T);
  };
  const change = (key: K, value: unknown) => {
    note({ table: name, key, value }, rows.get(key) ?? null);
    play(key, value);
  };
  return {
    get: (key: K): T | undefined => rows.get(key),
    put: (key: K, value: T) => change(key, value),
    remove: (key: K) => change(key, null),
    /** All rows; the same array until something changes. */
    rows: (): readonly T[] => {
      if (!isSorted) rows = new Map([...rows].sort(([one], [other]) => Number(one) - Number(other)));
      isSorted = true;
      return (sorted ??= [...rows.values()]);
    },
    /** Puts or removes (null) without noting the change. */
    play,
    /** Removes all rows without noting it. */
    clear: () => {
      sorted = undefined;
      greatest = -Infinity;
      isSorted = true;
      rows.clear();
    },
  };
}

/** The part of the shared log that one request may use. */
interface SharedLog {
  /**
   * The records that this handle has not seen yet, oldest first: all at the first request, later only what other
   * processes appended since. What this handle itself appended is not given again. (A record given twice does no harm:
   * records say what a row is now, not how it changed.) Where the log was restarted meanwhile, `{ reset: true }` comes
   * before its records.
   */
  readonly records: readonly unknown[];
  /** Adds one record after all others; once resolved it survives a crash. A record is added whole or not at all. */
  append(record: unknown): Promise<void>;
}

/** A log of state changes that several processes share. The sample data is never in it: each process makes its own. */
export interface Persistence {
  /** Runs one request's work alone: among all processes that share the data, and among the requests of this one. */
  exclusively<T>(work: (log: SharedLog) => Promise<T>): Promise<T>;
}

/** The answer to a request, and whether it changed something. */
export type Transaction = (
  work: () => SandboxAnswer,
) => Promise<{ readonly answer: SandboxAnswer; readonly committed: boolean }>;

/** Runs one request as a whole: its changes are durable before it is answered, or undone where that fails. */
export function createTransaction(store: Store, persistence?: Persistence): Transaction {
  // Nothing is awaited where there is no log, so that nothing else runs between the work and its end.
  const run = async (work: () => SandboxAnswer, log?: SharedLog) => {
    try {
      if (log) store.replay(log.records);
      const answer = work();
      const changes = store.changes();
      if (log && changes.length > 0) await log.append(changes);
      return { answer, committed: changes.length > 0 };
    } catch (cause) {
      store.undo();
      throw cause;
    } finally {
      store.keep();
    }
  };
  return persistence ? (work) => persistence.exclusively((log) => run(work, log)) : (work) => run(work);
}
