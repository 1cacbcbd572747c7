import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure, type FailureKind } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';

/** The outcome of an attempt: if the server may have carried the request out, and when to retry it. */
export interface AttemptEnding {
  /** `unprocessed`: the server certainly did nothing. `unknown`: it may have carried the request out. */
  readonly request: 'answered' | 'unprocessed' | 'unknown';
  readonly again: 'never' | 'after a backoff' | 'after the wait asked for';
}

export function endingOf(status: number): AttemptEnding {
  if (status === 429) return { request: 'unprocessed', again: 'after the wait asked for' };
  // A proxy or the server gave up; it may have processed the request.
  if ([408, 502, 503, 504].includes(status)) return { request: 'unknown', again: 'after a backoff' };
  return { request: isTrouble(status) ? 'unknown' : 'answered', again: 'never' };
}

/** Whether the server is the trouble, not the request. A 408 may be the end of an idle connection. */
export function isTrouble(status: number): boolean {
  return status >= 500 || status === 408;
}

interface Cause extends AttemptEnding {
  readonly request: 'unprocessed' | 'unknown';
  readonly kind?: FailureKind;
  /** `{at}`: where it failed, the host or a proxy on the way; `{why}`: a code in brackets. */
  readonly says: string;
  readonly hint?: string;
}

const nothingSent = { request: 'unprocessed', again: 'never' } as const;
const notConnected = { request: 'unprocessed', again: 'after a backoff' } as const;
const unconfirmed = { request: 'unknown', again: 'after a backoff' } as const;
const unusable = { request: 'unknown', again: 'never' } as const;

const unnamed = {
  says: 'DNS: no address for {at}{why}',
  hint: 'Check the URL of the profile, the network, and the proxy in HTTPS_PROXY.',
};
const refused = { says: '{at} refused to connect to {host}{why}', hint: 'Check HTTPS_PROXY and NO_PROXY.' };
const hint = 'Check that the service runs and that the URL and proxy are right.';
const tls = (words: string, hint: string): Cause => ({ ...nothingSent, says: `TLS: ${words}{why}`, hint });

/** Each way in which an attempt ends without an answer: only a failure to connect proves that nothing was sent. */
const causes = {
  'no such name': { ...nothingSent, ...unnamed },
  'no name service': { ...notConnected, ...unnamed },
  'no connection': { ...notConnected, says: 'no connection to {host}{through}{why}', hint },
  'no connection in time': {
    ...notConnected,
    says: 'timeout: no connection to {host}{through} within {timeout}',
    hint,
  },
  'proxy asks for a password': {
    ...nothingSent,
    says: '{at} asks for a name and password (407)',
    hint: 'Put them into HTTPS_PROXY as http://user:password@host:port.',
  },
  'proxy refuses': { ...nothingSent, ...refused },
  'proxy does not reach the server': { ...notConnected, ...refused },
  'proxy hangs up': { ...notConnected, ...refused, says: '{at} closed the tunnel to {host} before it was open' },
  'no TLS': tls('{at} does not speak TLS on this port', 'Check the port of the URL; http is for http://.'),
  'untrusted certificate': tls(
    'the certificate of {at} is not trusted',
    'Give the authority that signed it with --ca-file FILE or NODE_EXTRA_CA_CERTS.',
  ),
  'certificate of another host': tls(
    'the certificate of {at} is for another host',
    'Check the host name in the URL; if it is right, the server needs a certificate for it.',
  ),
  'expired certificate': tls(
    'the certificate of {at}, or of its authority, has expired or is not valid yet',
    'The server needs a new certificate, unless the clock of this computer is wrong.',
  ),
  'TLS handshake': tls(
    '{at} and this computer do not agree on a connection',
    'The server may speak no TLS 1.2 or newer, or ask for a certificate of the client, which chatelaine does not send.',
  ),
  'not HTTP': {
    ...unusable,
    says: '{at} responds, but not in HTTP: {detail}',
    hint: 'Check the scheme and the port of the URL.',
  },
  timeout: {
    ...unconfirmed,
    says: 'timeout: no complete response from {host} within {timeout}',
    hint: 'Run the command again, or increase --timeout.',
  },
  broken: {
    ...unconfirmed,
    says: 'the connection to {host} broke before the response was complete{why}',
    hint: 'Run the command again.',
  },
  'headers too large': {
    ...unusable,
    says: 'the response headers of {host} are larger than Node accepts',
    hint: 'If they are right, set NODE_OPTIONS=--max-http-header-size=65536, in bytes.',
  },
  'body too large': {
    ...unusable,
    says: 'the response of {host} is larger than 64 MiB',
    hint: 'Check the URL of the profile. Request fewer messages at once; so many licenses a server must list in pages.',
  },
  'file too large': { ...unusable, kind: 'rejected', says: 'it is larger than {detail} bytes' },
} as const satisfies Record<string, Cause>;

interface ErrorDetails {
  /** A code or a number, for the sentence. */
  readonly detail?: string;
  /** What the sentence is about, where that is not the host of the URL. */
  readonly at?: string | undefined;
  /** Host and port of the proxy that was to be gone through. */
  readonly proxy?: string | undefined;
  readonly cause?: unknown;
}

export class TransportError extends Error {
  readonly reason: keyof typeof causes;
  readonly #details: ErrorDetails;

