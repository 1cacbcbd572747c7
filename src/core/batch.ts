import type { Milliseconds } from './duration.ts';
import type { Clock } from './system.ts';

/** Writes items that come together in one batch, in order; a batch that fails rejects for its own items. */
export function batched<T>(
  write: (items: readonly T[]) => Promise<void>,
  due = (): Promise<void> => Promise.resolve(),
) {
  let batch: { readonly items: T[]; readonly written: Promise<void> } | undefined;
  const oneTurn = inSequence();
  return (item: T): Promise<void> => {
    if (batch) batch.items.push(item);
    else {
      const items = [item];
      const written = oneTurn(async () => {
        await due();
        batch = undefined;
        await write(items);
      });
      batch = { items, written };
    }
    return batch.written;
  };
}

/** A `due`: a batch begins so long after the one before, or later; a lock for each answer costs as much as its POST. */
export function paced({ elapsed, sleep }: Pick<Clock, 'elapsed' | 'sleep'>, pace: Milliseconds): () => Promise<void> {
  let next: Milliseconds = -Infinity;
  return async () => {
    const wait = next - elapsed();
    if (wait > 0) await sleep(wait);
    next = elapsed() + pace;
  };
}

/** Lets one piece of work begin when the one before it has ended, however that ended. */
export function inSequence(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}

/** Makes a value when it is first asked for. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
