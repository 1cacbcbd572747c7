import { Failure, type FailureKind } from '../../core/failure.ts';
import type { RosterClaims } from './share-roster.ts';

interface RunState {
  readonly claims: Pick<RosterClaims, 'lost'>;
  readonly signal: AbortSignal;
}

/** Whether a failure of one row ends the run: a refused key, a full disk, lost claims and an interruption do. */
export function endsRun(cause: Failure, { claims, signal }: RunState): boolean {
  return fatalKinds.has(cause.kind) || cause.isInterruption || cause === claims.lost() || signal.aborted;
}

/** These end a run with their own exit code, whatever was done before. */
export const fatalKinds: ReadonlySet<FailureKind> = new Set(['auth', 'config', 'internal', 'usage']);

const maxOutages = 3;
const maxSilences = 20;

export type CircuitBreaker = ReturnType<typeof circuitBreaker>;

/** Watches whether a run can go on. Its server is taken to be available until requests fail. */
export function circuitBreaker({ signal }: Pick<RunState, 'signal'>) {
  let stop: Failure | undefined;
  let isAbandoned = false;
  let [outages, silences] = [0, 0];
  let probing: Promise<unknown> = Promise.resolve();
  let unreachable: Failure | undefined;
  const gone = (cause: unknown): void => {
    if (!(cause instanceof Failure)) throw cause;
    unreachable ??= cause;
  };
  /** Undefined while it goes on. A server is gone after `maxOutages` in a row, or when a probe fails. */
  const stopped = (): Failure | undefined => {
    const interruption = signal.aborted && signal.reason instanceof Failure ? signal.reason : undefined;
    return stop ?? unreachable ?? interruption;
  };
  return {
    answered: () => void ([outages, silences] = [0, 0]),
    /** A lookup was answered: the server is available, whatever becomes of its POSTs. */
    listed: () => void (outages = 0),
    failed(cause: Failure): void {
      outages += 1;
      if (outages >= maxOutages) gone(cause);
    },
    /** A POST got no answer. After `maxSilences` of them in a row, `ask` has to succeed before the next one is sent. */
    unanswered(ask: () => Promise<unknown>): void {
      silences += 1;
      if (silences % maxSilences === 0) probing = ask().catch(gone);
    },
    /** Resolves when the next POST may be sent. */
    ready: () => probing,
    stop: (failure: Failure) => void (stop ??= failure),
    stopped,
    /** Nobody reads the results any more: rows in progress end, and no other is begun. */
    abandon: () => void (isAbandoned = true),
    isOver: () => isAbandoned || stopped() !== undefined,
  };
}
