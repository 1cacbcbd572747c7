import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { emptyHome, fakeService, run } from '../../helpers/run.ts';

test('sandbox reset --dry-run says what it would do, and leaves the data', async () => {
  const given = { bare: true, home: emptyHome() };
  const plan = async () =>
    JSON.parse((await run(fakeService(), 'sandbox reset --dry-run -o json', given)).stdout) as {
      readonly data: string;
    };
  const { data } = await plan();
  mkdirSync(dirname(data), { recursive: true, mode: 0o700 });
  writeFileSync(data, '{"reset":true}\n', { mode: 0o600 });

  expect(await plan()).toEqual({ data, status: 'would reset' });
  expect(existsSync(data)).toBe(true);

  await run(fakeService(), 'sandbox reset', given);
  expect(existsSync(data)).toBe(false);
});
