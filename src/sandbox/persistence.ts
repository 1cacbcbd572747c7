import type { SandboxAnswer } from './answer.ts';
import type { Store } from './state.ts';

/** What one request may do with the shared log. */
export interface SharedLog {
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
