import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Certificate } from './authority.ts';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  /** Accept-Encoding. */
  readonly encodings: string | undefined;
  readonly body: string;
  /** When it came, in milliseconds. */
  readonly time: number;
}

export interface Origin {
  readonly port: number;
  readonly seen: readonly Seen[];
  /** Connections that were ever opened. */
  connections(): number;
  /** Connections that are open. */
  open(): number;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Answers, or never (undefined). */
export type Respond = (request: Seen, count: number) => Reply | undefined;

/** A service on loopback that says what a test wants, over TLS where it has a certificate; ends with the test. */
export async function openOrigin(
  respond: Respond = () => ({}),
  certificate?: Certificate & TlsOptions,
): Promise<Origin> {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const time = performance.now();
    const { method = '', url = '', headers } = incoming;
    const { authorization, 'accept-encoding': encodings } = headers;
    const request = { method, url, authorization, encodings: encodings?.toString(), body: await text(incoming), time };
    seen.push(request);
    const reply = respond(request, seen.length);
    if (!reply) return;
    const body = reply.body ?? (url.startsWith('/api/') ? '{"result":"success","msg":"","messages":[]}' : '[]');
    outgoing.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
    outgoing.end(body);
  };
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => void answer(incoming, outgoing);
  const server: Server = certificate ? createTlsServer({ ...certificate }, listener) : createServer(listener);
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    connections: () => connections,
    open: () => sockets.size,
  };
}

/** A service on loopback that says a text on each connection, at once or for each piece that it hears. */
export async function openSpeaker(text: string, when: 'at once' | 'when asked' = 'at once'): Promise<{ port: number }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    if (when === 'at once') socket.write(text, 'latin1');
    else socket.on('data', () => socket.write(text, 'latin1'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port };
}
