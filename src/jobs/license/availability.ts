import { Failure } from '../../core/failure.ts';

/** Watches whether a server still answers, so that a run stops when it does not. */
export interface Availability {
  /** A request was answered. */
  answered(): void;
  /** A request found the server unavailable. */
  failed(cause: Failure): void;
  /** A POST got no answer. After `maxSilences` of them in a row, `prove` has to succeed before the next one is sent. */
  unanswered(prove: () => Promise<unknown>): void;
  /** Resolves when the next POST may be sent. */
  ready(): Promise<void>;
  /** Why the server is taken to be gone: it was unavailable `maxOutages` times in a row, or failed to prove that it is there. */
  gone(): Failure | undefined;
}

const maxOutages = 3;
const maxSilences = 20;

/** A server is taken to be available until requests fail. */
export function watchAvailability(): Availability {
  let [outages, silences] = [0, 0];
  let presence: Promise<void> = Promise.resolve();
  let gone: Failure | undefined;
  const proven = async (prove: () => Promise<unknown>): Promise<void> => {
    try {
      await prove();
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      gone ??= cause;
    }
  };
  return {
    answered: () => void ([outages, silences] = [0, 0]),
    failed(cause) {
      outages += 1;
      if (outages >= maxOutages) gone ??= cause;
    },
    unanswered(prove) {
      silences += 1;
      if (silences % maxSilences === 0) presence = proven(prove);
    },
    ready: () => presence,
    gone: () => gone,
  };
}
