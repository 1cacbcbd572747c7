import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { runAlone } from '../../helpers/run.ts';

/** A server that ignores the filter, and answers a list, which shows so many of its licenses, a turn later. */
async function unfiltered(most = Infinity) {
  const rows: object[] = [{ license_code: 'K-0', remote_user: 'somebody', app_code: 7, size_allowance: 4 }];
  let [lists, underWay, together] = [0, 0, 0];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += String(part)));
    request.on('end', () => {
      if (request.method === 'POST') {
        const row = { license_code: `K-${rows.length}`, ...(JSON.parse(body) as object) };
        rows.push(row);
        response.writeHead(201).end(JSON.stringify(row));
        return;
      }
      const [, key] = /^\/v1\/license\/K-(\d+)\/$/.exec(request.url ?? '') ?? [];
      if (key !== undefined) {
        underWay += 1;
        together = Math.max(together, underWay);
        setTimeout(() => {
          underWay -= 1;
          response.end(JSON.stringify(rows[Number(key)]));
        }, 20);
        return;
      }
      lists += 1;
      const data = rows.slice(0, most);
      setImmediate(() => response.end(JSON.stringify({ total: data.length, data })));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const env = {
    CHATELAINE_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    CHATELAINE_API_KEY: 'licensing-key-5f1d0c',
    CHATELAINE_APP_CODE: '7',
  };
  return { env, lists: () => lists, together: () => together };
}

const users = (count: number): string =>
  JSON.stringify(Array.from({ length: count }, (_, index) => ({ remote_user: `user-${index}`, size_allowance: 4 })));

test('sixty new users of a server that ignores its filter: rows that wait share a list', async () => {
  const { env, lists } = await unfiltered();

  const ran = await runAlone('license apply - -y -q', { env, stdin: users(60) });

  expect(ran.exitCode).toBe(0);
  // Of four rows for a list it would be 20.
  expect(lists()).toBeLessThanOrEqual(12);
});

test('licenses that no list shows are requested by their keys in the places of the run', async () => {
  const { env, together } = await unfiltered(2);

  const ran = await runAlone('license apply - -y -q --settle 500ms --concurrency 2', { env, stdin: users(20) });

  expect(ran.exitCode).toBe(9);
  expect(together()).toBe(2);
});
