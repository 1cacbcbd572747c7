import type { Milliseconds } from '../../core/duration.ts';
import type { Clock } from '../../core/system.ts';
import type { Answer } from './answer.ts';

/** Answers of one second have one Date. */
const sameDate: Milliseconds = 2000;
/** So many characters of a key tell it from others. */
const tellingChars = 4;
/** Most keys that are remembered: one that a list shows is enough. */
const mostMade = 100;

/** The key of what an answer says was made by its request. */
export type KeyMade = (answer: Answer) => string | undefined;

export type Ages = ReturnType<typeof openAges>;

/** When the answers of each server were made (docs/exactly-once.md, Lookups that decide). */
export function openAges(clock: Pick<Clock, 'elapsed'>, warn: (text: string) => void) {
  const servers = new Map<string, ReturnType<typeof watchAges>>();
  return (base: string) => {
    const { origin, host } = new URL(base);
    const known = servers.get(origin) ?? watchAges(clock, host, warn);
    servers.set(origin, known);
    return known;
  };
}

/**
 * The moment of an answer on the clock `elapsed`: a cache adds Age or repeats a Date. Infinity: after `sent`. An Age is
 * none where the answer shows what a POST of this run made after the moment that it tells.
 */
function watchAges({ elapsed }: Pick<Clock, 'elapsed'>, host: string, warn: (text: string) => void) {
  const dates = new Map<string, Milliseconds>();
  /** Keys, and when the POST that made one was sent. */
  const made = new Map<string, Milliseconds>();
  let ages: 'none' | 'told' | 'wrong' = 'none';
  return (answer: Answer, sent: Milliseconds, keyMade?: KeyMade): Milliseconds => {
    const { headers } = answer;
    const [date, age] = [String(headers['date'] ?? ''), Number.parseFloat(String(headers['age'] ?? ''))];
    const now = elapsed();
    const first = dates.get(date) ?? now;
    if (date !== '') dates.set(date, first);
    if (age > 0 && ages === 'none') ages = 'told';
    const key = ages === 'told' && made.size < mostMade ? keyMade?.(answer) : undefined;
    if (key !== undefined && key.length >= tellingChars) made.set(key, sent);
    const isShown = ([key, begun]: readonly [string, Milliseconds]): boolean =>
      begun > now - age * 1000 && answer.text.includes(key);
    if (ages === 'told' && [...made].some(isShown)) {
      ages = 'wrong';
      warn(`${host} says Age: ${age} of an answer that shows a license made after that: its Age is ignored`);
    }
    const byAge = age > 0 && ages === 'told' ? sent - (age + 1) * 1000 : Infinity;
    return Math.min(now - first > sameDate ? first : Infinity, byAge);
  };
}
