/**
 * Does the work of many items, `size` at a time, yielding results as they come. After a failure nothing more is begun, and what is
 * in progress is still yielded, then the failure is thrown. It ends, early too, when what is in progress has ended.
 */
export async function* pool<I, T>(items: Iterable<I>, size: number, work: (item: I) => Promise<T>): AsyncGenerator<T> {
  const running = new Map<number, Promise<Finished<T>>>();
  const source = items[Symbol.iterator]();
  let count = 0;
  let failed: { readonly error: unknown } | undefined;
  const next = async (): Promise<Finished<T> | undefined> => {
    while (running.size < size && !failed) {
      const item = source.next();
      if (item.done) break;
      const id = count++;
      running.set(id, finish(id, work(item.value)));
    }
    if (running.size === 0) return undefined;
    const finished = await Promise.race(running.values());
    running.delete(finished.id);
    return finished;
  };
  try {
    for (let result = await next(); result; result = await next()) {
      if ('error' in result) failed ??= result;
      else yield result.value;
    }
  } finally {
    await Promise.all(running.values());
  }
  if (failed) throw failed.error;
}

/** The items up to the moment at which `isOver`. */
export function* until<I>(items: Iterable<I>, isOver: () => boolean): Generator<I> {
  for (const item of items) {
    if (isOver()) return;
    yield item;
  }
}

type Finished<T> = { readonly id: number } & ({ readonly value: T } | { readonly error: unknown });

/** Never rejects, so that an error that nobody waits for yet does not end the process. */
async function finish<T>(id: number, work: Promise<T>): Promise<Finished<T>> {
  try {
    return { id, value: await work };
  } catch (error) {
    return { id, error };
  }
}

/** Lets `size` pieces of work be in progress at once; others wait for their turn, in the order in which they came. */
export function limiter(size: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = size;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
