import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { runAlone } from '../../helpers/run.ts';

/** A server that ignores the filter, and takes 0.3 s for each list. */
async function slowLists() {
  const rows: object[] = [{ license_code: 'K-0', remote_user: 'somebody', app_code: 7, size_allowance: 4 }];
  let lists = 0;
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
      lists += 1;
      setTimeout(() => response.end(JSON.stringify({ total: rows.length, data: rows })), 300);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, lists: () => lists };
}

test('sixty new users of a server that ignores its filter: rows that wait share a list', async () => {
  const { port, lists } = await slowLists();
  const env = {
    CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`,
    CHATELAINE_API_KEY: 'licensing-key-5f1d0c',
    CHATELAINE_APP_CODE: '7',
  };
  const users = Array.from({ length: 60 }, (_, index) => ({ remote_user: `user-${index}`, size_allowance: 4 }));

  const ran = await runAlone('license apply - -y -q', { env, stdin: JSON.stringify(users) });

  expect(ran.exitCode).toBe(0);
  // Of four rows for a list it would be 20.
  expect(lists()).toBeLessThanOrEqual(12);
});
