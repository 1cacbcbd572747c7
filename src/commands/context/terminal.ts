import type { Secret } from '../../core/secret.ts';

/** The person at the terminal: questions, and lines to stderr. */
export interface Terminal {
  /** Whether there is a person to ask. */
  interactive(): boolean;
  /** A question whose answer is yes or no. @throws Failure cancelled on no; usage where nobody can be asked */
  confirm(question: string): Promise<void>;
  /** A line of text from the terminal. @throws Failure usage where nobody can be asked */
  ask(question: string): Promise<string>;
  /** A text that is not shown while it is typed. @throws Failure usage where nobody can be asked */
  secret(question: string): Promise<Secret>;
  /** One line to stderr that `--quiet` drops. */
  note(text: string): void;
  /** One line to stderr below the whole result, which sums it up; `--quiet` drops it. */
  conclude(text: string): void;
  /** One line to stderr that is never dropped. */
  warn(text: string): void;
  /** Shows how many of the `total` steps of a job are done; nothing with `--quiet`. */
  progress(label: string, total: number): Progress;
}

export interface Progress {
  /** One step more is done. */
  step(): void;
  /** So many steps are done. */
  upTo(count: number): void;
  /** Takes the line away. */
  end(): void;
}
