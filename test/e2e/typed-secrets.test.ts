import { expect, test } from 'vitest';
import { sampleOf } from '../helpers/extent.ts';
import { start } from './program.ts';

/** The built program with a key where none belongs; test/security/typed-secrets.test.ts has every way. */
const key = 'CanaryKey0123456789abcdefGHIJ';

test.each(
  sampleOf<[line: string, env: Record<string, string>, code: number]>(4, [
    [`auth login licensing --api-key ${key}`, {}, 2],
    [`auth login licensing --api-key=${key}`, {}, 2],
    [`auth login licensing -k${key}`, {}, 2],
    [`auth login licensing ${key}`, {}, 2],
    [`auth login ${key}`, {}, 2],
    [`auth token ${key}`, {}, 3],
    [`license list --output ${key}`, {}, 2],
    [`settings set new_password=${key}`, {}, 2],
    [`settings set --raw ${key}`, {}, 2],
    [`${key} --help`, {}, 2],
    ['license list', { CHATELAINE_APP_CODE: key }, 2],
    ['license list', { CHATELAINE_BASE_URL: key, CHATELAINE_API_KEY: 'k' }, 2],
    ['license list', { CHATELAINE_CONFIG_DIR: key }, 3],
  ]),
)('%s %j is refused without the key', async (line, env, code) => {
  const { code: ended, stdout, stderr } = await start(line, { env }).ended;

  expect({ ended, stdout }).toEqual({ ended: code, stdout: '' });
  expect(stderr).toMatch(/^chatelaine: \S/);
  expect(stderr).not.toContain(key.slice(0, 9));
});
