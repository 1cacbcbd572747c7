import { describe, expect, test } from 'vitest';
import { openAuthority } from '../helpers/authority.ts';
import { needs } from '../helpers/needs.ts';
import { openOrigin } from '../helpers/origin.ts';
import { openProxy } from '../helpers/proxy.ts';
import { start } from './program.ts';

/** The built program has its own slim part of undici: what a proxy needs of it shows only here. */
describe('the built program behind a proxy', needs('openssl'), () => {
  test('gives its password and gets through', async () => {
    const authority = openAuthority();
    try {
      const origin = await openOrigin(() => ({ body: '[]' }), authority.issue('DNS:licenses.example.test'));
      const proxy = await openProxy({ port: origin.port, login: 'ada:s3cret' });
      const done = await start(`license list -o json --ca-file ${authority.file}`, {
        env: {
          CHATELAINE_BASE_URL: 'https://licenses.example.test',
          CHATELAINE_API_KEY: 'licensing-key-1',
          HTTPS_PROXY: `http://ada:s3cret@127.0.0.1:${proxy.port}`,
        },
      }).ended;

      expect(done.code).toBe(0);
      expect(proxy.seen[0]).toBe('CONNECT licenses.example.test:443');
    } finally {
      authority.close();
    }
  });
});

test.each([
  ['', 7],
  ['--max-http-header-size=65536', 0],
])('the built program takes headers as long as Node does: NODE_OPTIONS=%s', async (NODE_OPTIONS, code) => {
  const { port } = await openOrigin(() => ({ headers: { 'x-long': 'x'.repeat(20_000) }, body: '[]' }));
  const done = await start('license list -o json', {
    env: { CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`, CHATELAINE_API_KEY: 'licensing-key-1', NODE_OPTIONS },
  }).ended;

  expect(done.code).toBe(code);
});
