import type { Milliseconds } from '../../../core/duration.ts';
import type { Clock } from '../../../core/system.ts';
import type { SandboxAnswer } from '../../answer.ts';
import type { SandboxRequest } from '../../request.ts';

interface CacheShape {
  readonly means: string;
  /** Headers of an answer of the cache beside those of the server. */
  readonly marks: (age: Milliseconds) => SandboxAnswer['headers'];
  /** A request can pass it by. */
  readonly obeys?: true;
  /** It keeps nothing: each answer is marked all the same. */
  readonly keepsNothing?: true;
}

const marked = (age: Milliseconds): SandboxAnswer['headers'] => ({
  age: String(Math.floor(age / 1000)),
  'x-cache': 'HIT',
});

/** Every cache that can be asked for; `sandbox serve --help` and the manual show them. */
export const cacheShapes = {
  age: { means: 'its answers have Age, X-Cache: HIT and the Date of the service', marks: marked },
  date: { means: 'its answers have the Date of the service, and nothing else tells them', marks: () => ({}) },
  obedient: {
    means: 'as age; a request with Cache-Control: no-cache or no-store goes to the service',
    marks: marked,
    obeys: true,
  },
  none: { means: 'keeps nothing; every answer has Age all the same, that long', marks: marked, keepsNothing: true },
} as const satisfies Readonly<Record<string, CacheShape>>;

/**
 * A cache in front of the licensing service: a GET that was answered with 200 is answered alike for a while.
 * @param span 0: there is none
 */
export function createCache(clock: Clock, span: Milliseconds, name: keyof typeof cacheShapes = 'age') {
  const kept = new Map<string, { readonly time: Milliseconds; readonly answer: SandboxAnswer }>();
  const shape: CacheShape = cacheShapes[name];
  const withMarks = (answer: SandboxAnswer, age: Milliseconds): SandboxAnswer => ({
    ...answer,
    headers: { ...answer.headers, ...shape.marks(age) },
  });
  return (request: SandboxRequest, ask: () => SandboxAnswer): SandboxAnswer => {
    if (span === 0) return ask();
    if (shape.keepsNothing) return withMarks(ask(), span);
    const now = clock.now();
    const key = `${request.headers.authorization ?? ''} ${request.target}`;
    const known = request.method === 'GET' ? kept.get(key) : undefined;
    const passes = shape.obeys && /no-(cache|store)/.test(request.headers['cache-control'] ?? '');
    if (known && !passes && now - known.time < span) return withMarks(known.answer, now - known.time);
    const asked = ask();
    const answer = { ...asked, headers: { ...asked.headers, date: new Date(now).toUTCString() } };
    if (request.method === 'GET' && answer.status === 200) kept.set(key, { time: now, answer });
    return answer;
  };
}
