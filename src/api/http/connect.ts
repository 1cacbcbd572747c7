import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { type Answer, mostRedirects, unconfirmed } from './answer.ts';
import type { Call, Connection, Send } from './call.ts';
import { unusedProxy } from './proxy.ts';
import { guard, wireRequest, type Request } from './request.ts';
import { askedBy, askedWait, backoff, beyondWait, longestRateLimit, nextStep, rateLimitWait } from './retry.ts';
import { endingOf, sentError, TransportError } from './transport-error.ts';

/**
 * Sends every call of both services, repeated as retry.ts says. @throws Failure config, unavailable, unknown (an
 * unconfirmed request: settle it, never send it again), or the signal's reason
 */
export function connect(connection: Connection): Send {
  return async (call) => {
    const request = wireRequest(connection, call);
    guard(connection, request, call);
    const { host } = new URL(connection.base);
    const cancelAlarm = connection.alarm(10_000, () => connection.observe({ kind: 'slow', host }));
    return repeatUntilDone(connection, call, request).finally(cancelAlarm);
  };
}

async function repeatUntilDone(connection: Connection, call: Call, request: Request) {
  const { clock, gate, signal } = connection;
  const begun = clock.elapsed();
  let [retries, rateLimits, waited, sent, pause] = [0, 0, 0, begun, 0];
  let [afterUnconfirmed, isInTurn] = [false, false];
  const attempt = async () => {
    if (pause > 0) await clock.sleep(pause, signal);
    await passGate(connection, request, call);
    sent = clock.elapsed();
    return attemptOnce(connection, call, request, 1 + retries + rateLimits);
  };
  for (;;) {
    const { answer, failure, ending } = await (isInTurn ? gate.inTurn(bucketOf(connection), attempt) : attempt());
    const step = nextStep(call.repeat, ending, answer ? 'an answer' : 'no answer');
    if (ending.request === 'unknown' && call.repeat !== 'if unprocessed') connection.unanswered?.();
    if (step === 'leave unconfirmed') {
      const http = { method: request.method, url: request.shown, ...(answer && { status: answer.status }) };
      throw unconfirmed(failure ? failure.message : `the server answered ${answer.status}`, { http, cause: failure });
    }
    if (step === 'wait') {
      const asked = answer && askedBy(answer, clock.now());
      const wait = rateLimitWait(asked, rateLimits, clock.random());
      const least = rateLimitWait(asked, 0, 0);
      rateLimits += 1;
      waited += wait;
      // All workers wait at the gate; this call waits no longer than it may in total.
      gate.closeUntil(bucketOf(connection), clock.elapsed() + wait);
      if (connection.retries === 0 || !fits(connection, wait, waited)) {
        const said = asked === undefined ? 'the server answered 429, and does not say how long to wait' : undefined;
        throw beyondWait(request, said ?? askedWait(least, 429), waited, answer);
      }
      const why = asked === undefined || wait > least ? 'is busy: waiting' : 'asks to wait';
      reportWait(connection, request, wait, `the server ${why} (429)`);
      continue;
    }
    if (step === 'repeat' && ending.request === 'unknown') afterUnconfirmed = true;
    // The server still has a request in its queue that a gateway gave up, so such repetitions go one at a time. Each
    // pauses in its turn for as long as the gateway waited, or they fill the queue faster than the server drains it.
    isInTurn = ending.request === 'unknown' && answer !== undefined;
    const asked = step === 'repeat' && answer?.status === 503 ? askedBy(answer, clock.now()) : undefined;
    const wait = step === 'repeat' ? Math.max(backoff(retries, clock.random()), asked ?? 0) : undefined;
    if (asked !== undefined && wait !== undefined && retries < connection.retries) {
      waited += wait;
      if (!fits(connection, wait, waited)) throw beyondWait(request, askedWait(wait, 503), waited, answer);
    }
    if (wait === undefined || retries >= connection.retries || !fits(connection, wait)) {
      if (failure) throw failure;
      return Object.assign(answer, { afterUnconfirmed, waited: sent - begun });
    }
    retries += 1;
    const why = asked === undefined ? `retry ${retries} of ${connection.retries}` : 'the server asks to wait (503)';
    reportWait(connection, request, wait, why);
    pause = isInTurn ? Math.min(wait, clock.elapsed() - sent) : 0;
    await clock.sleep(wait - pause, signal);
  }
}

