import type { Dispatcher } from 'undici';
import { Failure, usage } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { Secret } from '../../core/secret.ts';
import { posixWord } from '../../core/shell-word.ts';
import { isLoopback } from '../../schema/url.ts';
import {
  Planned,
  type Call,
  type Connection,
  type KeyVariable,
  type Parameters,
  type Path,
  type PlannedCall,
} from './call.ts';
import { proxyOf } from './proxy.ts';

/** A call as sent; `shown` is its URL without secrets. */
export interface Request {
  readonly method: Dispatcher.HttpMethod;
  readonly url: string;
  readonly shown: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | undefined;
  readonly shownBody: string | undefined;
}

export function wireRequest({ base, authorization, userAgent, headers }: Connection, call: Call): Request {
  const query = queryOf(call);
  const { contentType, body, shownBody } = encodeBody(call);
  return {
    method: call.method,
    url: base + call.path.sent + query,
    shown: base + call.path.shown + query,
    headers: {
      accept: 'application/json',
      // The text of a chat becomes five to eight times smaller.
      'accept-encoding': 'gzip, br',
      'accept-language': 'en',
      'user-agent': userAgent,
      // A response from a cache could lead to a second license, or to purging messages that were not read.
      ...(call.method === 'GET' ? { 'cache-control': 'no-cache' } : {}),
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()])),
      ...(authorization === undefined ? {} : { authorization: authorization.reveal() }),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    body,
    shownBody,
  };
}

export function queryOf({ query = [] }: Call): string {
  // A comma may be in a query (RFC 3986), where a list of ids is a fifth shorter with it.
  const encoded = encodeParameters(query).replaceAll('%2C', ',');
  return encoded === '' ? '' : `?${encoded}`;
}

function encodeBody({ input, json, form }: Call) {
  if (input) return { contentType: input.contentType, body: input.bytes, shownBody: input.shown };
  if (json !== undefined) {
    const body = writeJson(json);
    return { contentType: 'application/json', body, shownBody: body };
  }
  if (form === undefined) return { contentType: undefined, body: undefined, shownBody: undefined };
  const body = encodeParameters(form);
  return { contentType: 'application/x-www-form-urlencoded', body, shownBody: shownParameters(form) };
}

/** The query or body text of parameters: every server reads this form (docs/apis.md, Parameters). */
export function encodeParameters(parameters: Parameters): string {
  return new URLSearchParams(
    parameters.map(([name, text]): [string, string] => [name, text instanceof Secret ? text.reveal() : text]),
  ).toString();
}

export function shownParameters(parameters: Parameters): string {
  return parameters
    .map(([name, text]) => (text instanceof Secret ? `${name}=${String(text)}` : encodeParameters([[name, text]])))
    .join('&');
}

/** @throws Failure config for a request that may not be sent; Planned for a write in a dry run */
export function guard(connection: Connection, request: Request, call: Call): void {
  if (call.method !== 'GET' && !call.isRead) guardWrite(connection, request, call);
  const { env } = connection.surroundings;
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return;
  const { method, url, shown } = request;
  const places = [new URL(url), proxyOf(url, env)].filter((place) => place !== undefined);
  if (places.every(({ protocol, hostname }) => protocol !== 'https:' || isLoopback(hostname))) return;
  throw new Failure('config', 'NODE_TLS_REJECT_UNAUTHORIZED=0 would send the key to any server: nothing was sent', {
    hint: 'Unset it, and give the authority of the server, or of its proxy, with --ca-file FILE or NODE_EXTRA_CA_CERTS.',
    http: { method, url: shown },
  });
}

