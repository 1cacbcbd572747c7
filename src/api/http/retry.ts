import { limiter } from '../../core/batch.ts';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { Clock } from '../../core/system.ts';
import { type Answer, serverWords } from './answer.ts';
import type { AttemptEnding } from './transport-error.ts';

/**
 * How far a call may be repeated (docs/apis.md, Retries). `safe`: always; `if unprocessed`: where the server certainly
 * did nothing; `once`: the same, but the caller judges a 5xx; `by caller`: the same, and the caller judges a missing
 * answer too; `never`: one attempt that no `--timeout` prolongs.
 */
export type Repeat = 'safe' | 'if unprocessed' | 'once' | 'by caller' | 'never';

/** What follows an attempt; at its `end` the answer, or the failure, is the caller's. */
export type NextStep = 'end' | 'repeat' | 'wait' | 'leave unconfirmed';

export function nextStep(repeat: Repeat, { request, again }: AttemptEnding, last: 'an answer' | 'no answer'): NextStep {
  if (repeat === 'never') return 'end';
  if (again === 'after the wait asked for') return 'wait';
  if (request === 'unknown' && repeat === 'if unprocessed') return 'leave unconfirmed';
  if (request === 'unknown' && repeat === 'once' && last === 'no answer') return 'leave unconfirmed';
  const isHarmless = request === 'unprocessed' || repeat === 'safe';
  return again === 'after a backoff' && isHarmless ? 'repeat' : 'end';
}

/** Exponential with full jitter: anything between nothing and the doubled span, to 30 s. `attempt` counts from 0. */
export function backoff(attempt: number, random: number): Milliseconds {
  return random * Math.min(30_000, 500 * 2 ** attempt);
}

/** Added to what the server asks for, so that a fast clock does not ask too early (docs/apis.md, Rate limits). */
const margin: Milliseconds = 75;

/** How long to wait after a 429: at least what the server asks for, else the back-off, at least a second. */
export function rateLimitWait(asked: Milliseconds | undefined, attempt: number, random: number): Milliseconds {
  if (asked === undefined) return Math.max(1000, backoff(attempt, random));
  return asked + margin + (attempt > 2 ? backoff(attempt - 2, random) : 0);
}

/** The longest wait for a 429 where the command has no deadline (docs/apis.md, Rate limits). */
export const longestRateLimit: Milliseconds = 120_000;

/**
 * The wait that an answer asks for, the longer of body and header (docs/apis.md, Rate limits); undefined for none. A
 * date is counted from the answer's own Date.
 */
export function askedBy({ body, headers }: Pick<Answer, 'body' | 'headers'>, now: Milliseconds) {
  const spoken = isObject(body) ? body['retry-after'] : undefined;
  const answered = dateOf(headers) ?? now;
  const asked = [spoken, headers['retry-after']].flatMap((value) => spanOf(value, answered) ?? []);
  return asked.length === 0 ? undefined : Math.max(...asked);
}

/** Longer than any server means. */
const longestAsked: Milliseconds = 366 * 86_400_000;

function spanOf(value: unknown, now: Milliseconds): Milliseconds | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  const span = typeof value === 'number' ? value : /^\d+(\.\d*)?$|^\.\d+$/.test(text) ? Number(text) : NaN;
  if (span >= 0 && value !== Infinity) return Math.min(longestAsked, Math.ceil(span * 1000));
  const date = /^([a-z]{3,9},? \d|\d{4}-\d\d-\d\dT)/i.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The failure of a call that would have to wait for too long. */
export function beyondWait(
  { method, shown: url }: { readonly method: string; readonly shown: string },
  message: string,
  wait: Milliseconds,
  answer?: Answer,
): Failure {
  return new Failure('unavailable', message, {
    hint: `Run the command again after that, or give --deadline more than ${inSeconds(wait)}.`,
    http: { method, url, status: answer?.status ?? 429 },
    ...(answer?.body === undefined ? {} : { server: serverWords(answer.body) }),
  });
}

export function askedWait(wait: Milliseconds, status: 429 | 503): string {
  return `the server asks to wait ${inSeconds(wait)} before the next request (${status})`;
}

/** Rounded up to what `--deadline` takes. */
function inSeconds(span: Milliseconds): string {
  return formatDuration(Math.ceil(span / 1000) * 1000);
}

export type Gate = ReturnType<typeof openGate>;

/** Makes all workers wait after a 429. A bucket is what a server counts together: one account's requests. */
export function openGate({ elapsed }: Pick<Clock, 'elapsed'>) {
  const opens = new Map<string, Milliseconds>();
  const turns = new Map<string, ReturnType<typeof limiter>>();
  return {
    /** Runs the work of a bucket one after another. */
    inTurn: <T>(bucket: string, work: () => Promise<T>): Promise<T> => {
      const turn = turns.get(bucket) ?? limiter(1);
      turns.set(bucket, turn);
      return turn(work);
    },
    /** Holds requests of the bucket back until this moment of the clock `elapsed`. */
    closeUntil: (bucket: string, moment: Milliseconds): void =>
      void opens.set(bucket, Math.max(opens.get(bucket) ?? -Infinity, moment)),
    /** How long a request of the bucket has to wait. */
    wait: (bucket: string): Milliseconds => Math.max(0, (opens.get(bucket) ?? -Infinity) - elapsed()),
  };
}

/** The time at the servers of a run, by the `Date` of their responses (docs/apis.md, Clocks). */
export function openServerClock({ elapsed }: Pick<Clock, 'elapsed'>) {
  let ahead: Milliseconds | undefined;
  return {
    /** A cache repeats an old Date, so only a newer one counts. */
    read({ headers }: Pick<Answer, 'headers'>): void {
      const date = dateOf(headers);
      if (date !== undefined) ahead = Math.max(ahead ?? -Infinity, date - elapsed());
    },
    /** Undefined before the first response that has a Date. */
    now: (): Milliseconds | undefined => (ahead === undefined ? undefined : elapsed() + ahead),
  };
}

/** When a response was made, by itself. */
function dateOf({ date }: Answer['headers']): Milliseconds | undefined {
  const time = typeof date === 'string' ? Date.parse(date) : NaN;
  return Number.isNaN(time) ? undefined : time;
}
