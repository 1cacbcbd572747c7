import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Answer } from '../../src/api/http/answer.ts';
import { exchange } from '../../src/api/http/transport.ts';
import { openAuthority } from '../helpers/authority.ts';
import { alarmByHand } from '../helpers/clock.ts';
import { needs } from '../helpers/needs.ts';

interface Server {
  ask(timeout: number, signal?: AbortSignal): Promise<Answer>;
  /** Of the first connection. */
  end(): void;
  readonly connections: readonly Socket[];
  readonly heard: readonly string[];
}

/** Over TLS: answers the first request on its first connection, `serves` the later connections; ends with the test. */
async function serveFirst(serves: 'nobody' | 'all', time = alarmByHand(3_600_000)): Promise<Server> {
  const authority = openAuthority();
  const connections: Socket[] = [];
  const heard: string[] = [];
  const opened: Socket[] = [];
  const tls = createTlsServer(authority.issue('DNS:localhost'), (socket) => {
    opened.push(socket.on('error', () => undefined));
    socket.on('data', (chunk: Buffer) => {
      heard.push(chunk.toString());
      if (heard.length === 1 || serves === 'all') socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]');
    });
  });
  const server = createTcpServer((socket) => {
    connections.push(socket.on('error', () => undefined));
    if (connections.length === 1 || serves === 'all') tls.emit('connection', socket);
    else time.ring();
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  onTestFinished(() => {
    for (const socket of connections) socket.destroy();
    server.close();
    authority.close();
  });
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  const surroundings = { env: {}, caFile: authority.file };
  const wire = { dispatcher: undefined, bodyLimit: 1000 };
  const request = { method: 'GET', url, shown: url, headers: {}, body: undefined, shownBody: undefined } as const;
  return {
    connections,
    heard,
    end: () => opened[0]?.end(),
    ask: (timeout, signal = new AbortController().signal) =>
      exchange({ ...wire, surroundings, alarm: time.alarm, signal }, request, url, {}, timeout),
  };
}

describe('a kept connection', needs('openssl'), () => {
  test('that the server closes as the next request is dispatched is replaced', async () => {
    const { ask, end, connections, heard } = await serveFirst('all');
    await ask(170_000);
    end();
    expect((await ask(170_000)).body).toEqual([]);
    expect({ connections: connections.length, requests: heard.length }).toEqual({ connections: 2, requests: 2 });
  });

  test('that ended last is taken first, so that those of a burst grow old together', async () => {
    const { ask, connections } = await serveFirst('all');
    await Promise.all([ask(170_000), ask(170_000), ask(170_000)]);
    const bytes = (): number[] => connections.map(({ bytesRead }) => bytesRead);
    const before = bytes();
    for (let turn = 0; turn < 3; turn += 1) await ask(170_000);
    const used = bytes().filter((count, index) => count !== before[index]);
    expect({ connections: connections.length, used: used.length }).toEqual({ connections: 3, used: 1 });
  });

  test('that is replaced by one that is never open: the time limit holds', async () => {
    const { ask, end, connections } = await serveFirst('nobody');
    await ask(170_000);
    end();
    await expect(ask(3_600_000)).rejects.toMatchObject({ reason: 'no connection in time' });
    expect(connections).toHaveLength(2);
    await expect.poll(() => connections[1]?.destroyed).toBe(true);
  });

  test('nothing is sent on it when the run ends in the turn before', async () => {
    const { ask, heard } = await serveFirst('nobody');
    await ask(170_000);
    const run = new AbortController();
    const reason = new Error('interrupted');
    const second = ask(170_000, run.signal);
    second.catch(() => undefined);
    // The request is dispatched in the first of these turns; undici looks at the connection once more, and writes in
    // the second.
    void setImmediate()
      .then(() => setImmediate())
      .then(() => run.abort(reason));
    await expect(second).rejects.toBe(reason);
    expect(heard).toHaveLength(1);
  });
});
