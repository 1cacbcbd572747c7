/** Why a signal was aborted, as an error to reject with; the platform types the reason as anything. */
export function abortReason(signal: Pick<AbortSignal, 'reason'> | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error(String(reason));
}

/** The outcome of work, or the signal's reason if it aborts first; the work itself continues. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(abortReason(signal));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
