import { Failure } from '../core/failure.ts';
import { accept } from './chat/chat-answer.ts';
import { type Answer, incompleteAfter, isSuccess, unconfirmed } from './http/answer.ts';
import type { Call, Parameters, Path, Send } from './http/call.ts';
import { encodeParameters, shownParameters } from './http/request.ts';
import { refuse } from './licensing/license-answer.ts';
import { pageEnd } from './licensing/page-end.ts';
import { pathBelow, type Service, type TypedPath } from './raw-path.ts';

export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly at: Omit<TypedPath, 'query'>;
  readonly query: Parameters;
  readonly paginate?: boolean | undefined;
  readonly body?: Pick<Call, 'json' | 'form' | 'input'>;
}

/** The body that a file holds; of the chat API `form` says what is in it. */
export function inputBody(service: Service, input: { file: string; bytes: Buffer }, form?: Parameters) {
  const contentType = service === 'chat' ? 'application/x-www-form-urlencoded' : 'application/json';
  const shown = form ? shownParameters(form) : input.bytes.toString('utf8');
  return { ...(form && { form }), input: { ...input, contentType, shown } };
}

/**
 * The answer, of any status, and those of a list's next pages, of our own origin. What a status means is thrown after
 * its answer. @throws Failure config, unavailable, unknown for an unanswered write, incomplete after a first page
 */
export async function* sendRaw(service: Service, send: Send, request: RawRequest) {
  const { paginate } = request;
  const seen = new Set<string>();
  let next: RawRequest | undefined = request;
  while (next) {
    seen.add(placeOf(next));
    try {
      const answer: Answer = await send(callOf(service, next));
      yield answer;
      refuseStatus(service, next, answer);
      next = paginate ? nextOf(service, next, answer) : undefined;
      if (next && seen.has(placeOf(next))) throw endsEarly('the server names a next page that was read before', answer);
    } catch (cause) {
      throw seen.size === 1 ? cause : incompleteAfter(seen.size - 1, cause);
    }
  }
}

function placeOf({ at, query }: RawRequest): string {
  return `${at.path.sent}?${encodeParameters(query)}`;
}

function endsEarly(message: string, { http }: Answer): Failure {
  return new Failure('incomplete', message, { http, retryable: false });
}

function nextOf(service: Service, request: RawRequest, answer: Answer): RawRequest | undefined {
  const { nextPath, next = nextPath, more } = pageEnd(answer);
  if (next === undefined) {
    if (more !== undefined) throw endsEarly(`the server has more rows, but names no URL for them: ${more}`, answer);
    return undefined;
  }
  const { path, url } = addressOf(service, request, next, answer);
  if (!path && url.search === '')
    throw endsEarly('the server names a next page that is not below the URL of the profile', answer);
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

function callOf(service: Service, { method, at, query, body }: RawRequest): Call {
  // A license that is set to the same values twice is the same license; of other writes nothing is known.
  const isSafe = method === 'GET' || (service === 'licensing' && (method === 'PUT' || method === 'PATCH'));
  return { method, path: at.path, query, ...body, repeat: isSafe ? 'safe' : 'once' };
}

/** @throws Failure of an answer other than 2xx */
function refuseStatus(service: Service, { method, at }: RawRequest, answer: Answer): void {
  if (isSuccess(answer)) return;
  try {
    if (service === 'chat') accept(answer);
    else refuse(answer, at.isItem ? 'the licensing API has nothing at this path' : undefined);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    // A path that a person typed is wrong more often than the URL of a profile.
    if (answer.status === 404 && cause.details.hint !== undefined)
      throw cause.as(cause.kind, `the server has nothing at ${at.path.shown} (404)`, {
        hint: 'Check the path; where other commands fail too, the URL of the profile.',
      });
    if (cause.kind !== 'unavailable' || method === 'GET') throw cause;
    // Whoever answers with 5xx may have done the work before.
    throw unconfirmed(cause.message, { ...cause.details, hint: undefined, cause });
  }
}
