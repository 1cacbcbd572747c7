import { expect, test } from 'vitest';
import { start } from './program.ts';

// Help is shown before the program is loaded; test/security/typed-secrets.test.ts has every other place.
test('a key in the place of a command is refused without it', async () => {
  const key = 'CanaryKey0123456789abcdefGHIJ';
  const { code, stdout, stderr } = await start(`${key} --help`).ended;
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^chatelaine: \S/);
  expect(stderr).not.toContain(key.slice(0, 9));
});
