import { Failure } from '../core/failure.ts';
import type { Sink } from './show.ts';

/** What a guarded sink throws when the reader is gone: a closed pipe is no failure (docs/architecture.md, Failures and exit codes). */
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
        throw (ended = endOf(error));
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

/** A Failure ends the command, such as Ctrl-C; it is not an error of the sink. */
function endOf(error: unknown): Error {
  if (error instanceof Failure) return error;
  return isClosedPipe(error) ? readerGone : unwritten(error);
}

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
