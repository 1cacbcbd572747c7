import { Planned } from '../../api/http/call.ts';
import { quantity } from '../../core/duration.ts';
import { Failure, type FailureKind } from '../../core/failure.ts';

/** Kinds of failure that end a run over many arguments: the next argument would fail the same way. */
const fatal: ReadonlySet<FailureKind> = new Set(['internal', 'usage', 'config', 'auth', 'unavailable']);

/** Whether a run over many arguments ends with this failure of one. */
export function isFatal({ kind, isInterruption }: Failure): boolean {
  return fatal.has(kind) || isInterruption;
}

/**
 * Does the same work for each argument in turn, and yields the results; failures are named at the end. `partly` makes
 * the result to yield for an argument that failed or was not reached. @throws Failure of the argument if there is only
 * one; of the common kind if all failed alike; else unknown if one failure is, or incomplete
 */
export async function* each<I, T>(
  items: readonly I[],
  label: (item: I) => string,
  work: (item: I) => Promise<T>,
  partly?: (item: I) => T,
): AsyncGenerator<T> {
  const failed: { readonly label: string; readonly failure: Failure }[] = [];
  for (const [index, item] of items.entries()) {
    try {
      yield await work(item);
    } catch (cause) {
      if (cause instanceof Planned) continue;
      if (!(cause instanceof Failure)) throw cause;
      failed.push({ label: label(item), failure: cause });
      if (partly) yield* (isFatal(cause) ? items.slice(index) : [item]).map(partly);
      if (isFatal(cause)) throw endWith(cause, index - failed.length + 1, items.slice(index).map(label), failed);
    }
  }
  const [first, ...others] = failed;
  if (!first) return;
  if (items.length === 1) throw first.failure;
  const alike = failed.length === items.length && others.every(({ failure }) => failure.kind === first.failure.kind);
  const kind = alike ? first.failure.kind : partlyDone(failed);
  throw new Failure(kind, linesOf(failed, `of ${items.length} failed`).join('\n'), {
    hint: first.failure.details.hint,
    retryable: kind !== 'unknown' && failed.some(({ failure }) => failure.retryable),
    cause: first.failure,
  });
}

type Failed = readonly { readonly label: string; readonly failure: Failure }[];

/** The failure itself if nothing was done before it; else one that names what is left, and what failed before. */
function endWith(failure: Failure, done: number, left: readonly string[], failed: Failed): Failure {
  const earlier = failed.slice(0, -1);
  const saysNothing = failure.kind === 'unavailable' || failure.kind === 'usage' || failure.kind === 'config';
  const isPartly = saysNothing && (done > 0 || earlier.length > 0);
  if (!isPartly && earlier.length === 0) return failure;
  const message = isPartly ? `${failure.message}; not done: ${left.join(', ')}` : failure.message;
  const kind = isPartly ? partlyDone(earlier) : failure.kind;
  const details = kind === 'unknown' ? { retryable: false } : {};
  return failure.as(kind, [message, ...linesOf(earlier, 'failed before')].join('\n'), details);
}

/** One unknown outcome makes the whole unknown (docs/internals/architecture.md, Failures and exit codes). */
function partlyDone(failed: Failed): FailureKind {
  return failed.some(({ failure }) => failure.kind === 'unknown') ? 'unknown' : 'incomplete';
}

function linesOf(failed: Failed, what: string): string[] {
  return failuresByReason(
    failed.map(({ label, failure }) => [label, failure.message]),
    what,
  );
}

/** The name of a failed row, and why it failed. */
export type FailedRow = readonly [label: string, reason: string];

/** The most reasons that are listed; the others are only counted. */
const maxReasons = 20;

/** Failed rows grouped by reason, two lines each: `5 failed (ada and 4 more):`, and below it the reason. */
export function failuresByReason(rows: readonly FailedRow[], what = 'failed'): string[] {
  const groups = new Map<string, string[]>();
  for (const [label, reason] of rows) if (!groups.get(reason)?.push(label)) groups.set(reason, [label]);
  const lines = [...groups].slice(0, maxReasons).flatMap(([reason, labels]) => {
    const [first = '', ...others] = labels;
    const named = others.length === 0 ? first : `${first} and ${others.length} more`;
    return [`${labels.length} ${what} (${named}):`, `  ${reason}`];
  });
  const rest = groups.size - maxReasons;
  return rest > 0 ? [...lines, `and ${quantity(rest, 'other reason')}`] : lines;
}
