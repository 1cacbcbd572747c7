import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openOrigin } from '../../helpers/origin.ts';
import { runAlone } from '../../helpers/run.ts';

test('these tests send their requests with the undici that is in the program', async () => {
  const { port } = await openOrigin(() => ({ body: '[]' }));
  const unit = { CHATELAINE_API_KEY: 'key', CHATELAINE_APP_CODE: '7' };
  const env = { CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`, ...unit };
  expect((await runAlone('license list', { env })).exitCode).toBe(0);
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  expect(loaded.filter((file) => file.endsWith(join('.cache', 'shipped', 'undici.cjs')))).toHaveLength(1);
});
