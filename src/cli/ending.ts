import { formatDuration, type Milliseconds } from '../core/duration.ts';
import { Failure } from '../core/failure.ts';
import type { World } from './world.ts';

/** What ends a command early. */
export interface Ending {
  /** Aborted by Ctrl-C, SIGTERM and the deadline, with a Failure as reason. */
  readonly signal: AbortSignal;
  /** Cancels the timer of the deadline, for which the process would wait. */
  readonly release: () => void;
}

export function openEnding({ interrupt, alarm }: World, deadline: Milliseconds | undefined): Ending {
  if (deadline === undefined) return { signal: interrupt, release: () => undefined };
  const late = new AbortController();
  const reached = new Failure('unavailable', `the deadline of ${formatDuration(deadline)} was reached`, {
    hint: 'Run the command again, or give --deadline more.',
  });
  const release = alarm(deadline, () => late.abort(reached));
  return { signal: AbortSignal.any([interrupt, late.signal]), release };
}
