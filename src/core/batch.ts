import type { Milliseconds } from './duration.ts';
import { nextTurn } from './outside.ts';
import type { Alarm } from './system.ts';

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

  /** Those that wait are urgent now. Resolves when all are written. */
  hurry(): Promise<void> {
    this.#isUrgent = this.#isWaiting;
    this.#wake();
    return this.#last;
  }
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
