import { describe, expect, test } from 'vitest';
import { openAuthority } from '../helpers/authority.ts';
import { needs } from '../helpers/needs.ts';
import { openOrigin } from '../helpers/origin.ts';
import { openProxy } from '../helpers/proxy.ts';
import { errorOf, start } from './program.ts';

/** The built program has its own slim part of undici: what a proxy needs of it shows only here. */
describe('the built program behind a proxy', needs('openssl'), () => {
  test.each([
    ['without a password', undefined, '', 0],
    ['with its password', 'ada:s3cret', 'ada:s3cret@', 0],
    ['with a password that was not given', 'ada:s3cret', '', 7],
  ])('%s', async (_what, login, given, code) => {
    const authority = openAuthority();
    try {
      const origin = await openOrigin(() => ({ body: '[]' }), authority.issue('DNS:licenses.example.test'));
      const proxy = await openProxy({ port: origin.port, ...(login === undefined ? {} : { login }) });
      const done = await start(`license list -o json --ca-file ${authority.file}`, {
        env: {
          CHATELAINE_BASE_URL: 'https://licenses.example.test',
          CHATELAINE_API_KEY: 'licensing-key-1',
          HTTPS_PROXY: `http://${given}127.0.0.1:${proxy.port}`,
        },
      }).ended;

      expect(done.code).toBe(code);
      expect(proxy.seen[0]).toBe('CONNECT licenses.example.test:443');
      if (code !== 0) expect(errorOf(done).message).toContain('407');
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
