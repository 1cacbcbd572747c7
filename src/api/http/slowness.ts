import type { Milliseconds } from '../../core/duration.ts';
import type { Connection } from './call.ts';

/** How long a person waits without asking what happens. */
const patience: Milliseconds = 2000;

/** Reports that a call waits for its server. */
export interface Slowness {
  /** Another attempt begins. */
  nextAttempt(): void;
  /** The call has ended: nothing is reported any longer. */
  end(): void;
}

/** Reports a call that has no answer after two seconds, and each of its later attempts. */
export function watchSlowness({ alarm, observe, retries, base }: Connection): Slowness {
  let attempt = 1;
  let isSlow = false;
  const report = (): void => observe({ kind: 'slow', host: new URL(base).host, attempt, of: retries + 1 });
  const cancel = alarm(patience, () => {
    isSlow = true;
    report();
  });
  return {
    nextAttempt() {
      attempt += 1;
      if (isSlow) report();
    },
    end() {
      cancel();
      if (isSlow) observe({ kind: 'settled' });
    },
  };
}
