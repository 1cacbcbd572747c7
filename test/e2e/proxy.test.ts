import { describe, expect, test } from 'vitest';
import { openAuthority } from '../helpers/authority.ts';
import { needs } from '../helpers/programs.ts';
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
