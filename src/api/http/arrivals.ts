import type { Dispatcher } from 'undici';

/** A body for one reader, chunk by chunk in the order of their arrival. */
export interface Arrivals extends AsyncIterable<Uint8Array> {
  add(chunk: Uint8Array): void;
  /** Nothing more comes; a failure is what the reader gets after the chunks. */
  close(failure?: Error): void;
}

type Arrival = IteratorResult<Uint8Array, undefined>;

/** Bytes that may wait for the reader before the sender is paused. */
const mostWaiting = 256 * 1024;

/** @param sender paused while too much waits, and aborted where the reader stops before the end */
export function openArrivals(sender: Pick<Dispatcher.DispatchController, 'pause' | 'resume' | 'abort'>): Arrivals {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let ending: (() => Promise<Arrival>) | undefined;
  let waiting: ((step: Promise<Arrival>) => void) | undefined;
  const take = (): Promise<Arrival> | undefined => {
    const value = chunks.shift();
    if (value === undefined) return ending?.();
    size -= value.length;
    if (size === 0) sender.resume();
    return Promise.resolve({ done: false, value });
  };
  const wake = (): void => {
    const step = waiting && take();
    if (!step) return;
    waiting?.(step);
    waiting = undefined;
  };
  const close: Arrivals['close'] = (failure) => {
    ending ??= () => (failure ? Promise.reject(failure) : Promise.resolve(done));
    wake();
  };
  const next = (): Promise<Arrival> => take() ?? new Promise((resolve) => (waiting = resolve));
  const stop = (): Promise<Arrival> => {
    close();
    sender.abort(new Error('the rest of the answer is not wanted'));
    return Promise.resolve(done);
  };
  return {
    add(chunk) {
      chunks.push(chunk);
      size += chunk.length;
      wake();
      if (size > mostWaiting) sender.pause();
    },
    close,
    [Symbol.asyncIterator]: () => ({ next, return: stop }),
  };
}

const done: Arrival = { done: true, value: undefined };
