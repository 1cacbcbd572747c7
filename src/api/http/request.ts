import type { Dispatcher } from 'undici';
import { usage } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { Secret } from '../../core/secret.ts';
import type { Call, Connection, Parameters, Path } from './call.ts';

/** A call as it is sent; `shown` is its URL without secrets. */
export interface Request {
  readonly method: Dispatcher.HttpMethod;
  readonly url: string;
  readonly shown: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  /** The body as it may be shown: without secrets. */
  readonly shownBody: string | undefined;
}

export function wireRequest({ base, authorization, userAgent, headers }: Connection, call: Call): Request {
  const query = call.query && call.query.length > 0 ? `?${encodeParameters(call.query)}` : '';
  const { contentType, body, shownBody } = encodeBody(call);
  return {
    method: call.method,
    url: base + call.path.sent + query,
    shown: base + call.path.shown + query,
    headers: {
      accept: 'application/json',
      'accept-encoding': acceptedEncodings,
      'accept-language': 'en',
      'user-agent': userAgent,
      ...headers,
      ...(authorization === undefined ? {} : { authorization: authorization.reveal() }),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    body,
    shownBody,
  };
}

/** The text of a chat becomes five to eight times smaller. */
const acceptedEncodings = 'gzip, br';

interface Body {
  readonly contentType: string | undefined;
  readonly body: string | undefined;
  readonly shownBody: string | undefined;
}

function encodeBody({ json, form }: Call): Body {
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
  if (parameters.length === 0) return '';
  return new URLSearchParams(
    parameters.map(([name, text]): [string, string] => [name, text instanceof Secret ? text.reveal() : text]),
  ).toString();
}

function shownParameters(parameters: Parameters): string {
  return parameters
    .map(([name, text]) => (text instanceof Secret ? `${name}=${String(text)}` : encodeParameters([[name, text]])))
    .join('&');
}

/** A value that goes into a URL but is shown as its name only. */
export interface Hidden {
  readonly name: string;
  readonly value: string;
}

/** Several segments whose slashes are part of the value. */
export interface Segments {
  readonly segments: readonly string[];
}

/**
 * path`/license/${code}/` encodes each value.
 * @throws Failure usage for a value that would climb out of its segment: proxies resolve `.` and `..` even when encoded (docs/apis.md, Navigation views)
 */
export function path(parts: TemplateStringsArray, ...values: readonly (string | number | Hidden | Segments)[]): Path {
  const pieces = parts.map((part, index) => {
    const value = values[index - 1];
    const piece = value === undefined ? { sent: '', shown: '' } : encode(value);
    return { sent: piece.sent + part, shown: piece.shown + part };
  });
  return { sent: pieces.map((piece) => piece.sent).join(''), shown: pieces.map((piece) => piece.shown).join('') };
}

function encode(value: string | number | Hidden | Segments): Path {
  if (typeof value === 'object' && 'segments' in value) {
    const sent = value.segments.map((text) => segment(text)).join('/');
    return { sent, shown: sent };
  }
  if (typeof value === 'object') return { sent: segment(value.value), shown: `[${value.name}]` };
  const sent = segment(String(value));
  return { sent, shown: sent };
}

function segment(text: string): string {
  if (text === '' || text === '.' || text === '..' || /\p{Surrogate}/u.test(text))
    throw usage(`'${text}' cannot be part of a URL`);
  return encodeURIComponent(text);
}
