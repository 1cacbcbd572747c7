import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { type Answer, unconfirmed } from './answer.ts';
import type { BodyLimits, Call, Connection } from './call.ts';
import type { Request } from './request.ts';
import { endingOf, sentError, TransportError } from './transport-error.ts';
import type * as Transport from './transport.ts';

/** Sends a request once. `attempt`: of its call, counted from 1. @throws what the signal aborts with */
export async function attemptOnce(connection: Connection, call: Call, request: Request, attempt: number) {
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
    // A file of ours, such as that of the authorities, is the same the next time.
    const error = cause instanceof Failure ? nothingSent(cause) : sentError(cause);
    const failure = error.failure({ method, url }, timeoutOf(connection, call));
    observe({ kind: 'failure', method, url, attempt, message: failure.message });
    return { ending: error.ending, answer: undefined, failure };
  }
}

function nothingSent(failure: Failure): Pick<TransportError, 'ending' | 'failure'> {
  return { ending: { request: 'unprocessed', again: 'never' }, failure: () => failure };
}

/** The longest time of a request that has no limit of its own. */
export const defaultTimeout: Milliseconds = 30_000;

function timeoutOf({ timeout: chosen }: Connection, { timeout = defaultTimeout, repeat }: Call): Milliseconds {
  return repeat === 'never' ? Math.min(chosen ?? timeout, timeout) : (chosen ?? timeout);
}

/** By name: the redactor leaves short values. */
function shownHeaders(connection: Connection, headers: Record<string, string>): Record<string, string> {
  const shown = Object.entries(headers).map(([name, text]): [string, string] => {
    if (name === 'authorization') return [name, `${text.split(' ')[0] ?? ''} [secret]`];
    return [name, name in connection.headers ? '[secret]' : text];
  });
  return Object.fromEntries(shown);
}

const mostRedirects = 5;

let loading: Promise<typeof Transport> | undefined;

/** Redirects of reads inside the origin are followed; any other is an answer that the caller judges. */
async function followInside(connection: Connection, call: Call, request: Request): Promise<Answer> {
  // Loaded once: each `import` resolves the path again.
  const { exchange } = await (loading ??= import('./transport.ts'));
  const { outlasts, deciding } = call;
  const limits = { timeout: timeoutOf(connection, call), body: bodyLimitsOf(connection, call), outlasts, deciding };
  let url = request.url;
  for (let hops = 0; ; hops += 1) {
    const answer = await exchange(connection, request, url, limits);
    const next = call.method === 'GET' ? redirectTarget(answer, url) : undefined;
    if (next === undefined || new URL(next).origin !== new URL(url).origin || hops === mostRedirects) return answer;
    url = next;
  }
}

function bodyLimitsOf({ bodyLimits: { usual, long } }: Connection, { isLong, maxBytes }: Call): BodyLimits {
  if (maxBytes === undefined) return isLong ? long : usual;
  return { ...long, spool: long.spool && { ...long.spool, limit: maxBytes }, isOfFile: true };
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
