import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { variable, type Environment } from '../../core/world.ts';
import type { Ending } from './retry.ts';

/** A name without an address is not asked for again: the contract's table of what is repeated does not list it. */
const nameless: ReadonlySet<string> = new Set(['ENOTFOUND']);

const unsent: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** What a thrown error of the transport means for repeating the call. */
export function endingOfError(error: unknown): Ending {
  if (error instanceof Failure || isTls(codeOf(error)) || nameless.has(codeOf(error))) return 'barred';
  const proxy = proxyStatus(error);
  if (proxy !== undefined) return proxy >= 500 ? 'unsent' : 'barred';
  return unsent.has(codeOf(error)) ? 'unsent' : 'doubtful';
}

/** The failure that names what stood in the way: DNS, proxy, TLS, time-out or server. */
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
  const name = error instanceof Error ? error.constructor.name : '';
  if (name === 'TimedOut') {
    return [
      `timeout: no whole answer from ${url.host} within ${formatDuration(timeout)}`,
      'Run the command again, or give --timeout more.',
    ];
  }
  if (name === 'TooLarge')
    return [`the answer of ${url.host} is larger than any answer of this API`, 'Check the URL of the profile.'];
  return (
    explainProxy(error, url) ??
    explainUnconnected(error, url, env) ?? [
      `the connection to ${url.host} broke before a whole answer came (${codeOf(error) || name || 'unknown error'})`,
      'Run the command again.',
    ]
  );
}

/** Undefined where no proxy refused. */
function explainProxy(error: unknown, url: URL): [string, string] | undefined {
  const status = proxyStatus(error);
  if (status === 407)
    return [
      'the proxy asks for a name and password (407)',
      'Put them into HTTPS_PROXY as http://user:password@host:port.',
    ];
  if (status === undefined) return undefined;
  return [`the proxy refused to connect to ${url.host} (${status})`, 'Check HTTPS_PROXY and NO_PROXY.'];
}

/** Undefined where there was a connection. */
function explainUnconnected(error: unknown, url: URL, env: Environment): [string, string] | undefined {
  const code = codeOf(error);
  if (isTls(code)) {
    return [
      `TLS: the certificate of ${url.host} is not trusted (${code})`,
      'Give the authority that signed it with --ca-file FILE or NODE_EXTRA_CA_CERTS.',
    ];
  }
  if (nameless.has(code) || code === 'EAI_AGAIN') {
    return [
      `DNS: no address for ${hostOf(error) ?? url.hostname} (${code})`,
      'Check the URL of the profile, the network and the proxy.',
    ];
  }
  if (unsent.has(code)) {
    const proxy = proxyFor(url.href, env);
    const through = proxy === undefined ? '' : ` through the proxy ${proxy}`;
    return [
      `no connection to ${url.host}${through} (${code})`,
      'Check that the service runs and that the URL and proxy are right.',
    ];
  }
  return undefined;
}

/** The code of an error or of the nearest cause that has one. */
function codeOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'string' && code !== 'UND_ERR_ABORTED') return code;
    const [first] = cause instanceof AggregateError ? (cause.errors as unknown[]) : [];
    if (first !== undefined) return codeOf(first);
  }
  return '';
}

function hostOf(error: unknown): string | undefined {
  const host = (error as { hostname?: unknown }).hostname;
  return typeof host === 'string' ? host : undefined;
}

function isTls(code: string): boolean {
  return /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/.test(
    code,
  );
}

/** undici tells the refusal of a CONNECT only in words. */
function proxyStatus(error: unknown): number | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const match = /^Proxy response \((\d+)\)/.exec(cause.message);
    if (match) return Number(match[1]);
  }
  return undefined;
}

/** The proxy that a request to the URL goes through, without its password: https only, and not for hosts of NO_PROXY. */
export function proxyFor(url: string, env: Environment): string | undefined {
  const { protocol, hostname, port } = new URL(url);
  const text = variable(env, 'HTTPS_PROXY') ?? variable(env, 'https_proxy');
  if (protocol !== 'https:' || text === undefined || isExempt(hostname, port, env)) return undefined;
  const proxy = text.includes('://') ? text : `http://${text}`;
  return URL.canParse(proxy) ? new URL(proxy).host : undefined;
}

/** `host`, `.domain`, `host:port` or `*`, as undici reads NO_PROXY. */
function isExempt(hostname: string, port: string, env: Environment): boolean {
  const entries = (variable(env, 'NO_PROXY') ?? variable(env, 'no_proxy') ?? '').toLowerCase().split(/[\s,]+/);
  return entries.some((entry) => {
    const [, host = '', only] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry) ?? [];
    if (host === '') return false;
    const isNamed = host === '*' || hostname === host || hostname.endsWith(`.${host}`);
    return isNamed && (only === undefined || only === (port === '' ? '443' : port));
  });
}
