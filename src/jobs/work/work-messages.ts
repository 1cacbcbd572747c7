export interface WorkMessages {
  /** Lines to stderr that are part of the run, such as a plan or what it waits for; `--quiet` drops them. */
  say(text: string): void;
  /** A remark beside the result, to stderr behind `note:`; `--quiet` drops it. */
  note(text: string): void;
  /** One line to stderr below the whole result, which sums it up; `--quiet` drops it. */
  conclude(text: string): void;
  /** One line to stderr that is never dropped. */
  warn(text: string): void;
  /** Shows how many of the `total` steps of a job are done; nothing with `--quiet`. */
  progress(label: string, total: number): Progress;
}

export interface Progress {
  step(): void;
  upTo(count: number): void;
  /** Removes the line of the progress. */
  end(): void;
}
