import { expect, test } from 'vitest';
import { openOrigin } from '../helpers/origin.ts';
import { start } from './program.ts';

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
