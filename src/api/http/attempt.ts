import type { Dispatcher } from 'undici';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { ReceivedAnswer } from './answer.ts';
import { TooLarge, Unconnected, barrier, endingOfError } from './fault.ts';
import type { Answer, BodyLimits, Call, Connection, TransportSurroundings } from './call.ts';
import type { Request } from './request.ts';
import { endingOf, type AttemptEnding } from './retry.ts';
import type * as Transport from './transport.ts';

/** What one attempt came to. */
export type Attempt =
  | { readonly ending: AttemptEnding; readonly answer: ReceivedAnswer; readonly failure?: undefined }
  | { readonly ending: AttemptEnding; readonly answer?: undefined; readonly failure: Failure };

/** Sends a request once. `attempt`: of its call, counted from 1. @throws what the signal aborts with */
export async function attemptOnce(
  connection: Connection,
  call: Call,
  request: Request,
  attempt: number,
): Promise<Attempt> {
  const { clock, observe } = connection;
  const { method, shown: url, headers, shownBody: body } = request;
  observe({ kind: 'request', method, url, attempt, headers: () => shownHeaders(headers), body });
  const start = clock.now();
  try {
    const answer = await followInside(connection, call, request);
    observe({ kind: 'answer', method, url, attempt, answer, sealed: connection.sealed, took: clock.now() - start });
    return { ending: endingOf(answer.status), answer };
  } catch (cause) {
    if (connection.signal.aborted) throw interrupted(connection.signal, call, request, cause);
    if (cause instanceof TooLarge && call.maxBytes !== undefined)
      return { ending: 'barred', failure: new Failure('rejected', `it is larger than ${call.maxBytes} bytes`) };
    const ending = endingOfError(cause);
    const failure = barrier(cause, { method, url }, connection.surroundings.env, timeoutOf(connection, call));
    observe({ kind: 'trouble', method, url, attempt, message: failure.message });
    return { ending, failure };
  }
}

/** The longest time of a request that has no limit of its own. */
export const defaultTimeout: Milliseconds = 30_000;

function timeoutOf(connection: Connection, call: Call): Milliseconds {
  return connection.timeout ?? call.timeout ?? defaultTimeout;
}

function shownHeaders({ authorization, ...headers }: Record<string, string>): Record<string, string> {
  return authorization === undefined
    ? headers
    : { ...headers, authorization: `${authorization.split(' ')[0] ?? ''} [secret]` };
}

const mostRedirects = 5;

/** Redirects of reads inside the origin are followed; any other is an answer that the caller judges. */
async function followInside(connection: Connection, call: Call, request: Request): Promise<ReceivedAnswer> {
  const transport = await loadTransport();
  const dispatcher = connection.dispatcher ?? (await dispatcherFor(connection));
  let url = request.url;
  for (let hops = 0; ; hops += 1) {
    const answer = await transport.exchange(dispatcher, {
      // Written out: V8 takes a slow path for a copy by spread.
      method: request.method,
      url,
      shown: request.shown,
      headers: request.headers,
      body: request.body,
      timeout: timeoutOf(connection, call),
      alarm: connection.alarm,
      bodyLimits: limitsOf(connection, call),
      signal: connection.signal,
    });
    const next = call.method === 'GET' ? redirectTarget(answer, url) : undefined;
    if (next === undefined || new URL(next).origin !== new URL(url).origin || hops === mostRedirects) return answer;
    url = next;
  }
}

function limitsOf({ bodyLimits }: Connection, { isLong, maxBytes }: Call): BodyLimits {
  const { usual, long } = bodyLimits;
  if (maxBytes === undefined) return isLong ? long : usual;
  return { ...long, spool: long.spool && { ...long.spool, limit: maxBytes } };
}

let loading: Promise<typeof Transport> | undefined;

/** Loaded once: each `import` resolves the path again. */
function loadTransport(): Promise<typeof Transport> {
  return (loading ??= import('./transport.ts'));
}

/** One set of connections for the process, made at the first request. */
const opened = new WeakMap<TransportSurroundings, Promise<Dispatcher>>();

function dispatcherFor({ surroundings, signal }: Connection): Promise<Dispatcher> {
  const known =
    opened.get(surroundings) ?? import('./route.ts').then((route) => route.openDispatcher(surroundings, signal));
  opened.set(surroundings, known);
  return known;
}

function redirectTarget(answer: Answer, url: string): string | undefined {
  const location = answer.headers['location'];
  if (![301, 302, 303, 307, 308].includes(answer.status) || typeof location !== 'string') return undefined;
  return URL.canParse(location, url) ? new URL(location, url).href : undefined;
}

/** A write that was sent when the command was ended may have happened: the message says so. */
function interrupted(signal: AbortSignal, call: Call, { method, shown: url }: Request, cause: unknown): unknown {
  const reason: unknown = signal.reason;
  const isSafe = !['if unprocessed', 'once'].includes(call.repeat) || cause instanceof Unconnected;
  if (!(reason instanceof Failure) || isSafe) return reason;
  const kind = reason.kind === 'unavailable' ? 'unknown' : reason.kind;
  return new Failure(kind, `${reason.message}; the request may or may not have been carried out`, {
    http: { method, url },
    cause: reason,
    retryable: false,
  });
}