  constructor(reason: keyof typeof causes, details: ErrorDetails = {}) {
    super(reason, { cause: details.cause });
    this.reason = reason;
    this.#details = details;
  }

  get ending(): AttemptEnding {
    return causes[this.reason];
  }

  /** `unused`: what to do about a proxy that is not used, where no connection was made. */
  failure(http: { readonly method: string; readonly url: string }, timeout: Milliseconds, unused?: string): Failure {
    const { kind = 'unavailable', says, hint: advice, again, request }: Cause = causes[this.reason];
    const hint = [advice, request === 'unprocessed' ? unused : undefined]
      .filter((text) => text !== undefined)
      .join(' ');
    const { host } = new URL(http.url);
    const { detail = '', at = host, proxy } = this.#details;
    const words: Readonly<Record<string, string>> = {
      host,
      at,
      detail,
      timeout: formatDuration(timeout),
      through: proxy === undefined ? '' : ` through the proxy ${proxy}`,
      why: detail === '' ? '' : ` (${detail})`,
    };
    const message = says.replace(/\{(\w+)\}/g, (_all, name: string) => words[name] ?? '');
    return new Failure(kind, message, { ...(hint && { hint }), http, cause: this, retryable: again !== 'never' });
  }
}

/** The error of an attempt that had a connection. @throws the cause where it is a bug */
export function sentError(cause: unknown): TransportError {
  if (cause instanceof TransportError) return cause;
  const code = codeOf(cause);
  if (isBug(cause)) throw cause;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new TransportError('headers too large', { cause });
  const greeting = greetingIn(cause) ?? faultIn(cause);
  if (greeting !== undefined) return new TransportError('not HTTP', { detail: greeting, cause });
  // A code of the HTTP library says no more than the sentence.
  return new TransportError('broken', { detail: /^(UND_)?ERR_[A-Z]/.test(code) ? '' : code, cause });
}

/** How an answer begins that is not HTTP; no more of it, since what is out of place may hold a key. */
function greetingIn(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !cause.message.includes('(Expected HTTP/') || !('data' in cause)) return undefined;
  const data = String(cause.data);
  return data.startsWith('\x15\x03') ? 'TLS' : `${data.slice(0, 7).replace(/[^ -~]/g, '?')}…`;
}

/** What the parser says of a head that is not HTTP: its own words, and none of the server's. */
function faultIn(cause: unknown): string | undefined {
  if (codeOf(cause) === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'the Content-Length does not match the body';
  if (!(cause instanceof Error) || cause.name !== 'HTTPParserError') return undefined;
  return /\((Missing expected .*|Invalid (?:header|HTTP version|status).*|.*Content-Length.*)\)/i.exec(
    cause.message,
  )?.[1];
}

/** @param at the host that failed, in words, if it is not the one of the URL */
export function connectError(cause: unknown, at?: string, proxy?: string): TransportError {
  if (cause instanceof TransportError)
    return cause.reason === 'timeout' ? new TransportError('no connection in time', { proxy, cause }) : cause;
  const code = codeOf(cause);
  const reason = connectReasons.find(([codes]) => codes.test(code))?.[1] ?? 'no connection';
  const { hostname, cert } = isObject(cause) ? cause : {};
  const names = isObject(cert) && reason === 'certificate of another host' ? String(cert['subjectaltname']) : code;
  // The host that the name service was asked for: the proxy's where there is one.
  return new TransportError(reason, {
    detail: names.slice(0, 200),
    at: typeof hostname === 'string' ? hostname : at,
    proxy,
    cause,
  });
}

/** The first one counts. */
const connectReasons: readonly (readonly [RegExp, keyof typeof causes])[] = [
  [/^ENOTFOUND/, 'no such name'],
  [/^EAI_AGAIN/, 'no name service'],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|EPROTO/, 'no TLS'],
  [/ALTNAME|^HOSTNAME_MISMATCH/, 'certificate of another host'],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)/, 'expired certificate'],
  [/^(CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|INVALID_CA|CRL_)/, 'untrusted certificate'],
  [/^ERR_(TLS|SSL)/, 'TLS handshake'],
];

/** Whether an error is none of a network: to send the request again would hide it. */
export function isBug(cause: unknown): cause is Error {
  if (!(cause instanceof Error) || cause instanceof TransportError || cause instanceof Failure) return false;
  const code = codeOf(cause);
  const isKnown = networkCode.test(code) || connectReasons.some(([codes]) => codes.test(code));
  return !isKnown && cause.name !== 'HTTPParserError';
}

/**
 * Of the system (UNKNOWN: of Windows), the HTTP parser, a decoder, a stream, or of undici if the other side errs; its
 * assertions are about answers (a status of 101 or 000 fails one), since a wrong request is refused before it is sent.
 */
const networkCode =
  /^(E(?!RR_)|UNKNOWN|HPE_|Z_|ERR_(_ERROR|STREAM_PREMATURE|ASSERTION)|UND_ERR_(SOCKET|INFO|ABORTED|RES|HEADERS|BODY|CONNECT))/;

function codeOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = 'code' in cause ? cause.code : undefined;
    if (typeof code === 'string' && (code !== 'UND_ERR_ABORTED' || cause.cause === undefined)) return code;
    const errors: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [];
    const [first] = errors;
    if (first !== undefined) return codeOf(first);
  }
  return '';
}
