import type { Milliseconds } from '../../core/duration.ts';

/** The clock; a test has one of its own. */
export interface Time {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): Milliseconds;
  /** Milliseconds of real time since some moment of this process: nobody sets it forward or back, as `now`. */
  elapsed(): Milliseconds;
  /** Rejects with the reason of the run's signal as soon as that aborts. */
  sleep(span: Milliseconds): Promise<void>;
}
