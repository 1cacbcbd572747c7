import { createServer, request, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Certificate } from './authority.ts';

export interface ProxyOptions {
  /** `name:password` that it asks for. */
  readonly login?: string;
  /** The status with which it refuses every CONNECT. */
  readonly refuse?: number;
  /** Where every tunnel really leads, whatever host was asked for: names need no DNS then. */
  readonly port: number;
  /** Its own, where it is asked over TLS. */
  readonly certificate?: Certificate;
}

export interface Proxy {
  readonly port: number;
  /** `CONNECT host:port`, and `METHOD url` of requests that came untunnelled. */
  readonly seen: readonly string[];
}

/** A proxy on loopback that ends with the test. */
export async function openProxy({ login, refuse, port: target, certificate }: ProxyOptions): Promise<Proxy> {
  const seen: string[] = [];
  const sockets = new Set<Duplex>();
  const forward: RequestListener = (incoming, outgoing) => {
    seen.push(`${incoming.method ?? ''} ${incoming.url ?? ''}`);
    incoming.pipe(
      request({ host: '127.0.0.1', port: target, method: incoming.method, path: incoming.url }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      }),
    );
  };
  const server = certificate ? createTlsServer(certificate, forward) : createServer(forward);
  server.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    seen.push(`CONNECT ${incoming.url ?? ''}`);
    keep(sockets, client);
    const status = refuse ?? (isAllowed(incoming, login) ? 200 : 407);
    const challenge = status === 407 ? 'Proxy-Authenticate: Basic realm="gate"\r\n' : '';
    if (status !== 200) {
      client.end(`HTTP/1.1 ${status} No\r\n${challenge}Content-Length: 0\r\n\r\n`);
      return;
    }
    const upstream = connect(target, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    keep(sockets, upstream);
  });
  server.on('connection', (socket: Socket) => keep(sockets, socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

function isAllowed({ headers }: IncomingMessage, login: string | undefined): boolean {
  return login === undefined || headers['proxy-authorization'] === `Basic ${Buffer.from(login).toString('base64')}`;
}

function keep(sockets: Set<Duplex>, socket: Duplex): void {
  sockets.add(socket);
  socket.on('error', () => socket.destroy());
  socket.once('close', () => sockets.delete(socket));
}
