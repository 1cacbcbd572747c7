import type { Dispatcher } from 'undici';
import type { Milliseconds } from '../core/duration.ts';
import { formatDuration } from '../core/duration.ts';
import { Failure } from '../core/failure.ts';
import { parseJson, writeJson } from '../core/json.ts';
import { Secret } from '../core/secret.ts';
import type { Clock } from '../core/world.ts';
import { barrier, endingOfError } from './network.ts';
import type { Path } from './path.ts';
import {
  backoff,
  decide,
  endingOf,
  holdBack,
  longestHold,
  retryAfter,
  type Ending,
  type Gate,
  type Repeat,
} from './retry.ts';
import type { Surroundings, WireAnswer } from './transport.ts';

/** Names and texts of a query or form, in the order in which they are sent. */
export type Parameters = readonly (readonly [name: string, text: string | Secret])[];

export interface Call {
  readonly method: Dispatcher.HttpMethod;
  readonly path: Path;
  readonly query?: Parameters;
  readonly json?: unknown;
  readonly form?: Parameters;
  readonly repeat: Repeat;
  readonly timeout?: Milliseconds;
}

export interface Answer {
  readonly status: number;
  readonly headers: WireAnswer['headers'];
  readonly text: string;
  /** The body as data; undefined where it is no JSON. */
  readonly body: unknown;
  /** The request as it may be shown in an error. */
  readonly http: { readonly method: string; readonly url: string; readonly status: number };
  /** Whether an attempt before this one may have been processed without an answer reaching us. */
  readonly afterDoubt: boolean;
}

export type Send = (call: Call) => Promise<Answer>;

/** A request that a dry run would have sent. */
export interface PlannedRequest {
  readonly method: string;
  readonly url: string;
  readonly content_type?: string;
  readonly body?: string;
}

/** Ends a write of a dry run before it is sent. */
export class Planned extends Error {}

/** What happens on the wire, for `--verbose` and `--trace`. */
export type WireEvent =
  | {
      readonly kind: 'request';
      readonly method: string;
      readonly url: string;
      readonly headers: Record<string, string>;
      readonly body: string | undefined;
    }
  | {
      readonly kind: 'answer';
      readonly method: string;
      readonly url: string;
      readonly answer: WireAnswer;
      readonly sealed: boolean;
      readonly took: Milliseconds;
    }
  | { readonly kind: 'trouble'; readonly method: string; readonly url: string; readonly message: string }
  | { readonly kind: 'wait'; readonly span: Milliseconds; readonly why: string };

export interface Connection {
  /** Origin and path of the API, without a slash at its end. */
  readonly base: string;
  readonly authorization: Secret | undefined;
  readonly userAgent: string;
  /** Answers hold license codes: a trace shows their keys and types only. */
  readonly sealed: boolean;
  readonly readOnly: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly gate: Gate;
  readonly retries: number;
  /** Overrides every call's own time-out. */
  readonly timeout: Milliseconds | undefined;
  /** The moment at which the command ends. */
  readonly deadline: Milliseconds | undefined;
  readonly bodyLimit: number;
  readonly surroundings: Surroundings;
  /** In place of the real one, in tests. */
  readonly dispatcher: Dispatcher | undefined;
  readonly plan: ((request: PlannedRequest) => void) | undefined;
  readonly observe: (event: WireEvent) => void;
}

const defaultTimeout: Milliseconds = 30_000;

interface Attempt {
  readonly ending: Ending;
  readonly answer?: WireAnswer;
  readonly failure?: Failure;
}

/**
 * The only function that touches the network: one call in, status and parsed body out, repeated as `retry.ts` says.
 * The function it returns throws Failure config (read-only profile), unavailable, unknown (a doubt that must be settled above),
 * or the signal's reason.
 */
export function connect(connection: Connection): Send {
  return async (call) => {
    const request = wireRequest(connection, call);
    if (call.method !== 'GET') guardWrite(connection, request);
    return repeatUntilDone(connection, call, request);
  };
}

