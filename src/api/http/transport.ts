import { X509Certificate } from 'node:crypto';
import { Agent, type Dispatcher } from 'undici';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, messageOf } from '../../core/failure.ts';
import { readFileText } from '../../core/read.ts';
import { variable, type Alarm, type Environment } from '../../core/world.ts';
import { trustedBy, type Trust } from './authorities.ts';
import { readBody, type BodyLimits, type WireBody } from './body.ts';
import { TimedOut, Unconnected } from './broken.ts';
import { Cancellation } from './cancellation.ts';
import { connectorFor } from './connector.ts';
import { proxyOf } from './proxy.ts';
import { receive } from './receive.ts';

export interface TransportSurroundings {
  readonly env: Environment;
  /** PEM file of authorities to trust besides the usual ones. */
  readonly caFile: string | undefined;
}

/** One request as it is sent. */
export interface WireRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  /** From the first packet of connecting to the last of the answer. */
  readonly timeout: Milliseconds;
  readonly alarm: Alarm;
  readonly bodyLimits: BodyLimits;
  readonly signal: AbortSignal;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: WireBody;
}

/**
 * The one place where connections are made: proxy and authorities from the surroundings, kept alive.
 * @throws Failure config for an unreadable CA file or a wrong proxy variable
 */
export async function openDispatcher(surroundings: TransportSurroundings, signal: AbortSignal): Promise<Dispatcher> {
  const { env } = surroundings;
  // A wrong variable is reported before the first connection.
  proxyOf('https://example.com', { ...env, NO_PROXY: '', no_proxy: '' });
  const connect = connectorFor({ env, trust: await trustIn(surroundings, signal) });
  return new Agent({ connect, headersTimeout: 0, bodyTimeout: 0 });
}

async function trustIn({ env, caFile }: TransportSurroundings, signal: AbortSignal): Promise<Trust | undefined> {
  if (caFile === undefined) return undefined;
  const extra = variable(env, 'NODE_EXTRA_CA_CERTS');
  const files = [caFile, ...(extra === undefined ? [] : [extra])];
  const texts = await Promise.all(files.map((file) => certificates(file, signal)));
  let context: ReturnType<Trust> | undefined;
  return () => (context ??= trustedBy(texts));
}

/** The bundle of all public authorities is a quarter of a megabyte. */
const maxCertificateBytes = 16 * 1024 * 1024;

async function certificates(file: string, signal: AbortSignal): Promise<string> {
  try {
    const text = await readFileText(file, { signal, maxBytes: maxCertificateBytes });
    const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    if (blocks.length === 0) throw new Error('it holds no PEM certificate');
    // TLS itself leaves out what it cannot read.
    for (const block of blocks) new X509Certificate(block);
    return text;
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new Failure('config', `cannot use the CA file ${file}: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Sends one request and reads the whole answer. Redirects are not followed here.
 * @throws Unconnected where nothing was sent, TimedOut, TooLarge, the signal's reason, or an error of undici
 */
export async function exchange(dispatcher: Dispatcher, call: WireRequest): Promise<WireAnswer> {
  const cancellation = new Cancellation();
  const cancelAlarm = call.alarm(call.timeout, () => cancellation.cancel(new TimedOut()));
  const stop = (): void => cancellation.cancel(call.signal.reason);
  call.signal.addEventListener('abort', stop);
  if (call.signal.aborted) stop();
  try {
    const { status, headers, body } = await receive(dispatcher, optionsOf(call), cancellation);
    const isSuccess = status >= 200 && status < 300;
    const limits = isSuccess ? call.bodyLimits : { memory: call.bodyLimits.memory };
    const read = await readBody(body, headers['content-encoding'], limits);
    // undici frees the connection a turn after the body: a request before that would open another one, with another handshake.
    await new Promise((resolve) => setImmediate(resolve));
    return { status, headers, body: read };
  } catch (cause) {
    throw cause instanceof Unconnected ? cause : cancellation.reasonOr(cause);
  } finally {
    cancelAlarm();
    call.signal.removeEventListener('abort', stop);
  }
}

let last = { url: '', origin: '', path: '' };

/** Requests to one URL follow one another: it is parsed for the first of them. */
function optionsOf({ url, method, headers, body }: WireRequest): Dispatcher.DispatchOptions {
  if (url !== last.url) {
    const { origin, pathname, search } = new URL(url);
    last = { url, origin, path: pathname + search };
  }
  const { origin, path } = last;
  return { origin, path, method, headers, body: body ?? null };
}