function guardWrite({ readOnly, headers, plan, key, surroundings }: Connection, request: Request, call: Call): void {
  if (!plan) {
    if (!readOnly) return;
    throw new Failure('config', 'this profile is read-only: nothing was sent', {
      hint: 'Choose another profile with --profile, sign in again with --no-read-only, or unset CHATELAINE_READ_ONLY.',
      http: { method: request.method, url: request.shown },
    });
  }
  const type = request.headers['content-type'];
  const added = Object.entries(headers).map(([name, text]) => `${name}: ${String(text)}`);
  const planned = {
    method: request.method,
    url: request.url,
    ...(type === undefined ? {} : { content_type: type }),
    ...(added.length === 0 ? {} : { headers: added.join('\n') }),
    ...(request.shownBody === undefined ? {} : { body: request.shownBody }),
  };
  plan({
    request: planned,
    shown: request.shown,
    curl: key === undefined ? '' : curlLine(planned, call, key, surroundings.caFile),
    setup: key?.setup ?? [],
    passwords: (call.form ?? []).flatMap(([name, text]) => (text instanceof Secret ? [name.toUpperCase()] : [])),
  });
  throw new Planned();
}

/** A line of bash or zsh. Key and passwords come from variables: other users of the machine can see its words. */
function curlLine(request: PlannedCall['request'], call: Call, key: KeyVariable, caFile: string | undefined): string {
  const { method, url, content_type, body } = request;
  return [
    'curl --globoff --fail-with-body',
    ...(caFile === undefined ? [] : [`--cacert ${posixWord(caFile)}`]),
    `--request ${method} ${posixWord(url)}`,
    key.user === undefined
      ? `--header @<(printf 'Authorization: Token %s' "$${key.variable}")`
      : `--user ${posixWord(key.user)}:"$${key.variable}"`,
    "--header 'Accept: application/json'",
    ...(content_type === undefined ? [] : [`--header ${posixWord(`Content-Type: ${content_type}`)}`]),
    ...(key.headers === undefined ? [] : [`--header @<(printf %s "$${key.headers}")`]),
    ...bodyWords(call, body),
  ].join(' ');
}

function bodyWords({ input, form }: Call, shown: string | undefined): string[] {
  if (input) return [`--data-binary @${posixWord(input.file)}`];
  if (!form) return shown === undefined ? [] : [`--data-raw ${posixWord(shown)}`];
  // curl joins the parts with `&`, in their order.
  return form.map(([name, text]) =>
    text instanceof Secret
      ? `--data-urlencode ${name}@<(printf %s "$${name.toUpperCase()}")`
      : `--data-raw ${posixWord(encodeParameters([[name, text]]))}`,
  );
}

/** A segment, one that is shown as its name only, or several whose slashes are part of the value. */
type PathValue =
  string | number | { readonly name: string; readonly value: string } | { readonly segments: readonly string[] };

/** path`/license/${code}/` encodes each value. @throws Failure usage for one that climbs out of its segment */
export function path(parts: TemplateStringsArray, ...values: readonly PathValue[]): Path {
  return joined(parts.flatMap((part, at) => [{ sent: part, shown: part }, ...values.slice(at, at + 1).map(encode)]));
}

export function joined(pieces: readonly Path[]): Path {
  return { sent: pieces.map(({ sent }) => sent).join(''), shown: pieces.map(({ shown }) => shown).join('') };
}

function encode(value: PathValue): Path {
  if (typeof value === 'object' && 'name' in value) return { sent: segment(value.value), shown: `[${value.name}]` };
  const segments = typeof value === 'object' ? value.segments : [String(value)];
  const isEnd = (text: string, at: number): boolean => text === '' && at > 0 && at === segments.length - 1;
  const sent = segments.map((text, at) => (isEnd(text, at) ? '' : segment(text))).join('/');
  return { sent, shown: sent };
}

/** Proxies resolve `..` even when encoded (docs/apis.md, Navigation views). */
function segment(text: string): string {
  if (text === '' || text === '.' || text === '..' || /\p{Surrogate}/u.test(text))
    throw usage(`'${text}' cannot be part of a URL`);
  return encodeURIComponent(text);
}
