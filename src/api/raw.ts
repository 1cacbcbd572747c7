import { Failure } from '../core/failure.ts';
import { accept } from './chat/chat-answer.ts';
import { nextMessages, refuseTwoWays } from './chat/next-messages.ts';
import { type Answer, incompleteAfter, isSuccess } from './http/answer.ts';
import type { Call, Parameters, Send } from './http/call.ts';
import { encodeParameters } from './http/request.ts';
import { refuse } from './licensing/license-answer.ts';
import { pageEnd } from './licensing/page-end.ts';
import type { Service, TypedPath } from './raw-path.ts';

export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly at: TypedPath;
  /** Added to the query that the path has. */
  readonly query?: Parameters | undefined;
  /** Of the licensing API. */
  readonly json?: unknown;
  /** Of the chat API. */
  readonly form?: Parameters | undefined;
}

/** An answer as it came, and what its status means: undefined for a success. */
export interface RawAnswer {
  readonly answer: Answer;
  readonly failure: Failure | undefined;
}

/**
 * Sends one request and gives its answer, whatever its status.
 * @throws Failure config, unavailable, and unknown where a write got no answer
 */
export async function sendRaw(service: Service, send: Send, request: RawRequest): Promise<RawAnswer> {
  const answer = await send(callOf(service, request));
  return { answer, failure: failureOf(service, request, answer) };
}

/**
 * The answers of a list, page after page. Of a `next` only the query is used, on our own URL.
 * @throws Failure usage for messages in both directions; incomplete where a later page fails, or was read before
 */
export async function* sendPages(service: Service, send: Send, request: RawRequest): AsyncGenerator<RawAnswer> {
  const seen = new Set<string>();
  let query: Parameters | undefined = [...request.at.query, ...(request.query ?? [])];
  if (service === 'chat') refuseTwoWays(query);
  while (query) {
    seen.add(encodeParameters(query));
    const page: RawAnswer = await readPage(
      service,
      send,
      { ...request, at: { ...request.at, query: [] }, query },
      seen,
    );
    yield page;
    query = page.failure ? undefined : nextQuery(service, query, page.answer);
    if (query && seen.has(encodeParameters(query)))
      throw new Failure('incomplete', 'the server names a page as next that was read before', {
        http: page.answer.http,
        retryable: false,
      });
  }
}

function nextQuery(service: Service, query: Parameters, answer: Answer): Parameters | undefined {
  if (service === 'chat') return nextMessages(query, answer);
  const { next } = pageEnd(answer);
  return next === undefined ? undefined : [...new URL(next, 'http://page.invalid').searchParams];
}

async function readPage(
  service: Service,
  send: Send,
  request: RawRequest,
  { size: pages }: ReadonlySet<string>,
): Promise<RawAnswer> {
  try {
    const { answer, failure } = await sendRaw(service, send, request);
    const later = failure === undefined || pages === 1 ? failure : incompleteAfter(pages - 1, failure);
    return { answer, failure: later instanceof Failure ? later : undefined };
  } catch (cause) {
    throw pages === 1 ? cause : incompleteAfter(pages - 1, cause);
  }
}

function callOf(service: Service, { method, at, query, json, form }: RawRequest): Call {
  // A license that is set to the same values twice is the same license; of other writes nothing is known.
  const isSafe = method === 'GET' || (service === 'licensing' && (method === 'PUT' || method === 'PATCH'));
  return {
    method,
    path: at.path,
    query: [...at.query, ...(query ?? [])],
    ...(json === undefined ? {} : { json }),
    ...(form === undefined ? {} : { form }),
    repeat: isSafe ? 'safe' : 'once',
  };
}

function failureOf(service: Service, { method, at }: RawRequest, answer: Answer): Failure | undefined {
  if (isSuccess(answer)) return undefined;
  try {
    if (service === 'chat') accept(answer);
    else refuse(answer, at.isItem ? 'the licensing API has nothing at this path' : undefined);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    return cause.kind === 'unavailable' && method !== 'GET' ? unconfirmed(cause) : cause;
  }
  return undefined;
}

/** Whoever answers with 5xx may have done the work before. */
function unconfirmed(cause: Failure): Failure {
  const message = `${cause.message}; the request may or may not have been carried out`;
  return cause.as('unknown', message, { hint: undefined, retryable: false });
}
