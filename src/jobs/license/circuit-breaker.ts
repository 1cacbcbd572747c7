import { Failure, type FailureKind } from '../../core/failure.ts';

/** Whether a failure of one row ends the run: a refused key, a full disk and an interruption do. */
export function endsRun(cause: Failure, signal: AbortSignal): boolean {
  return fatalKinds.has(cause.kind) || cause.isInterruption || signal.aborted;
}

/** These end a run with their own exit code, whatever was done before. */
export const fatalKinds: ReadonlySet<FailureKind> = new Set(['auth', 'config', 'internal', 'usage']);

const maxOutages = 3;

export type CircuitBreaker = ReturnType<typeof circuitBreaker>;

/** Watches whether a run can go on. Its server is taken to be available until requests fail. */
export function circuitBreaker(signal: AbortSignal) {
  let stop: Failure | undefined;
  let isAbandoned = false;
  let outages = 0;
  /** Undefined while it goes on. A server is gone after `maxOutages` in a row. */
  const stopped = (): Failure | undefined => {
    const interruption = signal.aborted && signal.reason instanceof Failure ? signal.reason : undefined;
    return stop ?? interruption;
  };
  return {
    answered: () => void (outages = 0),
    failed(cause: Failure): void {
      outages += 1;
      if (outages >= maxOutages) stop ??= cause;
    },
    stop: (failure: Failure) => void (stop ??= failure),
    stopped,
    /** Nobody reads the results any more: rows in progress end, and no other is begun. */
    abandon: () => void (isAbandoned = true),
    isOver: () => isAbandoned || stopped() !== undefined,
  };
}
