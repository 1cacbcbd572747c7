import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyHome, openSandbox } from '../../helpers/run.ts';

/** The steps of man/handing-over.md, from one home to another. */
test('a colleague goes on with copied profiles and a copied state folder, after signing in again', async () => {
  const { run, sandbox } = await openSandbox();
  const [old, next] = [emptyHome(), emptyHome()];
  const own = (home: string) => ({ home, bare: true });
  const [app] = sandbox.licensing.apps;
  const login = `auth login licensing --base-url ${sandbox.licensing.base_url} --app-code ${app.app_code} --name prod --api-key-stdin`;
  expect((await run(login, { ...own(old), stdin: app.api_key })).exitCode).toBe(0);
  await run('license create --remote-user eva --size-allowance 3', own(old));
  await run('license edit --match eva --size-allowance 5 -y', own(old));

  for (const folder of ['.config', '.local']) cpSync(join(old, folder), join(next, folder), { recursive: true });
  rmSync(join(next, '.config', 'chatelaine', 'credentials.json'));
  const listed = await run('auth list -o json --fields profile,key', own(next));
  expect(JSON.parse(listed.stdout)).toEqual([{ profile: 'prod', key: 'unusable' }]);
  expect(await run('auth login --name prod --api-key-stdin', { ...own(next), stdin: app.api_key })).toMatchObject({
    exitCode: 0,
  });

  const runs = (await run('license history -o ndjson', own(next))).stdout.trim().split('\n');
  const { run: last } = JSON.parse(runs.at(-1) ?? '') as { run: string };
  expect((await run(`license undo ${last} -y`, own(next))).exitCode).toBe(0);
  expect(sandbox.state.licenses().find(({ remote_user }) => remote_user === 'eva')?.size_allowance).toBe(3);
});
