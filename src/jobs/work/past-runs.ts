import { Failure, type FailureKind } from '../../core/failure.ts';

const refusals: ReadonlySet<FailureKind> = new Set(['auth', 'config', 'rejected', 'usage', 'not_found']);

/** Whether the server certainly changed nothing; not where what is read back contradicts an answer of success. */
export function isRefusal(cause: unknown): boolean {
  return cause instanceof Failure && refusals.has(cause.kind) && (cause.details.http?.status ?? 400) >= 400;
}

/** A change that is recorded before and after, so that an undo knows what a kill left. @throws as the change */
export async function recordAround<T>(
  record: (event: 'changing' | 'changed' | 'refused') => Promise<void>,
  change: () => Promise<T>,
): Promise<T> {
  await record('changing');
  try {
    const result = await change();
    await record('changed');
    return result;
  } catch (cause) {
    if (isRefusal(cause)) await record('refused');
    throw cause;
  }
}