interface Request {
  readonly method: Dispatcher.HttpMethod;
  readonly url: string;
  readonly shown: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

function wireRequest({ base, authorization, userAgent }: Connection, call: Call): Request {
  const query = call.query && call.query.length > 0 ? `?${encodeParameters(call.query)}` : '';
  const [contentType, body] = encodeBody(call);
  return {
    method: call.method,
    url: base + call.path.sent + query,
    shown: base + call.path.shown + query,
    headers: {
      accept: 'application/json',
      'accept-language': 'en',
      'user-agent': userAgent,
      ...(authorization === undefined ? {} : { authorization: authorization.reveal() }),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    body,
  };
}

function encodeBody({ json, form }: Call): [string | undefined, string | undefined] {
  if (json !== undefined) return ['application/json', writeJson(json)];
  if (form !== undefined) return ['application/x-www-form-urlencoded', encodeParameters(form)];
  return [undefined, undefined];
}

/** The query or body text of parameters: every server reads this form (facts page, 1.1). */
export function encodeParameters(parameters: Parameters): string {
  return new URLSearchParams(
    parameters.map(([name, text]): [string, string] => [name, text instanceof Secret ? text.reveal() : text]),
  ).toString();
}

function guardWrite({ readOnly, plan }: Connection, request: Request): void {
  if (readOnly) {
    throw new Failure('config', 'this profile is read-only: nothing was sent', {
      hint: 'Choose another profile with --profile, or sign in again without --read-only.',
      http: { method: request.method, url: request.shown },
    });
  }
  if (!plan) return;
  const type = request.headers['content-type'];
  plan({
    method: request.method,
    url: request.url,
    ...(type === undefined ? {} : { content_type: type }),
    ...(request.body === undefined ? {} : { body: request.body }),
  });
  throw new Planned();
}

async function repeatUntilDone(connection: Connection, call: Call, request: Request): Promise<Answer> {
  const { clock, signal, gate, observe } = connection;
  const started = clock.now();
  const line = `${connection.base} ${connection.authorization === undefined ? 'open' : 'signed in'}`;
  let doubted = false;
  let held = 0;
  for (let failures = 0; ;) {
    await passGate(connection, line, started, request);
    const attempt = await attemptOnce(connection, call, request);
    const decision = decide(call.repeat, attempt.ending);
    if (decision === 'take') return toAnswer(request, attempt, doubted);
    if (decision === 'doubt') throw doubtOf(request, attempt);
    if (decision === 'wait') {
      const wait = holdBack(askedWait(attempt, clock.now()), held, clock.random());
      gate.closeUntil(line, clock.now() + wait);
      if (connection.retries === 0 || !fits(connection, started, wait)) throw beyondWait(request, wait);
      observe({ kind: 'wait', span: wait, why: 'the server asks to wait (429)' });
      held += 1;
      continue;
    }
    if (attempt.ending === 'doubtful' || attempt.ending === 'overloaded') doubted = true;
    const wait = backoff(failures, clock.random());
    if (decision === 'give up' || failures >= connection.retries || !fitsDeadline(connection, wait)) {
      throw failureOf(request, attempt);
    }
    failures += 1;
    observe({ kind: 'wait', span: wait, why: `repeat ${failures} of ${connection.retries}` });
    await clock.sleep(wait, signal);
  }
}

/** Waits until the server wants requests again; a wait that is too long is not begun, and nothing is sent. */
async function passGate(connection: Connection, line: string, started: Milliseconds, request: Request): Promise<void> {
  const { clock, signal, gate } = connection;
  for (let wait = gate.wait(line); wait > 0; wait = gate.wait(line)) {
    if (!fits(connection, started, wait)) throw beyondWait(request, wait);
    await clock.sleep(wait, signal);
  }
}

async function attemptOnce(connection: Connection, call: Call, request: Request): Promise<Attempt> {
  const { clock, observe } = connection;
  const { method, shown: url, headers, body } = request;
  observe({ kind: 'request', method, url, headers: shownHeaders(headers), body });
  const start = clock.now();
  try {
    const answer = await followInside(connection, call, request);
    observe({ kind: 'answer', method, url, answer, sealed: connection.sealed, took: clock.now() - start });
    return { ending: endingOf(answer.status), answer };
  } catch (cause) {
    if (connection.signal.aborted) throw interrupted(connection.signal, call, request);
    const ending = endingOfError(cause);
    const failure = barrier(cause, { method, url }, connection.surroundings.env, timeoutOf(connection, call));
    observe({ kind: 'trouble', method, url, message: failure.message });
    return { ending, failure };
  }
}

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
async function followInside(connection: Connection, call: Call, request: Request): Promise<WireAnswer> {
  const transport = await import('./transport.ts');
  const choose = connection.dispatcher
    ? () => connection.dispatcher as Dispatcher
    : await dispatchers(connection.surroundings);
  let url = request.url;
  for (let hops = 0; ; hops += 1) {
    const answer = await transport.exchange(choose(url), {
      ...request,
      url,
      timeout: timeoutOf(connection, call),
      bodyLimit: connection.bodyLimit,
      signal: connection.signal,
    });
    const next = call.method === 'GET' ? redirectTarget(answer, url) : undefined;
    if (next === undefined || new URL(next).origin !== new URL(url).origin || hops === mostRedirects) return answer;
    url = next;
  }
}

/** One set of connections for the process, made at the first request. */
const opened = new WeakMap<Surroundings, Promise<(url: string) => Dispatcher>>();

function dispatchers(surroundings: Surroundings): Promise<(url: string) => Dispatcher> {
  const known =
    opened.get(surroundings) ?? import('./transport.ts').then((transport) => transport.openDispatcher(surroundings));
  opened.set(surroundings, known);
  return known;
}

function redirectTarget(answer: WireAnswer, url: string): string | undefined {
  const location = answer.headers['location'];
  if (![301, 302, 303, 307, 308].includes(answer.status) || typeof location !== 'string') return undefined;
  return URL.canParse(location, url) ? new URL(location, url).href : undefined;
}

function toAnswer(request: Request, { answer }: Attempt, afterDoubt: boolean): Answer {
  if (!answer) throw new Error('an attempt was taken without an answer');
  const { status, headers, text } = answer;
  return {
    status,
    headers,
    text,
    body: bodyOf(text),
    http: { method: request.method, url: request.shown, status },
    afterDoubt,
  };
}

function bodyOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function askedWait({ answer }: Attempt, now: Milliseconds): Milliseconds | undefined {
  const header = answer?.headers['retry-after'];
  return retryAfter(bodyOf(answer?.text ?? ''), typeof header === 'string' ? header : undefined, now);
}

function fits(connection: Connection, started: Milliseconds, wait: Milliseconds): boolean {
  if (connection.deadline !== undefined) return fitsDeadline(connection, wait);
  return connection.clock.now() + wait - started <= longestHold;
}

function fitsDeadline({ deadline, clock }: Connection, wait: Milliseconds): boolean {
  return deadline === undefined || clock.now() + wait < deadline;
}

/** Rounded up to what `--deadline` takes. */
function beyondWait({ method, shown: url }: Request, wait: Milliseconds): Failure {
  const span = formatDuration(Math.ceil(wait / 1000) * 1000);
  return new Failure('unavailable', `the server asks to wait ${span} before the next request (429)`, {
    hint: `Run the command again after that, or give --deadline more than ${span}.`,
    http: { method, url, status: 429 },
  });
}

function doubtOf(request: Request, attempt: Attempt): Failure {
  const what = attempt.failure?.message ?? `the server answered ${attempt.answer?.status ?? 0}`;
  return new Failure('unknown', `${what}; the request may or may not have been carried out`, {
    http: httpOf(request, attempt),
    cause: attempt.failure,
    retryable: false,
  });
}

function failureOf(request: Request, attempt: Attempt): Failure {
  if (attempt.failure) return attempt.failure;
  return new Failure('unavailable', `the server is not available (${attempt.answer?.status ?? 0})`, {
    hint: 'Run the command again later.',
    http: httpOf(request, attempt),
  });
}

function httpOf({ method, shown }: Request, { answer }: Attempt): { method: string; url: string; status?: number } {
  return { method, url: shown, ...(answer === undefined ? {} : { status: answer.status }) };
}

/** A write that was under way when the command was ended may have happened: the message says so. */
function interrupted(signal: AbortSignal, call: Call, { method, shown: url }: Request): unknown {
  const reason: unknown = signal.reason;
  if (!(reason instanceof Failure) || call.repeat !== 'if unprocessed') return reason;
  const kind = reason.kind === 'unavailable' ? 'unknown' : reason.kind;
  return new Failure(kind, `${reason.message}; the request under way may or may not have been carried out`, {
    http: { method, url },
    cause: reason,
    retryable: false,
  });
}
