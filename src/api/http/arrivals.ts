import type { Dispatcher } from 'undici';

type Arrival = IteratorResult<Uint8Array, undefined>;
type Sender = Pick<Dispatcher.DispatchController, 'pause' | 'resume' | 'abort'>;

const done: Arrival = { done: true, value: undefined };

/** Bytes that may wait for the reader before the sender is paused. */
const mostWaiting = 256 * 1024;

/** A body for one reader, chunk by chunk in the order of their arrival. */
export class Arrivals implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array, undefined> {
  readonly #sender: Sender;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #ending: { readonly failure: Error | undefined } | undefined;
  #waiting: ((step: Promise<Arrival>) => void) | undefined;

  /** @param sender paused while too much waits, and aborted where the reader stops before the end */
  constructor(sender: Sender) {
    this.#sender = sender;
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    this.#wake();
    if (this.#size > mostWaiting) this.#sender.pause();
  }

  /** Nothing more comes; a failure is what the reader gets after the chunks. */
  close(failure?: Error): void {
    this.#ending ??= { failure };
    this.#wake();
  }

  next(): Promise<Arrival> {
    return this.#take() ?? new Promise((resolve) => (this.#waiting = resolve));
  }

  return(): Promise<Arrival> {
    this.close();
    this.#sender.abort(new Error('the rest of the answer is not wanted'));
    return Promise.resolve(done);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #wake(): void {
    const step = this.#waiting && this.#take();
    if (!step) return;
    this.#waiting?.(step);
    this.#waiting = undefined;
  }

  #take(): Promise<Arrival> | undefined {
    const value = this.#chunks.shift();
    if (value === undefined) return this.#ending && ended(this.#ending.failure);
    this.#size -= value.length;
    if (this.#size === 0) this.#sender.resume();
    return Promise.resolve({ done: false, value });
  }
}

function ended(failure: Error | undefined): Promise<Arrival> {
  return failure ? Promise.reject(failure) : Promise.resolve(done);
}
