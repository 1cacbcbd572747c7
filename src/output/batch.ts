import type { Sink } from './show.ts';

/** Text, or bytes of text, on its way to a sink, in large pieces. */
export interface Batch {
  /** Resolves at once while little is held, else when it is written. The bytes of a piece are the caller's again then. */
  add(piece: string | Uint8Array): Promise<void>;
  /** Writes all that is held. */
  flush(): Promise<void>;
  /** Rejects with the first error of the sink, so that it is noticed while rows are awaited; never resolves. */
  readonly broken: Promise<never>;
}

/**
 * Buffers up to `size` characters or bytes while rows come without a pause, and flushes at the next turn of the event loop, which is when
 * the rows wait for something.
 */
export function batched(sink: Sink, size = 65_536): Batch {
  let held: (string | Uint8Array)[] = [];
  let length = 0;
  let writing: Promise<void> | undefined;
  let turn: NodeJS.Immediate | undefined;
  const { promise: broken, reject } = rejectable();

  const flush = (): Promise<void> => {
    if (writing || held.length === 0) return writing ?? Promise.resolve();
    writing = drain();
    writing.catch(reject);
    return writing;
  };
  const drain = async (): Promise<void> => {
    try {
      while (held.length > 0) {
        const pieces = held;
        held = [];
        length = 0;
        for (const piece of pieces) await sink.write(piece);
      }
    } finally {
      // Not a moment later: a piece that was added in between would be taken for written.
      writing = undefined;
    }
  };
  const flushAtTurn = (): void => {
    turn = undefined;
    void flush();
  };
  return {
    broken,
    flush,
    async add(piece) {
      if (piece.length === 0) return;
      const last = held.at(-1);
      length += piece.length;
      const isKept = length < size;
      if (typeof piece === 'string' && typeof last === 'string') held[held.length - 1] = last + piece;
      else held.push(isKept && typeof piece !== 'string' ? Buffer.from(piece) : piece);
      if (!isKept) return flush();
      turn ??= setImmediate(flushAtTurn);
    },
  };
}

function rejectable(): { promise: Promise<never>; reject: (reason: unknown) => void } {
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<never>((_resolve, rejectPromise) => (reject = rejectPromise));
  return { promise, reject };
}
