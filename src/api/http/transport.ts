import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { rootCertificates } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { Agent, EnvHttpProxyAgent, request, type Dispatcher } from 'undici';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { variable, type Environment } from '../../core/world.ts';

export interface Surroundings {
  readonly env: Environment;
  /** PEM file of authorities to trust besides the usual ones. */
  readonly caFile: string | undefined;
}

/** One request as it goes on the wire. */
export interface WireRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  readonly timeout: Milliseconds;
  readonly bodyLimit: number;
  readonly signal: AbortSignal;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The body went past the limit: somebody answers without end. */
export class TooLarge extends Error {}
/** No whole answer in time. */
export class TimedOut extends Error {}

/**
 * The one place where connections are made: proxy and authorities from the surroundings, kept alive.
 * @throws Failure config for an unreadable CA file
 */
export async function openDispatcher(surroundings: Surroundings): Promise<(url: string) => Dispatcher> {
  // Optimizing undici's parser costs 45 ms at exit (dependencies.md, section 3) or 30 MB in a long run, and gains nothing.
  setFlagsFromString('--liftoff-only');
  const ca = await authorities(surroundings);
  const options = { connect: ca ? { ca } : {}, headersTimeout: 0, bodyTimeout: 0 };
  const proxy = variable(surroundings.env, 'HTTPS_PROXY') ?? variable(surroundings.env, 'https_proxy');
  const direct = new Agent(options);
  if (proxy === undefined) return () => direct;
  const noProxy = variable(surroundings.env, 'NO_PROXY') ?? variable(surroundings.env, 'no_proxy') ?? '';
  const tls = ca ? { requestTls: { ca }, proxyTls: { ca } } : {};
  const proxied = new EnvHttpProxyAgent({ ...options, ...tls, httpProxy: '', httpsProxy: proxyUrl(proxy), noProxy });
  return (url) => (new URL(url).protocol === 'http:' ? direct : proxied);
}

/** curl takes a proxy without a scheme for http. */
function proxyUrl(text: string): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url) || !/^https?:/i.test(url))
    throw new Failure('config', 'the proxy variable HTTPS_PROXY is not the URL of an http proxy', {
      hint: 'Write it as http://host:port.',
    });
  return url;
}

async function authorities({ env, caFile }: Surroundings): Promise<string[] | undefined> {
  if (caFile === undefined) return undefined;
  const extra = variable(env, 'NODE_EXTRA_CA_CERTS');
  const files = [caFile, ...(extra === undefined ? [] : [extra])];
  const texts = await Promise.all(files.map((file) => certificates(file)));
  return [...rootCertificates, ...texts];
}

async function certificates(file: string): Promise<string> {
  try {
    const text = await readFile(file, 'utf8');
    if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it holds no PEM certificate');
    return text;
  } catch (cause) {
    throw new Failure('config', `cannot use the CA file ${file}: ${(cause as Error).message}`, { cause });
  }
}

/**
 * Sends one request and reads the whole answer. Errors are undici's, TimedOut, TooLarge, or the signal's reason.
 * Redirects are not followed here.
 */
export async function exchange(dispatcher: Dispatcher, call: WireRequest): Promise<WireAnswer> {
  // Not AbortSignal.any: Node 20 keeps a reference to each of its signals for as long as the run's own lives.
  const end = new AbortController();
  const alarm = setTimeout(() => end.abort(new TimedOut()), call.timeout);
  const stop = (): void => end.abort(call.signal.reason);
  call.signal.addEventListener('abort', stop);
  if (call.signal.aborted) stop();
  try {
    return await answerTo(dispatcher, call, end.signal);
  } catch (cause) {
    throw end.signal.aborted ? end.signal.reason : cause;
  } finally {
    clearTimeout(alarm);
    call.signal.removeEventListener('abort', stop);
  }
}

async function answerTo(dispatcher: Dispatcher, call: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
  const answer = await request(call.url, {
    dispatcher,
    method: call.method,
    headers: call.headers,
    body: call.body ?? null,
    signal,
  });
  const text = await readBody(answer.body, call.bodyLimit);
  // undici frees the connection a turn after the body: a request before that would open another one, with another handshake.
  await setImmediate();
  return { status: answer.statusCode, headers: answer.headers, text };
}

async function readBody(body: AsyncIterable<Uint8Array>, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw new TooLarge();
    chunks.push(chunk);
  }
  return new TextDecoder('utf-8').decode(Buffer.concat(chunks));
}
