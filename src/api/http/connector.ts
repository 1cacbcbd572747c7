import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import type { Environment } from '../../core/world.ts';
import { abortReason } from '../../core/abort-reason.ts';
import type { Trust } from './authorities.ts';
import { Unconnected } from './broken.ts';
import type { Cancellation } from './cancellation.ts';
import { proxyOf } from './proxy.ts';

export interface Route {
  readonly env: Environment;
  /** Undefined: the usual authorities. */
  readonly trust: Trust | undefined;
}

/** The request that is being dispatched: undici opens a connection while it dispatches, and does not say for which request. */
let dispatching: Cancellation | undefined;

/**
 * Dispatches a request; a connection that is opened for it is given up when it is cancelled. Not an AsyncLocalStorage: that calls
 * a hook for each promise of the process, which is a tenth of the time of a bulk write.
 */
export function connectingFor(cancellation: Cancellation, dispatch: () => void): void {
  dispatching = cancellation;
  try {
    dispatch();
  } finally {
    dispatching = undefined;
  }
}

/**
 * How undici opens connections: directly, or through the proxy of the environment. No step has a time limit of its own: TCP, CONNECT
 * and TLS all end when the signal of the request aborts. Every error is an `Unconnected`.
 */
export function connectorFor(route: Route): buildConnector.connector {
  return (options, callback) => {
    open(options, route, dispatching?.signal).then(
      (socket) => callback(null, socket),
      (cause: unknown) => callback(new Unconnected(cause), null),
    );
  };
}

async function open(
  { protocol, hostname, host, port }: buildConnector.Options,
  { env, trust }: Route,
  signal: AbortSignal | undefined,
): Promise<Socket> {
  signal?.throwIfAborted();
  const isTls = protocol === 'https:';
  const proxy = proxyOf(`${protocol}//${host ?? hostname}`, env);
  const address = { host: hostname, port: Number(port) || (isTls ? 443 : 80) };
  if (!isTls) return opened(connectTcp(address), 'connect', signal);
  const socket = proxy && (await throughProxy(proxy, address, trust, signal));
  const options = {
    ...address,
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    ...(trust ? { secureContext: trust() } : {}),
    ...(socket ? { socket } : {}),
    ALPNProtocols: ['http/1.1'],
  };
  return opened(connectTls(options), 'secureConnect', signal);
}

async function throughProxy(
  proxy: URL,
  { host, port }: { host: string; port: number },
  trust: Trust | undefined,
  signal: AbortSignal | undefined,
): Promise<Socket> {
  const { openTunnel } = await import('./tunnel.ts');
  try {
    return await openTunnel({ proxy, target: `${host.includes(':') ? `[${host}]` : host}:${port}`, trust, signal });
  } catch (cause) {
    throw signal?.aborted ? signal.reason : cause;
  }
}

const keepAliveAfter = 60_000;

/** Resolves at the event; the socket is destroyed when the signal aborts before. */
function opened(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal | undefined): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => (): void => {
      signal?.removeEventListener('abort', stop);
      finish();
    };
    const stop = settle(() => {
      socket.destroy();
      reject(abortReason(signal));
    });
    signal?.addEventListener('abort', stop);
    // Stays on: an error between this event and undici's own listener would end the process.
    socket.on('error', (cause) => settle(() => reject(cause))());
    socket.once(
      event,
      settle(() => resolve(socket.setNoDelay(true).setKeepAlive(true, keepAliveAfter))),
    );
  });
}
