import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure, type FailureKind } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';

/** What the end of an attempt proves of its request, as far as sending it again goes. */
export interface AttemptEnding {
  /** `unprocessed`: the server certainly did nothing. `unknown`: it may have carried the request out. */
  readonly request: 'answered' | 'unprocessed' | 'unknown';
  /** When the same request may succeed. */
  readonly again: 'never' | 'after a backoff' | 'after the wait asked for';
}

export function endingOf(status: number): AttemptEnding {
  if (status === 429) return { request: 'unprocessed', again: 'after the wait asked for' };
  // Somebody on the way gave up.
  if ([408, 502, 503, 504].includes(status)) return { request: 'unknown', again: 'after a backoff' };
  return { request: isTrouble(status) ? 'unknown' : 'answered', again: 'never' };
}

/** Whether the server is the trouble, not the request. A 408 may be the end of an idle connection. */
export function isTrouble(status: number): boolean {
  return status >= 500 || status === 408;
}

interface ErrorPlace {
  readonly host: string;
  readonly timeout: Milliseconds;
  readonly detail: string;
  readonly at: string;
  /** ` through the proxy HOST`, or nothing. */
  readonly through: string;
}

interface Cause extends AttemptEnding {
  readonly request: 'unprocessed' | 'unknown';
  readonly kind?: FailureKind;
  readonly says: (place: ErrorPlace) => string;
  readonly hint?: string;
}

const nothingSent = { request: 'unprocessed', again: 'never' } as const;
const notConnected = { request: 'unprocessed', again: 'after a backoff' } as const;
const unconfirmed = { request: 'unknown', again: 'after a backoff' } as const;
const unusable = { request: 'unknown', again: 'never' } as const;

const noName = ({ at, detail }: ErrorPlace): string => `DNS: no address for ${at} (${detail})`;
const dnsHint = 'Check the URL of the profile, the network, and the proxy in HTTPS_PROXY.';
const refusing = ({ host, detail }: ErrorPlace): string => `the proxy refused to connect to ${host} (${detail})`;
const proxyHint = 'Check HTTPS_PROXY and NO_PROXY.';
const serviceHint = 'Check that the service runs and that the URL and proxy are right.';

/** Each way in which an attempt ends without an answer: only a failure to connect proves that nothing was sent. */
const causes = {
  'no such name': { ...nothingSent, says: noName, hint: dnsHint },
  'no name service': { ...notConnected, says: noName, hint: dnsHint },
  'no connection': {
    ...notConnected,
    says: ({ host, through, detail }) => `no connection to ${host}${through} (${detail || 'unknown error'})`,
    hint: serviceHint,
  },
  'no connection in time': {
    ...notConnected,
    says: ({ host, timeout, through }) =>
      `timeout: no connection to ${host}${through} within ${formatDuration(timeout)}`,
    hint: serviceHint,
  },
  'proxy asks for a password': {
    ...nothingSent,
    says: () => 'the proxy asks for a name and password (407)',
    hint: 'Put them into HTTPS_PROXY as http://user:password@host:port.',
  },
  'proxy refuses': { ...nothingSent, says: refusing, hint: proxyHint },
  'proxy does not reach the server': { ...notConnected, says: refusing, hint: proxyHint },
  'proxy hangs up': {
    ...notConnected,
    says: ({ host, at }) => `the proxy ${at} closed the tunnel to ${host} before it was open`,
    hint: proxyHint,
  },
  'no TLS': {
    ...nothingSent,
    says: ({ host, detail }) => `TLS: ${host} does not speak TLS on this port (${detail})`,
    hint: 'Check the port of the URL; http is for http://.',
  },
  'untrusted certificate': {
    ...nothingSent,
    says: ({ host, detail }) => `TLS: the certificate of ${host} is not trusted (${detail})`,
    hint:
      'Give the authority that signed it with --ca-file FILE or NODE_EXTRA_CA_CERTS; or, if the system trusts it, with --system-ca (Node ' +
      '22.15 or newer).',
  },
  timeout: {
    ...unconfirmed,
    says: ({ host, timeout }) => `timeout: no complete answer from ${host} within ${formatDuration(timeout)}`,
    hint: 'Run the command again, or give --timeout more.',
  },
  broken: {
    ...unconfirmed,
    says: ({ host, detail }) =>
      `the connection to ${host} broke before the answer was complete${detail === '' ? '' : ` (${detail})`}`,
    hint: 'Run the command again.',
  },
  'headers too large': {
    ...unusable,
    says: ({ host }) => `the headers of the answer of ${host} are larger than Node takes`,
    hint: 'If they are right, set NODE_OPTIONS=--max-http-header-size=65536, in bytes.',
  },
  'body too large': {
    ...unusable,
    says: ({ host }) => `the answer of ${host} is larger than any answer of this API`,
    hint: 'Check the URL of the profile.',
  },
  'file too large': { ...unusable, kind: 'rejected', says: ({ detail }) => `it is larger than ${detail} bytes` },
} as const satisfies Record<string, Cause>;

