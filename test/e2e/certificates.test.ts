import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAuthority, type Authority } from '../helpers/authority.ts';
import { needs } from '../helpers/needs.ts';
import { openOrigin } from '../helpers/origin.ts';
import { errorOf, start } from './program.ts';

/** Node reads NODE_EXTRA_CA_CERTS when a process begins: only a process can show what it does. */
describe('authorities of the environment', needs('openssl'), () => {
  let one: Authority;
  let other: Authority;

  beforeAll(() => {
    one = openAuthority();
    other = openAuthority();
  });
  afterAll(() => {
    one.close();
    other.close();
  });

  test.each([
    ['NODE_EXTRA_CA_CERTS', 'one', '', 0],
    ['NODE_EXTRA_CA_CERTS', 'other', '', 7],
    ['CHATELAINE_CA_FILE', 'one', '--ca-file other', 7],
  ] as const)('%s=%s %s', async (name, named, option, code) => {
    const files: Readonly<Record<string, string>> = { one: one.file, other: other.file };
    const { port } = await openOrigin(() => ({}), one.issue('DNS:localhost'));
    const words = option.replace(/one|other/, (word) => files[word] ?? word);
    const done = await start(`license list -o json ${words}`.trim(), {
      env: {
        CHATELAINE_BASE_URL: `https://localhost:${port}`,
        CHATELAINE_API_KEY: 'licensing-key-1',
        CHATELAINE_APP_CODE: '7',
        [name]: files[named] ?? '',
      },
    }).ended;
    expect(done.code).toBe(code);
    if (code !== 0) expect(errorOf(done).message).toMatch(/^TLS: /);
  });
});
