/**
 * Lets `count` workers take items one after another, until none is left. A worker takes its next item in the turn of the event loop in
 * which it ends the one before.
 * @throws the first error, once all workers have ended; after it no item is taken
 */
export async function workOn<I>(items: Iterable<I>, count: number, work: (item: I) => Promise<void>): Promise<void> {
  const source = items[Symbol.iterator]();
  let isBroken = false;
  const worker = async (): Promise<void> => {
    for (let next = source.next(); !next.done && !isBroken; next = source.next()) {
      try {
        await work(next.value);
      } catch (cause) {
        isBroken = true;
        throw cause;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: count }, worker));
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

/** The items up to the moment at which `isOver`. */
export function* until<I>(items: Iterable<I>, isOver: () => boolean): Generator<I> {
  for (const item of items) {
    if (isOver()) return;
    yield item;
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

/** Lets steps run one after another, in the order in which they came, whether or not one before them throws. */
export function sequence(): <T>(step: () => T | Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (step) => {
    const ending = last.then(step);
    last = ending.catch(() => undefined);
    return ending;
  };
}
