import { Failure, unless, usage } from '../core/failure.ts';
import { accept } from './chat/chat-answer.ts';
import { type Answer, incompleteAfter, isSuccess, unconfirmed } from './http/answer.ts';
import type { Call, Parameters, Path, Send } from './http/call.ts';
import { encodeParameters, joined, path, shownParameters } from './http/request.ts';
import { refuse } from './licensing/license-answer.ts';
import { pageEnd } from './licensing/page-end.ts';

export type Service = 'licensing' | 'chat';

export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly at: { readonly path: Path; readonly isItem: boolean };
  readonly query: Parameters;
  readonly paginate?: boolean | undefined;
  readonly body?: Pick<Call, 'json' | 'form' | 'input'>;
}

/** The body for the content of a file; for the chat API `form` has its parameters. */
export function inputBody(service: Service, input: { file: string; bytes: Buffer }, form?: Parameters) {
  const contentType = service === 'chat' ? 'application/x-www-form-urlencoded' : 'application/json';
  const shown = form ? shownParameters(form) : input.bytes.toString('utf8');
  return { ...(form && { form }), input: { ...input, contentType, shown } };
}

/**
 * Yields the answer, whatever its status, and with `paginate` those of the list's next pages. The failure of a status
 * is thrown after its answer. @throws Failure config, unavailable, unknown for a write, incomplete after a first page
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
      next = paginate ? nextOf(next, answer) : undefined;
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

/** The request of a list's next page. Of a URL elsewhere only the query is used: a proxy may hide host and folder. */
function nextOf(request: RawRequest, answer: Answer): RawRequest | undefined {
  const { nextPath, next = nextPath, more } = pageEnd(answer);
  if (next === undefined) {
    if (more !== undefined) throw endsEarly(`the server has more rows, but names no URL for them: ${more}`, answer);
    return undefined;
  }
  const { path: asked } = request.at;
  const base = new URL(answer.http.url.replace(/\?.*/, '').slice(0, -asked.shown.length));
  const start = base.pathname.replace(/\/$/, '');
  const url = new URL(next, new URL(start + asked.sent, base));
  const isOurs = url.origin === base.origin && url.pathname.startsWith(`${start}/v1/`);
  const typed = url.pathname.slice(start.length);
  const below = isOurs ? unless(Failure, () => typedPath('licensing', typed).path) : undefined;
  if (!below && url.search === '')
    throw endsEarly('the server names a next page that is not below the URL of the profile', answer);
  return { ...request, at: { ...request.at, path: below ?? asked }, query: [...url.searchParams] };
}

function callOf(service: Service, { method, at, query, body }: RawRequest): Call {
  // Setting a license to the same values twice is harmless; nothing is known about other writes.
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

const prefixes = { licensing: 'v1', chat: 'api/v1' } as const;

/** Reads a path with or without the API's prefix. @throws Failure usage for one that leaves the API, encoded or not */
export function typedPath(service: Service, typed: string) {
  const [, place = '', question, search = ''] = /^([^?#]*)(\?)?([^#]*)$/.exec(typed) ?? [];
  const isPlain = typed !== '' && !typed.includes('#') && !/^\/\/|^[a-z][a-z\d+.-]*:|\\|[\s\p{Cc}]/iu.test(place);
  if (!isPlain) throw outside(typed, service);
  const below = place.replace(/^\//, '').replace(new RegExp(`^${prefixes[service]}/`), '');
  const segments = below.replace(/\/$/, '').split('/').map(decode);
  if (!segments.every((segment) => segment !== undefined)) throw outside(typed, service);
  const [collection = '', ...others] = segments;
  const pieces =
    service === 'chat'
      ? [path`/api/v1/${{ segments }}`]
      : // What follows the collection may be a license code.
        [path`/v1/${collection}`, ...others.map((value) => path`/${{ name: 'license_code', value }}`)];
  return {
    path: joined([...pieces, ...(below.endsWith('/') ? [path`/`] : [])]),
    query: question === undefined ? [] : [...new URLSearchParams(search)],
    isItem: segments.length > 1 || segments[0] === 'first-activation',
  };
}

function outside(typed: string, service: Service): Error {
  return usage(
    `'${typed}' is not a path of the API`,
    `Give a path below /${prefixes[service]}, such as ${service === 'chat' ? 'messages' : 'license/'}.`,
  );
}

/** Undefined for a segment that a server or proxy may take for another path, decoded however often. */
function decode(segment: string): string | undefined {
  const readings: string[] = [];
  let text = decodedOnce(segment);
  while (text !== undefined && text !== readings.at(-1)) {
    readings.push(text);
    text = decodedOnce(text);
  }
  // Some servers cut parameters after a semicolon off a segment before they resolve `..`.
  const climbs = readings.some((reading) => reading === '' || /^\.{1,2}(;|$)|[/\\\p{Cc}]/u.test(reading));
  return climbs ? undefined : readings[0];
}

function decodedOnce(text: string): string | undefined {
  return unless(URIError, () => decodeURIComponent(text));
}
