import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Clock } from '../../core/system.ts';
import type { Answer } from './answer.ts';

/** Answers of one second have one Date. */
const sameDate: Milliseconds = 2000;

/** When an answer was made, on the clock `elapsed`: a cache adds Age or repeats a Date. Infinity: after `sent`. */
export function watchAges({ elapsed }: Pick<Clock, 'elapsed'>) {
  const dates = new Map<string, Milliseconds>();
  return ({ headers }: Answer, sent: Milliseconds): Milliseconds => {
    const [date, age] = [String(headers['date'] ?? ''), Number.parseFloat(String(headers['age'] ?? ''))];
    const now = elapsed();
    const first = dates.get(date) ?? now;
    if (date !== '') dates.set(date, first);
    return Math.min(now - first > sameDate ? first : Infinity, age > 0 ? sent - (age + 1) * 1000 : Infinity);
  };
}

/** An old answer in place of one that decides is as little a whole list as half of one. */
export function oldAnswer({ headers, http }: Answer): Failure {
  const said = ['age', 'date', 'x-cache', 'cache-status', 'via', 'server'].flatMap((name) =>
    headers[name] === undefined ? [] : [`${name}: ${String(headers[name])}`],
  );
  return new Failure('incomplete', `a cache gave an old answer in place of the list (${said.join('; ')})`, {
    hint: 'Let the cache in front of the licensing API pass /v1/license/ by, or heed Cache-Control: no-cache; then repeat the command.',
    http,
    retryable: false,
  });
}
