import { X509Certificate } from 'node:crypto';
import { Socket } from 'node:net';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { errorOf, Failure, systemReason, usage } from '../../core/failure.ts';
import { readFileBytes } from '../../core/read.ts';
import { variable, type Environment } from '../../core/system.ts';
import type { Connection } from './call.ts';
import { credentialsOf, proxyOf, refusal } from './proxy.ts';
import { connectError, isBug, TransportError } from './transport-error.ts';

type TransportSurroundings = Connection['surroundings'];

/** Sends a request, which `cancellation` ends. */
export type Dispatch = (
  options: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
  cancellation: Cancellation,
) => unknown;

/** One set of connections for the process, made at the first request. */
const opened = new WeakMap<TransportSurroundings, Promise<Dispatch>>();

/** @throws Failure config for an unreadable CA file or a wrong proxy variable */
export function dispatchIn(surroundings: TransportSurroundings, signal: AbortSignal): Promise<Dispatch> {
  const known = opened.get(surroundings) ?? keepConnections(surroundings, signal);
  opened.set(surroundings, known);
  return known;
}

/** For Node, which sets them once a socket is connected: undici sets them before, which Wine refuses. */
const whenConnected = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 } as const;

/** Each request has a connection to itself until its end; then the next one takes it. */
async function keepConnections(surroundings: TransportSurroundings, signal: AbortSignal): Promise<Dispatch> {
  const { env } = surroundings;
  // A wrong variable is reported before the first connection.
  for (const scheme of ['https', 'http']) proxyOf(`${scheme}://example.com`, { ...env, NO_PROXY: '', no_proxy: '' });
  const secureContext = await trustIn(surroundings, signal);
  const connect = buildConnector({ timeout: 0, ...whenConnected, ...(secureContext && { secureContext }) });
  const idle = new Map<string, Set<Dispatch>>();
  return (options, ...given) => {
    const origin = String(options.origin);
    const free = idle.get(origin) ?? new Set();
    idle.set(origin, free);
    // The last one to be free is the least likely to be closed by the server.
    const connection = [...free].at(-1) ?? newConnection(origin, env, connect, free);
    free.delete(connection);
    return connection(options, ...given);
  };
}

