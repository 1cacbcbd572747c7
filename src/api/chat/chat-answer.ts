import { Failure, usage, type FailureKind } from '../../core/failure.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import {
  type Answer,
  foreignBody,
  isRedirect,
  isSuccess,
  pageHint,
  redirectFailure,
  serverWords,
  unconfirmed,
  wordsOf,
} from '../http/answer.ts';
import type { Send } from '../http/call.ts';
import { queryOf } from '../http/request.ts';
import { isTrouble } from '../http/transport-error.ts';
import { maxRequestLine } from '../../schema/messages.ts';

/** Accepts an answer as a success. @throws Failure for anything else (docs/apis.md, Envelope and errors) */
export function accept(answer: Answer): { readonly ignored: readonly string[] } {
  const { body } = answer;
  if (isRedirect(answer)) throw redirectFailure(answer);
  if (!isObject(body) || typeof body['result'] !== 'string') throw notOfTheApi(answer);
  if (!isSuccess(answer) || body['result'] !== 'success') throw refusal(answer);
  const ignored = body['ignored_parameters_unsupported'];
  return { ignored: Array.isArray(ignored) ? ignored.filter((name) => typeof name === 'string') : [] };
}

/** Undefined where the server has no such route. @throws Failure for any other refusal */
export function objectIn(answer: Answer): JsonObject | undefined {
  if (answer.status === 404 || answer.status === 405) return undefined;
  accept(answer);
  return isObject(answer.body) ? answer.body : undefined;
}

export function rowsIn(answer: Answer, name: string): readonly JsonObject[] | undefined {
  const rows = objectIn(answer)?.[name];
  return Array.isArray(rows) ? rows.filter(isObject) : undefined;
}

/** As `accept`, for a call that must not be sent twice. @throws Failure unknown for a success that cannot be read */
export function acceptOnce(answer: Answer): { readonly ignored: readonly string[] } {
  try {
    return accept(answer);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'unavailable' || !isSuccess(answer)) throw cause;
    throw unconfirmed(cause.message, { ...cause.details, cause });
  }
}

/** The failure of an error envelope; callers give a `kind` where they know better. */
export function refusal(answer: Answer, kind = kindOf(answer)): Failure {
  const { status, http } = answer;
  const { code, msg, ...extras } = serverWords(answer.body);
  const texts = Object.entries(extras).filter(([, value]) => typeof value === 'string');
  const details = texts.map(([name, value]) => ` (${name}: ${String(value)})`).join('');
  const result = isObject(answer.body) ? answer.body['result'] : undefined;
  const said = msg || (isSuccess(answer) ? `result '${String(result)}' (${status})` : `status ${status}`);
  const message = `${lead[kind] ?? 'the chat server refused the request'}: ${said}${details}`;
  return new Failure(kind, message, { hint: hintOf(kind, code, msg), http, server: { code, msg, ...extras } });
}

const lead: Partial<Record<FailureKind, string>> = {
  auth: 'the chat server refused the credential or the permission',
  not_found: 'not found',
  unavailable: 'the chat server failed',
};

/** Status and code decide, never the words: they are translated (docs/apis.md, Envelope and errors). */
function kindOf({ status, body }: Answer): FailureKind {
  const code = isObject(body) ? body['code'] : undefined;
  if (status === 401 || status === 403 || code === 'UNAUTHORIZED_PRINCIPAL' || code === 'UNAUTHORIZED') return 'auth';
  if (status === 404 || code === 'NOT_FOUND') return 'not_found';
  return isTrouble(status) || status === 429 ? 'unavailable' : 'rejected';
}

function hintOf(kind: FailureKind, code: string | undefined, msg = ''): string | undefined {
  // A server of many organizations knows each by its own host name.
  if (/\bsubdomain\b/i.test(msg))
    return 'Check the site URL of the profile: the account belongs to another organization.';
  if (/^invalid channel id/i.test(msg))
    return 'The channel is archived, or it is private and the account is not in it.';
  if (code === 'UNAUTHORIZED_PRINCIPAL')
    return 'This needs an administrator of the organization: choose another profile with --profile.';
  const [, subject] = /\b(account|organization) (?:is|has been) deactivated\b/i.exec(msg) ?? [];
  if (subject !== undefined)
    return `The ${subject.toLowerCase()} is deactivated, whatever the key: ask who administers the ${subject === 'organization' ? 'server' : 'organization'}.`;
  if (kind === 'auth')
    return 'Check that the key belongs to this account and URL. To try every key that is set or stored: chatelaine doctor';
  if (kind === 'unavailable') return 'Run the command again later.';
  return undefined;
}

/** A body without an envelope: a page of a proxy, a route that is not there, a wrong URL. */
function notOfTheApi(answer: Answer): Failure {
  const { status, http } = answer;
  if (isSuccess(answer)) return foreignBody(answer, 'the chat server');
  const words = wordsOf(answer.text.slice(0, 20_000));
  const failure = (kind: FailureKind, what: string, hint = hintOf(kind, undefined)): Failure =>
    new Failure(kind, `${what} (${status})${words === '' ? '' : `: ${words}`}`, { hint, http });
  if (kindOf(answer) === 'unavailable') return failure('unavailable', 'the chat server is not available');
  if (status === 401 || status === 403)
    return failure('auth', 'the chat server or a proxy in front of it refused', pageHint);
  const hint = status === 404 ? 'Check the site URL of the profile.' : undefined;
  return failure('rejected', 'the chat server refused the request', hint);
}

/** An HTML 404 is an unknown route, a JSON 404 a missing thing. @throws Failure rejected, explained by the level */
export async function refuseMissingRoute(
  answer: Answer,
  what: string,
  needed: number,
  levelOf: () => Promise<number | undefined>,
): Promise<void> {
  const { status, body, http } = answer;
  if (status !== 404 || (isObject(body) && typeof body['result'] === 'string')) return;
  throw lacking(what, needed, await levelOf(), http);
}

/** The failure of a route that a server of this level lacks; undefined: the server does not report its level. */
export function lacking(what: string, needed: number, level: number | undefined, http?: Answer['http']): Failure {
  const server = level === undefined && http ? new URL(http.url).host : 'this server';
  const said =
    level === undefined ? 'reports no feature level: it may not be a chat server' : `its level ${level} brings them`;
  if (level !== undefined && level < needed)
    return new Failure('rejected', `${what} need level ${needed}; this server has ${level}`, {
      hint: 'Update the chat server, or choose another profile.',
      http,
    });
  return new Failure('rejected', `${server} has no ${what} (404)${level === undefined ? ' and' : ', though'} ${said}`, {
    hint: 'Check the site URL of the profile.',
    http,
  });
}

/** Refuses a call whose URL is too long for servers, and explains the refusal of a server (414). */
export function withinUrl(send: Send): Send {
  return async (call) => {
    const bytes = call.path.sent.length + queryOf(call).length;
    const tooLong = `the URL of the request has ${bytes} bytes, too many for the server`;
    if (bytes > maxRequestLine) throw usage(tooLong, `Servers take ${maxRequestLine} bytes.`);
    const answer = await send(call);
    if (answer.status !== 414) return answer;
    throw new Failure('rejected', tooLong, { http: { ...answer.http, url: answer.http.url.replace(/\?.*/s, '') } });
  };
}
