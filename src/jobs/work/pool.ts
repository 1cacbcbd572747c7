/**
 * Does the work of many items, `size` at a time, yielding results as they come. After a failure nothing more is begun, and what is
 * in progress is still yielded, then the failure is thrown. It ends, early too, when what is in progress has ended.
 */
export async function* pool<I, T>(items: Iterable<I>, size: number, work: (item: I) => Promise<T>): AsyncGenerator<T> {
  const source = items[Symbol.iterator]();
  const finished: T[] = [];
  let running = 0;
  let failed: { readonly error: unknown } | undefined;
  let wake = (): void => undefined;
  const run = async (item: I): Promise<void> => {
    try {
      finished.push(await work(item));
    } catch (error) {
      failed ??= { error };
    }
    running -= 1;
    wake();
  };
  const begin = (): void => {
    while (running < size && !failed) {
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
      yield* finished.splice(0, 1);
      begin();
    }
  } finally {
    while (running > 0) await oneEnded();
  }
  if (failed) throw failed.error;
}
