import { Failure } from '../../core/failure.ts';

/**
 * Works `size` at a time, which may change, yielding results as they come. After a failure nothing more is begun; what
 * is in progress is still yielded, then the failure is thrown. It ends, early too, when what is in progress has ended.
 */
export async function* pool<I, T>(
  items: Iterable<I>,
  size: number | (() => number),
  work: (item: I) => Promise<T>,
): AsyncGenerator<T> {
  const most = typeof size === 'number' ? () => size : size;
  const source = items[Symbol.iterator]();
  const finished: T[] = [];
  let running = 0;
  let failed: { readonly error: unknown } | undefined;
  let wake = (): void => undefined;
  const run = async (item: I): Promise<void> => {
    try {
      finished.push(await work(item));
    } catch (error) {
      // A refused key says more than what else failed.
      if (!failed || (error instanceof Failure && error.kind === 'auth')) failed = { error };
    }
    running -= 1;
    wake();
  };
  const begin = (): void => {
    while (running < most() && !failed) {
      const next = source.next();
      if (next.done) return;
      running += 1;
      void run(next.value);
    }
  };
  const oneEnded = (): Promise<void> => new Promise((resolve) => (wake = resolve));
  try {
    begin();
    while (running > 0 || finished.length > 0) {
      if (finished.length === 0) await oneEnded();
      // One at a time: more work is begun after each.
      yield* finished.splice(0, 1);
      begin();
    }
  } finally {
    while (running > 0) await oneEnded();
  }
  if (failed) throw failed.error;
}

/**
 * Each item is requested while the one before it is used. What the source throws is thrown in its place. When the user
 * stops, the source is asked to end, and what is on its way is not waited for.
 */
export async function* ahead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  const ask = (): Promise<IteratorResult<T>> => {
    const asked = source.next();
    // Its failure waits until it is awaited below.
    asked.catch(() => undefined);
    return asked;
  };
  try {
    for (let next = ask(), item = await next; !item.done; item = await next) {
      next = ask();
      yield item.value;
    }
  } finally {
    void Promise.allSettled([source.return(undefined)]);
  }
}

/** Results that come in any order and are taken in the order of their keys, by one reader; a key is an object. */
export function resultsInOrder<K extends object, T>() {
  const results = new Map<K, T>();
  let isClosed = false;
  let wake = (): void => undefined;
  return {
    put(key: K, result: T): void {
      results.set(key, result);
      wake();
    },
    close(): void {
      isClosed = true;
      wake();
    },
    /** Resolves when the result is there; undefined where it never comes. */
    async take(key: K): Promise<T | undefined> {
      while (!results.has(key) && !isClosed) await new Promise<void>((resolve) => (wake = resolve));
      const result = results.get(key);
      results.delete(key);
      return result;
    },
  };
}
