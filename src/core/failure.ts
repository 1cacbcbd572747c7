export const success = { exit: 0, name: 'ok', means: 'done, an empty result included' } as const;

/** Every other way a command can end, with its exit code. EXIT STATUS in the manual is a loop over it. */
export const failures = {
  internal: { exit: 1, means: 'chatelaine cannot start, or has a bug' },
  usage: { exit: 2, means: 'a bad option, value or input file; nothing was changed' },
  config: { exit: 3, means: 'credentials, configuration or a stored file cannot be used; nothing was changed' },
  auth: { exit: 4, means: 'the server refused the credential or permission; for auth status, a credential is refused' },
  not_found: { exit: 5, means: 'something that you named does not exist, or this account cannot see it' },
  rejected: { exit: 6, means: 'the server refused or ignored something, or --jq failed' },
  unavailable: { exit: 7, means: 'network, proxy, TLS, timeout or server error; safe to run again' },
  incomplete: { exit: 8, means: 'not everything was done, perhaps nothing; the message says what is left' },
  unknown: { exit: 9, means: 'a call that is not safe to repeat may or may not have happened' },
  differences: { exit: 10, means: 'an audit or a check found differences' },
  several: { exit: 11, means: 'a user for whom this run created a license has several' },
  hangup: { exit: 129, means: 'the terminal was closed; state is saved' },
  cancelled: { exit: 130, means: 'interrupted, or the answer was no; state is saved' },
  terminated: { exit: 143, means: 'ended by SIGTERM; state is saved' },
} as const;

export type FailureKind = keyof typeof failures;

const interruptions: ReadonlySet<FailureKind> = new Set(['hangup', 'cancelled', 'terminated']);

/** The name of a failure in errors and documents; the ways of being ended are one. */
export function nameOf(kind: FailureKind): string {
  return interruptions.has(kind) ? 'cancelled' : kind;
}

/** The request that a failure speaks of; license codes in the URL are already hidden. */
export interface FailedRequest {
  readonly method: string;
  readonly url: string;
  readonly status?: number;
}

/** A server's error: beside code and words, names and numbers that they do not repeat. */
export interface ServerWords {
  readonly code?: string | undefined;
  readonly msg?: string | undefined;
  readonly [name: string]: unknown;
}

interface FailureDetails {
  /** Each thing that is wrong, where the message names several, a line each. */
  readonly problems?: readonly string[] | undefined;
  readonly hint?: string | undefined;
  readonly http?: FailedRequest | undefined;
  readonly server?: ServerWords | undefined;
  /** True if running the same command again may succeed with nothing else changed. */
  readonly retryable?: boolean | undefined;
  readonly cause?: unknown;
}

/** An end that is not a bug. The floor that knows the meaning throws it; `main` turns it into text and an exit code. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: FailureKind;
  readonly details: FailureDetails;

  constructor(kind: FailureKind, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.details = details;
  }

  get exit(): number {
    return failures[this.kind].exit;
  }

  get retryable(): boolean {
    return this.details.retryable ?? (this.kind === 'unavailable' || this.kind === 'incomplete');
  }

  /** The user ended the command (Ctrl-C, SIGTERM, SIGHUP, an answer of no): code that handles failures lets it pass. */
  get isInterruption(): boolean {
    return interruptions.has(this.kind);
  }

  /** This failure one floor up. The details stay, except those that are given; this failure is the cause. */
  as(kind: FailureKind, message: string, details: Omit<FailureDetails, 'cause'> = {}): Failure {
    return new Failure(kind, message, { ...this.details, ...details, cause: this });
  }
}

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** `ENOENT: no such file or directory, open 'x'` without its code and call. */
export function systemReason(cause: unknown): string {
  const message = messageOf(cause);
  if (message.startsWith('EISDIR')) return 'it is a directory';
  return message.replace(/^[A-Z]+: /, '').replace(/, \w+( '.*')?$/s, '');
}

/** Runs `read`; its failure starts with the name of what was read (`--since: not a time`) and has `kind`, if given. */
export function labelled<T>(label: string, read: () => T, kind?: FailureKind): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    throw cause.as(kind ?? cause.kind, `${label}: ${cause.message}`);
  }
}

export function unless<T>(kind: abstract new (...given: never[]) => Error, read: () => T): T | undefined {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof kind) return undefined;
    throw cause;
  }
}

/** A failure of input: nothing was sent. All problems of one input are named at once. */
export function usage(problems: string | readonly string[], hint?: string): Failure {
  if (typeof problems === 'string') return new Failure('usage', problems, { hint });
  return new Failure('usage', problems.join('\n'), { problems, hint });
}

/** Turns a failure into a warning; `lost`: what follows from the failure. */
export function orWarn<T>(work: Promise<T>, warn: (text: string) => void, lost?: string): Promise<T | undefined> {
  return work.catch((cause: unknown) => {
    if (!(cause instanceof Failure)) throw cause;
    warn([cause.message, lost].filter(Boolean).join('; '));
    return undefined;
  });
}

export function warnOnce(warn: (text: string) => void): (text: string) => void {
  const warned = new Set<string>();
  return (text) => {
    if (!warned.has(text)) warn(text);
    warned.add(text);
  };
}

/** The result of an optional request, such as one that completes an error; undefined where the request fails. */
export function ifAnswered<T>(request: Promise<T>): Promise<T | undefined> {
  return request.catch((cause: unknown) => {
    if (cause instanceof Failure && !cause.isInterruption) return undefined;
    throw cause;
  });
}

/** Why a signal was aborted, as an error to reject with; the platform types the reason as anything. */
export function abortReason(signal: Pick<AbortSignal, 'reason'> | undefined): Error {
  return errorOf(signal?.reason);
}

export function errorOf(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}

/** Waits, then calls `ring`; what it returns ends the wait. */
type Wait = (ring: () => void) => () => void;

/** The outcome of work, or the signal's reason if it aborts first, after a `wait`; the work itself continues. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal, wait?: Wait): Promise<T> {
  return new Promise((resolve, reject) => {
    let cancel: ReturnType<Wait> | undefined;
    const ring = (): void => reject(abortReason(signal));
    const stop = (): void => (wait ? void (cancel = wait(ring)) : ring());
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    void work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', stop);
      cancel?.();
    });
  });
}
