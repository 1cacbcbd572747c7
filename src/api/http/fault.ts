import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { Environment } from '../../core/world.ts';
import { proxyFor } from './proxy.ts';
import type { AttemptEnding } from './retry.ts';

/** No connection was made, so nothing was sent; `cause` says why. */
export class Unconnected extends Error {
  constructor(cause: unknown) {
    super('no connection', { cause });
  }
}

/** A proxy answered CONNECT with this status. */
export class ProxyRefusal extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the proxy answered CONNECT with ${status}`);
    this.status = status;
  }
}

/** The body exceeded the limit, compressed or not. */
export class TooLarge extends Error {}

/** The time limit of the request passed. */
export class TimedOut extends Error {}

/** A name without an address is not asked for again. */
const nameless: ReadonlySet<string> = new Set(['ENOTFOUND']);

/** What a thrown error of the transport means for repeating the call: only a failure to connect proves that nothing was sent. */
export function endingOfError(error: unknown): AttemptEnding {
  if (error instanceof Failure) return 'barred';
  if (!(error instanceof Unconnected)) return 'unconfirmed';
  const { cause } = error;
  if (cause instanceof ProxyRefusal) return cause.status >= 500 ? 'unsent' : 'barred';
  const code = codeOf(cause);
  return cause instanceof Failure || isTls(code) || nameless.has(code) ? 'barred' : 'unsent';
}

/** The failure that names the obstacle: DNS, proxy, TLS, time-out or server. */
export function barrier(
  error: unknown,
  http: { method: string; url: string },
  env: Environment,
  timeout: Milliseconds,
): Failure {
  if (error instanceof Failure) return error;
  const [message, hint] = explain(error, new URL(http.url), env, timeout);
  return new Failure('unavailable', message, { hint, http, cause: error });
}

function explain(error: unknown, url: URL, env: Environment, timeout: Milliseconds): [string, string] {
  if (error instanceof Unconnected) return explainUnconnected(error.cause, url, env, timeout);
  if (error instanceof TimedOut) {
    return [
      `timeout: no whole answer from ${url.host} within ${formatDuration(timeout)}`,
      'Run the command again, or give --timeout more.',
    ];
  }
  if (error instanceof TooLarge)
    return [`the answer of ${url.host} is larger than any answer of this API`, 'Check the URL of the profile.'];
  const code = codeOf(error);
  // A code of the HTTP library says no more than these words.
  const reason = code === '' || code.startsWith('UND_ERR_') ? '' : ` (${code})`;
  return [`the connection to ${url.host} broke before a whole answer came${reason}`, 'Run the command again.'];
}

function explainUnconnected(cause: unknown, url: URL, env: Environment, timeout: Milliseconds): [string, string] {
  if (cause instanceof ProxyRefusal) return explainProxy(cause, url);
  const code = codeOf(cause);
  if (isTls(code)) return explainTls(code, url);
  if (nameless.has(code) || code === 'EAI_AGAIN') {
    return [
      `DNS: no address for ${hostOf(cause) ?? url.hostname} (${code})`,
      'Check the URL of the profile, the network and the proxy.',
    ];
  }
  const proxy = proxyFor(url.href, env);
  const through = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  const isLate = cause instanceof TimedOut;
  const why = isLate ? ` within ${formatDuration(timeout)}` : ` (${code || 'unknown error'})`;
  return [
    `${isLate ? 'timeout: ' : ''}no connection to ${url.host}${through}${why}`,
    'Check that the service runs and that the URL and proxy are right.',
  ];
}

function explainProxy({ status }: ProxyRefusal, { host }: URL): [string, string] {
  if (status === 407)
    return [
      'the proxy asks for a name and password (407)',
      'Put them into HTTPS_PROXY as http://user:password@host:port.',
    ];
  return [`the proxy refused to connect to ${host} (${status})`, 'Check HTTPS_PROXY and NO_PROXY.'];
}

function explainTls(code: string, { host }: URL): [string, string] {
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|EPROTO/.test(code))
    return [
      `TLS: ${host} does not speak TLS on this port (${code})`,
      'Check the port of the URL; http is for http://.',
    ];
  return [
    `TLS: the certificate of ${host} is not trusted (${code})`,
    'Give the authority that signed it with --ca-file FILE or NODE_EXTRA_CA_CERTS.',
  ];
}

/** The code of an error or of the nearest cause that has one. */
function codeOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = 'code' in cause ? cause.code : undefined;
    if (typeof code === 'string' && code !== 'UND_ERR_ABORTED') return code;
    const errors: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [];
    const [first] = errors;
    if (first !== undefined) return codeOf(first);
  }
  return '';
}

function hostOf(error: unknown): string | undefined {
  return isObject(error) && typeof error['hostname'] === 'string' ? error['hostname'] : undefined;
}

function isTls(code: string): boolean {
  return /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/.test(
    code,
  );
}
