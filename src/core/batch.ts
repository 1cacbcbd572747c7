import type { Milliseconds } from './duration.ts';
import { nextTurn } from './outside.ts';
import type { Alarm } from './system.ts';

/** Works on items that come together in one batch, in order; all of a batch have its result, or its failure. */
export function batched<T, R = void>(
  work: (items: readonly T[]) => Promise<R>,
  due = (): Promise<void> => Promise.resolve(),
) {
  let batch: { readonly items: T[]; readonly done: Promise<R> } | undefined;
  const oneTurn = limiter(1);
  return (item: T): Promise<R> => {
    if (batch) batch.items.push(item);
    else {
      const items = [item];
      const done = oneTurn(async () => {
        await due();
        batch = undefined;
        return work(items);
      });
      batch = { items, done };
    }
    return batch.done;
  };
}

/** Writes items as `batched` does; one that is not urgent waits for one that is, but no longer than `delay`. */
export class JoinedItems<T> {
  readonly #add: (item: T) => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  #isWaiting = false;
  #isUrgent = false;
  #wake = (): void => undefined;

  constructor(write: (items: readonly T[]) => Promise<void>, alarm: Alarm, delay: Milliseconds) {
    const writeAll = (items: readonly T[]): Promise<void> => {
      this.#isWaiting = false;
      this.#isUrgent = false;
      this.#wake = () => undefined;
      return write(items);
    };
    const due = async (): Promise<void> => {
      if (!this.#isUrgent)
        await new Promise<void>((resolve) => {
          const cancel = alarm(delay, resolve);
          this.#wake = () => {
            cancel();
            resolve();
          };
        });
      await nextTurn();
    };
    this.#add = batched(writeAll, due);
  }

  add(item: T): Promise<void> {
    this.#isWaiting = true;
    this.#last = this.#add(item);
    return this.#last;
  }

  addNow(item: T): Promise<void> {
    void this.add(item);
    return this.hurry();
  }

  /** Makes all waiting items urgent. Resolves when they are written. */
  hurry(): Promise<void> {
    this.#isUrgent = this.#isWaiting;
    this.#wake();
    return this.#last;
  }
}

/**
 * Lets `size` pieces of work be in progress at once; others wait in the order in which they came, whether or not one
 * before them throws. With 1 they are steps one after another. A size that changes holds for what begins then.
 */
export function limiter(size: number | (() => number)): <T>(work: () => T | Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  const most = typeof size === 'number' ? () => size : size;
  let running = 0;
  const begin = (): void => {
    while (running < most() && waiting.length > 0) {
      running += 1;
      waiting.shift()?.();
    }
  };
  const pass = (): void => {
    running -= 1;
    begin();
  };
  return (work) => {
    const turn = new Promise<void>((resolve) => void waiting.push(resolve));
    begin();
    const ending = turn.then(work);
    // Whoever awaits this piece goes on before the next one begins.
    ending.then(pass, pass);
    return ending;
  };
}

/** Makes a value when it is first asked for. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
