/** Watches whether a server still answers, so that a run does not go on against one that is gone. */
export interface Availability {
  /** A request was answered. */
  answered(): void;
  /** A request found the server unavailable. Returns how often in a row. */
  failed(): number;
  /** A POST got no answer. After `maxSilences` of them in a row, `prove` has to succeed before the next one is sent. */
  unanswered(prove: () => Promise<void>): void;
  /** Resolves when the next POST may be sent. */
  ready(): Promise<void>;
}

const maxSilences = 20;

/** A server is taken to be available until requests fail. */
export function watchAvailability(): Availability {
  let [outages, silences] = [0, 0];
  let presence: Promise<void> = Promise.resolve();
  return {
    answered: () => void ([outages, silences] = [0, 0]),
    failed: () => (outages += 1),
    unanswered(prove) {
      silences += 1;
      if (silences % maxSilences === 0) presence = prove();
    },
    ready: () => presence,
  };
}
