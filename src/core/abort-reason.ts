/** Why a signal was aborted, as an error to reject with; the platform types the reason as anything. */
export function abortReason(signal: Pick<AbortSignal, 'reason'> | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error(String(reason));
}
