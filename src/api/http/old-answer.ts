import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Clock } from '../../core/system.ts';
import type { Answer } from './answer.ts';

/** Within it a server gives several answers one Date, which counts whole seconds. */
const sameDate: Milliseconds = 2000;

/**
 * Tells when an answer was made, on the clock `elapsed`: a cache says it by Age, which counts whole seconds, or keeps the Date of the answer
 * that it repeats. Infinity where neither says that it is older than its request, which was sent at `sent`.
 */
export function watchAges({ elapsed }: Pick<Clock, 'elapsed'>) {
  /** When an answer with that Date came first. */
  const dates = new Map<string, Milliseconds>();
  return ({ headers }: Answer, sent: Milliseconds): Milliseconds => {
    const now = elapsed();
    const [date, age] = [String(headers['date'] ?? ''), Number.parseFloat(String(headers['age'] ?? ''))];
    const first = dates.get(date) ?? now;
    if (date !== '') dates.set(date, first);
    return Math.min(now - first > sameDate ? first : Infinity, age > 0 ? sent - (age + 1) * 1000 : Infinity);
  };
}

const cacheHeaders = ['age', 'date', 'x-cache', 'cache-status', 'via', 'server'] as const;

/** An old answer in place of one that decides, with the headers that name its cache: it is as little a whole list as half of one. */
export function oldAnswer({ headers, http }: Answer): Failure {
  const said = cacheHeaders.flatMap((name) =>
    headers[name] === undefined ? [] : [`${name}: ${String(headers[name])}`],
  );
  return new Failure('incomplete', `a cache gave an old answer in place of the list (${said.join('; ')})`, {
    hint: 'Let the cache in front of the licensing API pass /v1/license/ by, or heed Cache-Control: no-cache; then repeat the command.',
    http,
    retryable: false,
  });
}
