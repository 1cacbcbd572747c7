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

/** Everything that the two services know. Rows are never changed in place: a changed row is put again. */
export interface State {
  readonly licenses: Table<string, LicenseRecord>;
  readonly activations: Table<string, Activation>;
  readonly users: Table<number, User>;
  readonly channels: Table<number, ChannelRecord>;
  readonly messages: Table<number, MessageRecord>;
  readonly topicPolicies: Table<string, TopicPolicy>;
  readonly views: Table<string, ViewRecord>;
  readonly snippets: Table<number, SavedSnippet>;
  /** Last numbers given out, by name. */
  readonly counters: Table<string, number>;
  /** One row, under `chat`. */
  readonly organization: Table<string, Organization>;
}

export interface Store {
  readonly state: State;
  /** The changes since the last `keep` or `undo`: one record of the log. */
  changes(): readonly Change[];
  /** Makes the changes final. */
  keep(): void;
  /** Takes them back. */
  undo(): void;
  /**
   * Applies records of the log and ignores anything else. Applying a record twice changes nothing. `{ reset: true }` says
   * that the log was restarted: everything goes back to the fixed data.
   */
  replay(records: readonly unknown[]): void;
}

/** `fill` makes the fixed data: once at the start, and again after a reset. */
export function createStore(fill: (state: State) => void): Store {
  const journal: { change: Change; before: unknown }[] = [];
  const note = (change: Change, before: unknown) => void journal.push({ change, before });
  const state: State = {
    licenses: createTable('licenses', note),
    activations: createTable('activations', note),
    users: createTable('users', note),
    channels: createTable('channels', note),
    messages: createTable('messages', note),
    topicPolicies: createTable('topicPolicies', note),
    views: createTable('views', note),
    snippets: createTable('snippets', note),
    counters: createTable('counters', note),
    organization: createTable('organization', note),
  };
  const begin = () => {
    for (const table of tablesOf(state).values()) table.clear();
    fill(state);
    journal.splice(0);
  };
  begin();
  return {
    state,
    changes: () => journal.map(({ change }) => change),
    keep: () => void journal.splice(0),
    undo: () => {
      for (const { change, before } of journal.splice(0).reverse()) play(state, { ...change, value: before });
    },
    replay: (records) => {
      for (const record of records) {
        if (isReset(record)) begin();
        else for (const change of changesOf(record)) play(state, change);
      }
    },
  };
}

type Playable = Pick<Table<string | number, unknown>, 'play' | 'clear'>;

function tablesOf(state: State): ReadonlyMap<string, Playable> {
  return new Map(Object.entries<Playable>({ ...state }));
}

function play(state: State, { table, key, value }: Change): void {
  tablesOf(state).get(table)?.play(key, value);
}

function changesOf(record: unknown): Change[] {
  return Array.isArray(record) ? record.filter(isChange) : [];
}

function isReset(record: unknown): boolean {
  return isObject(record) && record['reset'] === true;
}

function isChange(value: unknown): value is Change {
  return isObject(value) && 'table' in value && 'key' in value && 'value' in value;
}

/** One change of one row, as it is in the log; `value: null` takes the row away. */
interface Change {
  readonly table: string;
  readonly key: string | number;
  readonly value: unknown;
}

/** Rows under a key, in the order of their keys where these are numbers, else in the order of their arrival. */
interface Table<K extends string | number, T> {
  get(key: K): T | undefined;
  put(key: K, value: T): void;
  remove(key: K): void;
  /** All rows; the same array until something changes. */
  rows(): readonly T[];
  /** Puts or removes (null) without noting the change. */
  play(key: K, value: unknown): void;
  /** Removes all rows without noting it. */
  clear(): void;
}

function createTable<K extends string | number, T>(
  name: string,
  note: (change: Change, before: unknown) => void,
): Table<K, T> {
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
  const sort = () => {
    if (isSorted) return;
    rows = new Map([...rows].sort(([one], [other]) => Number(one) - Number(other)));
    isSorted = true;
  };
  return {
    get: (key) => rows.get(key),
    put: change,
    remove: (key) => change(key, null),
    rows: () => {
      sort();
      return (sorted ??= [...rows.values()]);
    },
    play,
    clear: () => {
      sorted = undefined;
      greatest = -Infinity;
      isSorted = true;
      rows.clear();
    },
  };
}

/** What one request may do with the shared log. */
interface SharedLog {
  /**
   * The records that this handle has not seen yet, oldest first: all of them at the first call, later only what other processes
   * appended since. What this handle itself appended is not given again. (A record given twice does no harm: records say what a
   * row is now, not how it changed.) Where the log was restarted meanwhile, `{ reset: true }` comes before its records.
   */
  read(): Promise<readonly unknown[]>;
  /** Adds one record after all others; once resolved it survives a crash. A record is added whole or not at all. */
  append(record: unknown): Promise<void>;
}

/** A log of state changes that several processes share. The sample data is never in it: each process makes its own. */
export interface Persistence {
  /** Runs one request's work alone: among all processes that share the data, and among the requests of this one. */
  exclusively<T>(work: (log: SharedLog) => Promise<T>): Promise<T>;
}

interface RestoreOutcome {
  readonly answer: SandboxAnswer;
  /** Whether the request changed something. */
  readonly committed: boolean;
}

export type Transaction = (work: () => SandboxAnswer) => Promise<RestoreOutcome>;

/** Runs the work of one request as a whole: its changes are durable before it is answered, or undone where that fails. */
export function createTransaction(store: Store, persistence?: Persistence): Transaction {
  if (!persistence) return (work) => Promise.resolve().then(() => inMemory(store, work));
  return (work) => persistence.exclusively((log) => inLog(store, log, work));
}

/** In one go: nothing else runs between the work and its end. */
function inMemory(store: Store, work: () => SandboxAnswer): RestoreOutcome {
  try {
    const answer = work();
    return { answer, committed: store.changes().length > 0 };
  } catch (cause) {
    store.undo();
    throw cause;
  } finally {
    store.keep();
  }
}

async function inLog(store: Store, log: SharedLog, work: () => SandboxAnswer): Promise<RestoreOutcome> {
  try {
    store.replay(await log.read());
    const answer = work();
    const changes = store.changes();
    if (changes.length > 0) await log.append(changes);
    return { answer, committed: changes.length > 0 };
  } catch (cause) {
    store.undo();
    throw cause;
  } finally {
    store.keep();
  }
}
