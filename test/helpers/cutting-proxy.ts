import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { statements } from '../../src/store/ledger/ledger-sql.ts';

/** What happens to a connection when the awaited text has come by. */
export interface Cut {
  /** A statement that the client sends. */
  readonly at: string;
  /** The first time (1), or a later one. */
  readonly time?: number;
  /** Whether the server gets the text: its answer never reaches the client. */
  readonly when: 'before' | 'after';
  /** `break`: both sides see the end of the connection; `stall`: neither hears of the other any more. */
  readonly how: 'break' | 'stall';
}

export interface CuttingProxy {
  readonly port: number;
  /** The statements that the client sent to the ledger, in order. */
  readonly calls: string[];
  /** Resolves at the cut. */
  readonly wasCut: Promise<void>;
  close(): Promise<void>;
}

/** A TCP proxy on loopback in front of a port of this machine, which cuts its first connections at one moment. */
export async function openCuttingProxy(target: number, cut: Cut): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const calls: string[] = [];
  let seen = 0;
  let tell = (): void => undefined;
  const wasCut = new Promise<void>((resolve) => (tell = resolve));
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    let isCut = false;
    const end = (): void => {
      isCut = true;
      tell();
      if (cut.how === 'break') [client, upstream].forEach((socket) => socket.destroy());
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    client.on('data', (bytes) => {
      if (isCut) return;
      const names = Object.entries(statements).flatMap(([name, text]) => (bytes.includes(text) ? [name] : []));
      calls.push(...names);
      const isAwaited = names.includes(cut.at) && (seen += 1) === (cut.time ?? 1);
      if (isAwaited && cut.when === 'before') {
        end();
        return;
      }
      upstream.write(bytes);
      if (isAwaited) upstream.once('data', end);
    });
    // The listener that ends the connection is called first, so the answer does not get through.
    upstream.on('data', (bytes) => setImmediate(() => isCut || client.write(bytes)));
    client.on('close', () => cut.how === 'stall' || upstream.destroy());
    upstream.on('close', () => isCut || client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    calls,
    wasCut,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
