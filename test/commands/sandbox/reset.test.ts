import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { emptyHome, fakeService, run } from '../../helpers/run.ts';

test('sandbox reset --dry-run says what it would do, and leaves the data', async () => {
  const home = emptyHome();
  const given = { bare: true, home };
  await run(fakeService(), '--sandbox license create --remote-user zed --size-allowance 4', given);
  const planned = await run(fakeService(), 'sandbox reset --dry-run -o json', given);
  const { data, status } = JSON.parse(planned.stdout) as { readonly data: string; readonly status: string };

  expect({ exitCode: planned.exitCode, status }).toEqual({ exitCode: 0, status: 'would reset' });
  expect(readFileSync(data, 'utf8')).toContain('"zed"');

  await run(fakeService(), 'sandbox reset', given);
  expect(existsSync(data)).toBe(false);
});