/** A connection ends with a request that ends early: undici itself gives up only a request that was sent. */
function newConnection(origin: string, env: Environment, connect: Connect, free: Set<Dispatch>): Dispatch {
  let present = new Cancellation();
  const client = new Client(origin, {
    connect(options, callback) {
      // undici connects once more after a request that was given up.
      if (present.isSent) callback(new Error('the request has ended'), null);
      else report(route(connect, options, env, present), callback);
    },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const dispatch: Dispatch = (options, handler, cancellation) => {
    present = cancellation;
    return client.dispatch(options, handler);
  };
  client.on('drain', () => void (present.isSpoiled ? client.close() : free.add(dispatch)));
  return dispatch;
}

/** Ends a request early: at its time limit, or with the run. An AbortController costs a bulk write 10 % more CPU. */
export class Cancellation {
  #reason: Error | undefined;
  #stop: ((reason: Error) => void) | undefined;

  /** Whether the request has its connection: what is written of it cannot be taken back. */
  isSent = false;

  /** Whether the connection may carry a late answer that no request asked for. */
  isSpoiled = false;

  cancel(reason: Error): void {
    this.#reason = reason;
    this.#stop?.(reason);
  }

  /** `stop` gets the reason, at once if the request is cancelled already. Only the last one given counts. */
  whenCancelled(stop: (reason: Error) => void): void {
    this.#stop = stop;
    if (this.#reason) stop(this.#reason);
  }
}

/** Connects, directly or through the proxy. The cancellation of the request ends each step. @throws `connectError` */
async function route(connect: Connect, options: buildConnector.Options, env: Environment, cancellation: Cancellation) {
  const proxy = proxyOf(`${options.protocol}//${options.host ?? options.hostname}`, env);
  try {
    const tunnel = proxy && (await openTunnel(connect, proxy, options, cancellation));
    if (tunnel && options.protocol !== 'https:') return tunnel;
    const socket = await open(connect, tunnel ? { ...options, httpSocket: tunnel } : options, cancellation);
    // TLS 1.3 refuses a client without a certificate once it is connected; undici says then that the connection ended.
    socket.on('error', (late) => {
      const error = connectError(late);
      if (error.reason === 'TLS handshake') cancellation.cancel(error);
    });
    return socket;
  } catch (cause) {
    throw isBug(cause) ? cause : connectError(cause, undefined, proxy?.host);
  }
}

/** undici's connector returns the socket, which its types do not say. */
type Connect = (...given: Parameters<buildConnector.connector>) => unknown;

/** Opens a socket. Node sets no options on a TLS socket, so TLS begins on a plain one that is connected. */
async function open(connect: Connect, options: buildConnector.Options, cancellation: Cancellation): Promise<Socket> {
  const isConnected = options.protocol !== 'https:' || options.httpSocket !== undefined;
  const plain = { ...options, protocol: 'http:', port: portOf(options) };
  const given = isConnected ? options : { ...options, httpSocket: await open(connect, plain, cancellation) };
  return new Promise((resolve, reject) => {
    const opening = connect(given, (...[cause, socket]) => (cause ? reject(cause) : resolve(socket)));
    if (opening instanceof Socket) cancellation.whenCancelled((reason) => opening.destroy(reason));
  });
}

function report(opening: Promise<Socket>, callback: buildConnector.Callback): void {
  opening.then(
    (socket) => callback(null, socket),
    (cause: unknown) => callback(errorOf(cause), null),
  );
}

/** A URL leaves out the port of its scheme. */
function portOf({ protocol, port }: buildConnector.Options): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

/** RFC 9110, CONNECT. undici's ProxyAgent waits without end for a silent proxy, and hides the status of a refusal. */
function openTunnel(connect: Connect, proxy: URL, target: buildConnector.Options, cancellation: Cancellation) {
  const { hostname } = target;
  const path = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${portOf(target)}`;
  const headers = { host: path, ...credentialsOf(proxy) };
  const at = `the proxy ${proxy.host}`;
  const client = new Client(proxy.origin, {
    // `servername` comes from the header Host, and is the server's: the proxy's certificate has the proxy's own name.
    connect: ({ servername: _, ...options }, done) => report(open(connect, options, cancellation), done),
    headersTimeout: 0,
  });
  return new Promise<Socket>((resolve, reject) => {
    client.dispatch(
      { method: 'CONNECT', path, headers },
      {
        // The socket ends with the request: undici, asked to end it, would connect once more.
        onRequestStart: () => undefined,
        onRequestUpgrade(_controller, status, _headers, socket) {
          if (status === 200 && socket instanceof Socket) {
            resolve(socket);
            return;
          }
          socket.destroy();
          reject(refusal(status, at));
        },
        onResponseError(_controller, cause) {
          if ('code' in cause && cause.code === 'UND_ERR_SOCKET')
            reject(new TransportError('proxy hangs up', { at, cause }));
          else if (cause.name === 'HTTPParserError')
            reject(new TransportError('proxy refuses', { at, detail: 'its response is not HTTP', cause }));
          else reject(isBug(cause) ? cause : connectError(cause, at, proxy.host));
        },
      },
    );
  });
}

/**
 * The authorities of a file, and the usual ones, which `ca` alone would replace; undefined if there is no file. Made
 * once: that takes 20 ms, which the option `ca` would cost for each connection.
 */
async function trustIn(
  { env, caFile }: TransportSurroundings,
  signal: AbortSignal,
): Promise<SecureContext | undefined> {
  if (caFile === undefined) return undefined;
  const files = [caFile, variable(env, 'NODE_EXTRA_CA_CERTS')].filter((file) => file !== undefined);
  const blocks = await Promise.all(files.map((file) => certificates(file, signal)));
  return createSecureContext({ ca: [...rootCertificates, ...blocks.flat()] });
}

/** The bundle of all public authorities is a quarter of a megabyte. */
const maxCertificateBytes = 16 * 1024 * 1024;

async function certificates(file: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const bytes = await readFileBytes(file, { signal, maxBytes: maxCertificateBytes });
    const text = bytes.toString('latin1');
    const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    if (blocks.length === 0) throw usage('it contains no PEM certificate');
    // TLS itself leaves out what it cannot read.
    for (const block of blocks) new X509Certificate(block);
    return blocks;
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    const hint = 'Name a file of PEM certificates that you may read.';
    throw new Failure('config', `cannot use the CA file ${file}: ${systemReason(cause)}`, { cause, hint });
  }
}
