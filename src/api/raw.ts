import { Failure, usage } from '../core/failure.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { accept } from './chat/chat-answer.ts';
import { type Answer, incompleteAfter, isSuccess, unconfirmed } from './http/answer.ts';
import type { Call, Parameters, Path, Send } from './http/call.ts';
import { encodeParameters, shownParameters } from './http/request.ts';
import { refuse } from './licensing/license-answer.ts';
import { pageEnd } from './licensing/page-end.ts';
import { pathBelow, type Service, type TypedPath } from './raw-path.ts';

export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly at: TypedPath;
  /** Added to the query that the path has. */
  readonly query?: Parameters | undefined;
  readonly json?: unknown;
  readonly form?: Parameters | undefined;
  /** The body as sent; of the chat API `form` says what it holds. */
  readonly input?: { readonly file: string; readonly bytes: Buffer } | undefined;
}

/** An answer as it came, and what its status means: undefined for a success. */
export interface RawAnswer {
  readonly answer: Answer;
  readonly failure: Failure | undefined;
}

/** Its answer has any status. @throws Failure config, unavailable; unknown for an unanswered write */
export async function sendRaw(service: Service, send: Send, request: RawRequest): Promise<RawAnswer> {
  const answer = await send(callOf(service, request));
  return { answer, failure: failureOf(service, request, answer) };
}

/** A list's answers, of our own origin. @throws Failure usage; incomplete where a later page fails or cannot be read */
export async function* sendPages(service: Service, send: Send, request: RawRequest): AsyncGenerator<RawAnswer> {
  const seen = new Set<string>();
  let next: RawRequest | undefined = {
    ...request,
    at: { ...request.at, query: [] },
    query: [...request.at.query, ...(request.query ?? [])],
  };
  if (service === 'chat' && isPositive(next.query, 'num_before') && isPositive(next.query, 'num_after'))
    throw usage('--paginate goes one way', 'Give 0 as num_before or as num_after.');
  while (next) {
    seen.add(placeOf(next));
    const page: RawAnswer = await readPage(service, send, next, seen.size);
    yield page;
    next = page.failure ? undefined : nextOf(service, next, page.answer);
    if (next && seen.has(placeOf(next))) throw endsEarly('the server names a next page that was read before', page);
  }
}

function placeOf({ at, query = [] }: RawRequest): string {
  return `${at.path.sent}?${encodeParameters(query)}`;
}

function endsEarly(message: string, { answer: { http } }: Pick<RawAnswer, 'answer'>): Failure {
  return new Failure('incomplete', message, { http, retryable: false });
}

function nextOf(service: Service, request: RawRequest, answer: Answer): RawRequest | undefined {
  if (service === 'chat') {
    const query = nextMessages(request.query ?? [], answer);
    return query && { ...request, query };
  }
  const { nextPath, next = nextPath, more } = pageEnd(answer);
  if (next === undefined) {
    if (more !== undefined) throw endsEarly(`the server has more rows, but names no URL for them: ${more}`, { answer });
    return undefined;
  }
  const { path, url } = addressOf(service, request, next, answer);
  if (!path && url.search === '')
    throw endsEarly('the server names a next page that is not below the URL of the profile', { answer });
  return { ...request, at: { ...request.at, path: path ?? request.at.path }, query: [...url.searchParams] };
}

/** Where a `next` leads: its path, below the profile's URL. A server behind a proxy may name another host or folder. */
function addressOf(service: Service, { at }: RawRequest, next: string, { http }: Answer): { path?: Path; url: URL } {
  const base = new URL(http.url.replace(/\?.*/, '').slice(0, -at.path.shown.length));
  const start = base.pathname.replace(/\/$/, '');
  const url = new URL(next, new URL(start + at.path.sent, base));
  const isOurs = url.origin === base.origin && url.pathname.startsWith(start);
  const path = isOurs ? pathBelow(service, url.pathname.slice(start.length)) : undefined;
  return { url, ...(path && { path }) };
}

async function readPage(service: Service, send: Send, request: RawRequest, pages: number): Promise<RawAnswer> {
  try {
    const { answer, failure } = await sendRaw(service, send, request);
    const later = failure === undefined || pages === 1 ? failure : incompleteAfter(pages - 1, failure);
    return { answer, failure: later instanceof Failure ? later : undefined };
  } catch (cause) {
    throw pages === 1 ? cause : incompleteAfter(pages - 1, cause);
  }
}

function callOf(service: Service, { method, at, query, json, form, input }: RawRequest): Call {
  // A license that is set to the same values twice is the same license; of other writes nothing is known.
  const isSafe = method === 'GET' || (service === 'licensing' && (method === 'PUT' || method === 'PATCH'));
  return {
    method,
    path: at.path,
    query: [...at.query, ...(query ?? [])],
    ...(json === undefined ? {} : { json }),
    ...(form === undefined ? {} : { form }),
    input: input && {
      ...input,
      contentType: service === 'chat' ? 'application/x-www-form-urlencoded' : 'application/json',
      shown: form ? shownParameters(form) : input.bytes.toString('utf8'),
    },
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
    // A path that a person typed is wrong more often than the URL of a profile.
    if (answer.status === 404 && cause.details.hint !== undefined)
      return cause.as(cause.kind, `the server has nothing at ${at.path.shown} (404)`, {
        hint: 'Check the path; where other commands fail too, the URL of the profile.',
      });
    if (cause.kind !== 'unavailable' || method === 'GET') return cause;
    // Whoever answers with 5xx may have done the work before.
    return unconfirmed(cause.message, { ...cause.details, hint: undefined, cause });
  }
  return undefined;
}

/** The query of the next page, if any (docs/apis.md, Paging). @throws Failure incomplete where the server sends none */
function nextMessages(query: Parameters, answer: Answer): Parameters | undefined {
  const { body, http } = answer;
  if (!isObject(body) || !Array.isArray(body['messages']) || query.some(([name]) => name === 'message_ids'))
    return undefined;
  const end = isPositive(query, 'num_after') ? 'found_newest' : 'found_oldest';
  const messages: readonly unknown[] = body['messages'];
  if (isLast(body, end, messages.length)) return undefined;
  const edge = end === 'found_newest' ? messages.at(-1) : messages[0];
  if (!isObject(edge) || typeof edge['id'] !== 'number')
    throw new Failure('incomplete', 'the server says that there are more messages, and sends none', { http });
  const others = query.filter(([name]) => name !== 'anchor' && name !== 'include_anchor');
  return [['anchor', String(edge['id'])], ...others, ['include_anchor', 'false']];
}

function isLast(body: JsonObject, end: 'found_newest' | 'found_oldest', count: number): boolean {
  const isLimited = body['history_limited'] === true;
  if (isLimited && count === 0) return true;
  // Where the plan hides messages, `found_newest` counts hidden ones (docs/apis.md, Limited history).
  return body[end] === true && !(isLimited && end === 'found_newest');
}

function isPositive(query: Parameters = [], wanted: string): boolean {
  return query.some(([name, text]) => name === wanted && Number(text) > 0);
}
