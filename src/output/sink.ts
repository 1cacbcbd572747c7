import type { Writable } from 'node:stream';
import { Failure, systemReason, orAborted } from '../core/failure.ts';
import { nextTurn } from '../core/outside.ts';
import type { Alarm } from '../core/system.ts';

/** Where a result goes. `write` resolves when more may be written, and rejects with EPIPE when the reader is gone. */
export interface Sink {
  write(piece: string | Uint8Array): Promise<void>;
}

/** A stream as a place for results. A write that nobody reads is given up a moment after the signal aborts. */
export function streamSink(stream: Writable, alarm: Alarm, signal: AbortSignal): Sink {
  const write = (piece: string | Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => void stream.write(piece, (error) => (error ? reject(error) : resolve())));
  return { write: (piece) => orAborted(write(piece), signal, (ring) => alarm(moment, ring)) };
}

/** Milliseconds: enough for a reader that reads at all. */
const moment = 100;

/**
 * Thrown by a guarded sink whose reader is gone: no failure (docs/internals/architecture.md, Failures and exit codes).
 */
export const readerGone = new Error('nobody reads the output any longer');

/**
 * A sink that, once a write failed, fails without trying again: with `readerGone` on EPIPE, else with a Failure. For a
 * command that writes it discards rows once the reader is gone, and the command can finish.
 */
export function guard(sink: Sink, { isWrite }: { readonly isWrite?: boolean } = {}): Sink {
  let ended: Error | undefined;
  return {
    async write(piece) {
      try {
        if (!ended) await sink.write(piece);
      } catch (error) {
        // Ctrl-C is not an error of the sink; a deadline at a reader that has stopped to read is one.
        const isClosedPipe = error instanceof Error && 'code' in error && error.code === 'EPIPE';
        ended = error instanceof Failure && error.isInterruption ? error : isClosedPipe ? readerGone : unwritten(error);
      }
      if (ended && !(isWrite && ended === readerGone)) throw ended;
    },
  };
}

function unwritten(cause: unknown): Failure {
  return new Failure('incomplete', `the result could not be written: ${systemReason(cause)}`, {
    hint: 'Only the output is missing or incomplete. A command that writes made its changes: check before you repeat it.',
    retryable: false,
    cause,
  });
}

export type Batch = ReturnType<typeof openBatch>;

/** Buffers up to `size` characters or bytes; flushes when the rows wait for something: at the next turn of the loop. */
export function openBatch(sink: Sink, size = 65_536) {
  let pending: (string | Uint8Array)[] = [];
  let length = 0;
  let writing: Promise<void> | undefined;
  let turn: Promise<void> | undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const broken = new Promise<never>((_resolve, rejectPromise) => (reject = rejectPromise));

  const flush = (): Promise<void> => {
    if (writing || pending.length === 0) return writing ?? Promise.resolve();
    writing = drain();
    writing.catch(reject);
    return writing;
  };
  const drain = async (): Promise<void> => {
    try {
      while (pending.length > 0) {
        const pieces = pending;
        pending = [];
        length = 0;
        for (const piece of pieces) await sink.write(piece);
      }
    } finally {
      // This must not happen later: a piece that was added in between would be taken for written.
      writing = undefined;
    }
  };
  return {
    /** Rejects with the first error of the sink, so that it is noticed while rows are awaited; never resolves. */
    broken,
    flush,
    /** Resolves at once while little is pending, else when it is written. */
    async add(piece: string | Uint8Array): Promise<void> {
      if (piece.length === 0) return;
      const last = pending.at(-1);
      length += piece.length;
      if (typeof piece === 'string' && typeof last === 'string') pending[pending.length - 1] = last + piece;
      else pending.push(piece);
      if (length >= size) return flush();
      turn ??= nextTurn().then(() => {
        turn = undefined;
        void flush();
      });
    },
  };
}