interface ErrorDetails {
  /** A code or a number, for the sentence. */
  readonly detail?: string;
  /** The host that the sentence is about, where that is not the one of the URL. */
  readonly at?: string | undefined;
  /** Host and port of the proxy that was to be gone through. */
  readonly proxy?: string | undefined;
  readonly cause?: unknown;
}

/** An attempt without an answer, by its row of `causes`. */
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

  failure(http: { readonly method: string; readonly url: string }, timeout: Milliseconds): Failure {
    const { kind = 'unavailable', says, hint, again }: Cause = causes[this.reason];
    const { detail = '', at = '', proxy } = this.#details;
    const through = proxy === undefined ? '' : ` through the proxy ${proxy}`;
    const message = says({ host: new URL(http.url).host, timeout, detail, at, through });
    return new Failure(kind, message, { hint, http, cause: this, retryable: again !== 'never' });
  }
}

/** The error of an attempt that had a connection. @throws the cause where it is a bug */
export function sentError(cause: unknown): TransportError {
  if (cause instanceof TransportError) return cause;
  const code = codeOf(cause);
  if (isBug(cause)) throw cause;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new TransportError('headers too large', { cause });
  // A code of the HTTP library says no more than the sentence.
  return new TransportError('broken', { detail: code.startsWith('UND_ERR_') ? '' : code, cause });
}

export function connectError(cause: unknown, hostname: string, proxy?: string): TransportError {
  if (cause instanceof TransportError)
    return cause.reason === 'timeout' ? new TransportError('no connection in time', { proxy, cause }) : cause;
  const detail = codeOf(cause);
  // The host that the name service was asked for: the proxy's where there is one.
  const at = isObject(cause) && typeof cause['hostname'] === 'string' ? cause['hostname'] : hostname;
  return new TransportError(connectReason(detail), { detail, at, proxy, cause });
}

function connectReason(code: string): keyof typeof causes {
  if (code === 'ENOTFOUND') return 'no such name';
  if (code === 'EAI_AGAIN') return 'no name service';
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|EPROTO/.test(code)) return 'no TLS';
  return tlsCode.test(code) ? 'untrusted certificate' : 'no connection';
}

const tlsCode = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/;

/** Whether an error is none of a network: to send the request again would hide it. */
export function isBug(cause: unknown): cause is Error {
  if (!(cause instanceof Error) || cause instanceof TransportError || cause instanceof Failure) return false;
  const code = codeOf(cause);
  return !tlsCode.test(code) && !networkCode.test(code) && cause.name !== 'HTTPParserError';
}

/** Of the system (UNKNOWN: of Windows), the HTTP parser, a decoder, a stream, or of undici if the other side errs. */
const networkCode =
  /^(E(?!RR_)|UNKNOWN|HPE_|Z_|ERR_(_ERROR|STREAM_PREMATURE)|UND_ERR_(SOCKET|INFO|ABORTED|RES|HEADERS|BODY|CONNECT))/;

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
