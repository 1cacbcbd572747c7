import { Failure } from '../core/failure.ts';

/** One thing that was looked at. */
export interface Check {
  readonly check:
    'configuration' | 'environment' | 'key' | 'network' | 'clock' | 'credential' | 'feature level' | 'ledger';
  /** The profile, file or host that it is about. */
  readonly subject: string;
  readonly status: 'ok' | 'note' | 'problem';
  readonly detail: string;
  /** What to do. */
  readonly advice: string | null;
}

/** A thing that was looked at, with the failure where it is a problem. */
export interface Examined {
  readonly row: Check;
  readonly failure?: Failure;
}

/** Looks at something, and yields what came of it. Returns what was found; undefined where it is a problem. @throws Failure of an interruption */
export async function* attempt<T>(
  check: Check['check'],
  subject: string,
  look: () => Promise<T>,
  tell: (found: T) => string,
): AsyncGenerator<Examined, T | undefined> {
  try {
    const found = await look();
    yield { row: { check, subject, status: 'ok', detail: tell(found), advice: null } };
    return found;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    yield problem(check, subject, cause);
    return undefined;
  }
}

/** A row of a problem. */
export function problem(check: Check['check'], subject: string, failure: Failure): Examined {
  const row = {
    check,
    subject,
    status: 'problem',
    detail: failure.message,
    advice: failure.details.hint ?? null,
  } as const;
  return { row, failure };
}