/** Waits until the server and the caller allow a request; a wait that would be too long ends the call unsent. */
async function passGate(connection: Connection, request: Request, { before }: Call): Promise<void> {
  const { clock, signal, gate } = connection;
  const bucket = bucketOf(connection);
  for (let wait = gate.wait(bucket); wait > 0; wait = gate.wait(bucket)) {
    if (!fits(connection, wait)) throw beyondWait(request, askedWait(wait, 429), wait);
    await clock.sleep(wait, signal);
  }
  await before?.();
}

function reportWait({ observe }: Connection, { method, shown: url }: Request, span: Milliseconds, why: string): void {
  observe({ kind: 'wait', method, url, span, why });
}

/** Servers rate-limit requests without credentials separately. */
function bucketOf({ base, authorization }: Connection): string {
  return `${base} ${authorization === undefined ? 'open' : 'signed in'}`;
}

/** `total`: how long this call alone was asked to wait; it is limited where there is no deadline. */
function fits({ deadline, clock }: Connection, wait: Milliseconds, total = wait): boolean {
  return deadline === undefined ? total <= longestRateLimit : clock.elapsed() + wait < deadline;
}

/** Sends a request once. `attempt`: of its call, counted from 1. @throws what the signal aborts with */
async function attemptOnce(connection: Connection, call: Call, request: Request, attempt: number) {
  const { clock, observe, sealed } = connection;
  const { method, shown: url, headers, shownBody: body } = request;
  observe({ kind: 'request', method, url, attempt, headers: () => shownHeaders(connection, headers), body });
  const start = clock.now();
  try {
    const answer = await followInside(connection, call, request);
    const isRead = method === 'GET' || call.isRead === true;
    observe({ kind: 'answer', method, url, attempt, answer, isRead, sealed, took: clock.now() - start });
    return { ending: endingOf(answer.status), answer, failure: undefined };
  } catch (cause) {
    if (connection.signal.aborted) throw endOfInterrupted(connection.signal, call, request, cause);
    // A local file that cannot be used, such as the CA file, would fail the next attempt too.
    if (cause instanceof Failure) throw cause;
    const error = sentError(cause);
    const failure = error.failure(
      { method, url },
      timeoutOf(connection, call),
      unusedProxy(connection.surroundings.env),
    );
    observe({ kind: 'failure', method, url, attempt, message: failure.message });
    return { ending: error.ending, answer: undefined, failure };
  }
}

/** The longest time of a request that has no limit of its own. */
export const defaultTimeout: Milliseconds = 30_000;

function timeoutOf({ timeout: chosen }: Connection, { timeout = defaultTimeout, repeat }: Call): Milliseconds {
  return repeat === 'never' ? Math.min(chosen ?? timeout, timeout) : (chosen ?? timeout);
}

/** Hides secret headers by their names, since the redactor leaves short values. */
function shownHeaders(connection: Connection, headers: Record<string, string>): Record<string, string> {
  const shown = Object.entries(headers).map(([name, text]): [string, string] => {
    if (name === 'authorization') return [name, `${text.split(' ')[0] ?? ''} [secret]`];
    return [name, name in connection.headers ? '[secret]' : text];
  });
  return Object.fromEntries(shown);
}

/** Redirects of reads inside the origin are followed; any other is an answer that the caller judges. */
async function followInside(connection: Connection, call: Call, request: Request): Promise<Answer> {
  const { exchange } = await import('./transport.ts');
  const timeout = timeoutOf(connection, call);
  let url = request.url;
  for (let hops = 0; ; hops += 1) {
    const answer = await exchange(connection, request, url, call, timeout);
    const next = call.method === 'GET' ? redirectTarget(answer, url) : undefined;
    if (next === undefined || new URL(next).origin !== new URL(url).origin || hops === mostRedirects) return answer;
    url = next;
  }
}

function redirectTarget(answer: Answer, url: string): string | undefined {
  const location = answer.headers['location'];
  if (![301, 302, 303, 307, 308].includes(answer.status) || typeof location !== 'string') return undefined;
  return URL.canParse(location, url) ? new URL(location, url).href : undefined;
}

/** A write that was sent when the command was ended may have happened: the message says so. */
function endOfInterrupted(signal: AbortSignal, call: Call, { method, shown: url }: Request, cause: unknown): unknown {
  const reason: unknown = signal.reason;
  const isUnsent = cause instanceof TransportError && cause.ending.request === 'unprocessed';
  const isSafe = isUnsent || !['if unprocessed', 'once'].includes(call.repeat);
  if (!(reason instanceof Failure) || isSafe) return reason;
  const kind = reason.kind === 'unavailable' ? 'unknown' : reason.kind;
  return unconfirmed(reason.message, { http: { method, url }, cause: reason }, kind);
}
