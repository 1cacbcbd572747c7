import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { Trust } from './authorities.ts';
import { ProxyRefusal } from './broken.ts';

export interface TunnelOptions {
  readonly proxy: URL;
  /** `host:port` of the server behind the proxy. */
  readonly target: string;
  /** Where the proxy itself speaks TLS; undefined: the usual authorities. */
  readonly trust: Trust | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Asks a proxy for a connection to a server (RFC 9110, CONNECT).
 * @throws ProxyRefusal where the proxy answers with another status than 200; network errors; AbortError when the signal aborts
 */
export function openTunnel({ proxy, target, trust, signal }: TunnelOptions): Promise<Socket> {
  const request = proxy.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    request({
      method: 'CONNECT',
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port === '' ? undefined : Number(proxy.port),
      path: target,
      headers: { host: target, ...credentialsOf(proxy) },
      agent: false,
      ...(trust ? { secureContext: trust() } : {}),
      ...(signal ? { signal } : {}),
    })
      .once('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
        if (statusCode !== 200) {
          socket.destroy();
          reject(new ProxyRefusal(statusCode));
          return;
        }
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      })
      .once('error', reject)
      .end();
  });
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(text).toString('base64')}` };
}
