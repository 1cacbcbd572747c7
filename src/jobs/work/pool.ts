import { Failure } from '../../core/failure.ts';

/**
 * Works on `size` items at a time and yields results as they come; `size` may change. After a failure no item begins,
 * results in progress are still yielded, then the failure is thrown. A reader who stops waits for work in progress too.
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
      // One result at a time: more work begins after each.
      yield* finished.splice(0, 1);
      begin();
    }
  } finally {
    while (running > 0) await oneEnded();
  }
  if (failed) throw failed.error;
}

/**
 * Requests each item while the reader uses the one before it. An error of the source is thrown in place of its item.
 * When the reader stops, the source is asked to end, and the item that was requested is not waited for.
 */
export async function* ahead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  const ask = (): Promise<IteratorResult<T>> => {
    const asked = source.next();
    // An error must not count as unhandled before it is awaited below.
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

/** Results that arrive in any order, and that one reader takes by their keys in the order it wants. */
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
    /** Waits for the result of a key; undefined if `close` is called before it arrives. */
    async take(key: K): Promise<T | undefined> {
      while (!results.has(key) && !isClosed) await new Promise<void>((resolve) => (wake = resolve));
      const result = results.get(key);
      results.delete(key);
      return result;
    },
  };
}
