import type { Writable } from 'node:stream';
import { Failure, abortReason } from '../core/failure.ts';
import { nextTurn } from '../core/outside.ts';
import type { Alarm } from '../core/system.ts';

/** Where a result goes. `write` resolves when more may be written, and rejects with EPIPE when the reader is gone. */
export interface Sink {
  write(piece: string | Uint8Array): Promise<void>;
}

/** A stream as a place for results. A write that nobody reads is given up a moment after the signal aborts. */
export function streamSink(stream: Writable, alarm: Alarm, signal: AbortSignal): Sink {
  return {
    write: (piece) =>
      new Promise((resolve, reject) => {
        let cancel = (): void => undefined;
        const stop = (): void => {
          cancel = alarm(moment, () => reject(abortReason(signal)));
        };
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop, { once: true });
        stream.write(piece, (error) => {
          signal.removeEventListener('abort', stop);
          cancel();
          if (error) reject(error);
          else resolve();
        });
      }),
  };
}

/** Milliseconds: enough for a reader that reads at all. */
const moment = 100;

/** Thrown by a guarded sink whose reader is gone: no failure (docs/architecture.md, Failures and exit codes). */
export const readerGone = new Error('nobody reads the output any longer');

/** A sink that, once a write failed, fails without trying again: with `readerGone` on EPIPE, else with a Failure. */
export function guarded(sink: Sink): Sink {
  let ended: Error | undefined;
  return {
    async write(piece) {
      if (ended) throw ended;
      try {
        await sink.write(piece);
      } catch (error) {
        // A Failure ends the command, such as Ctrl-C; it is not an error of the sink.
        throw (ended = error instanceof Failure ? error : isClosedPipe(error) ? readerGone : unwritten(error));
      }
    },
  };
}

/** A sink that swallows what comes after its reader is gone, so that the rows are drawn to their end. */
export function regardless(given: Sink): Sink {
  const sink = guarded(given);
  return {
    async write(piece) {
      try {
        await sink.write(piece);
      } catch (error) {
        if (error !== readerGone) throw error;
      }
    },
  };
}

/** Whether the reader of a stream has gone. */
function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

function unwritten(cause: unknown): Failure {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Failure('incomplete', `The result could not be written: ${reason}`, {
    hint: 'What was done stays done; only its output is missing or cut. Look before you repeat a command that writes.',
    retryable: false,
    cause,
  });
}

export type Batch = ReturnType<typeof batched>;

/**
 * Buffers up to `size` characters or bytes while rows come without a pause; flushes at the next turn of the event loop,
 * when the rows wait for something.
 */
export function batched(sink: Sink, size = 65_536) {
  let held: (string | Uint8Array)[] = [];
  let length = 0;
  let writing: Promise<void> | undefined;
  let turn: Promise<void> | undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const broken = new Promise<never>((_resolve, rejectPromise) => (reject = rejectPromise));

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
    /** Rejects with the first error of the sink, so that it is noticed while rows are awaited; never resolves. */
    broken,
    /** Writes all that is held. */
    flush,
    /** Resolves at once while little is held, else when it is written; then the caller may use the bytes again. */
    async add(piece: string | Uint8Array): Promise<void> {
      if (piece.length === 0) return;
      const last = held.at(-1);
      length += piece.length;
      const isKept = length < size;
      if (typeof piece === 'string' && typeof last === 'string') held[held.length - 1] = last + piece;
      else held.push(isKept && typeof piece !== 'string' ? Buffer.from(piece) : piece);
      if (!isKept) return flush();
      turn ??= nextTurn().then(flushAtTurn);
    },
  };
}
