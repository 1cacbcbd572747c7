import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { limiter } from '../../src/core/batch.ts';

export interface QueuedServer {
  readonly url: string;
  /** The users of all licenses, in the order in which they were made. */
  readonly users: readonly string[];
  /** Resolves when each request that came is carried out. */
  isEmpty(): Promise<void>;
  posts(): number;
}

/**
 * A licensing server that carries POSTs out one after another, `cost` ms each, behind a gateway that answers 504 after
 * `limit` ms, while the request goes on. Reads are answered at once. Ends with the test.
 */
export async function openQueuedServer(cost: number, limit: number): Promise<QueuedServer> {
  const licenses: { readonly license_code: string; readonly remote_user: string }[] = [];
  const inQueue = limiter(1);
  let [posts, last]: [number, Promise<unknown>] = [0, Promise.resolve()];
  const server = createServer((incoming, outgoing) => {
    const reply = (status: number, body: unknown): void => {
      if (outgoing.writableEnded || outgoing.destroyed) return;
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const answer = async (): Promise<void> => {
      const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://here');
      const license = licenses.find(({ license_code }) => pathname === `/v1/license/${license_code}/`);
      if (license) {
        reply(200, license);
        return;
      }
      const user = searchParams.get('remote_user');
      const results = licenses.filter(({ remote_user }) => user === null || remote_user === user);
      if (incoming.method === 'GET') {
        reply(200, { count: results.length, next: null, previous: null, results });
        return;
      }
      posts += 1;
      const fields = JSON.parse(await text(incoming)) as { readonly remote_user: string };
      const gateway = setTimeout(() => reply(504, '<h1>504 Gateway Time-out</h1>'), limit);
      last = inQueue(async () => {
        await sleep(cost);
        const made = { license_code: `K-${licenses.length}`, ...fields };
        licenses.push(made);
        clearTimeout(gateway);
        reply(201, made);
      });
    };
    void answer();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get users() {
      return licenses.map(({ remote_user }) => remote_user);
    },
    posts: () => posts,
    async isEmpty() {
      while (licenses.length < posts) await last;
    },
  };
}
