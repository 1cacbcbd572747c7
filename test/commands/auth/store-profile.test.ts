import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyHome, openSandbox, runAlone, type Ran } from '../../helpers/run.ts';
import { openOrigin } from '../../helpers/origin.ts';
import { needs } from '../../helpers/needs.ts';

const url = 'http://127.0.0.1:1';
const login = `auth login licensing --base-url ${url} --app-code 7 --name prod --api-key-stdin --no-check`;

function place(): { home: string; config: string; run: (line: string, stdin?: string) => Promise<Ran> } {
  const home = emptyHome();
  const config = join(home, '.config/chatelaine/config.json');
  return { home, config, run: (line, stdin = 'the-key\n') => runAlone(line, { home, stdin }) };
}

const profileIn = (config: string): unknown =>
  (JSON.parse(readFileSync(config, 'utf8')) as { profiles: { prod: unknown } }).profiles.prod;

test('to rotate a key, the name of the profile and the new key are enough', async () => {
  const { run } = place();
  await run(`${login} --read-only`);
  const rotate = 'auth login --name prod --api-key-stdin --no-check';

  expect(await run(rotate, 'another-key\n')).toMatchObject({ exitCode: 0 });
  expect((await run('auth token prod')).stdout).toBe('another-key\n');
  expect(JSON.parse((await run('auth list -o json')).stdout)).toMatchObject([{ profile: 'prod', read_only: true }]);
  const elsewhere = await run(rotate.replace('--name prod', '--name prod --app-code 8'));
  expect(elsewhere.stderr).toContain(`Replace it with application 8 on ${url}?`);
  expect(elsewhere.exitCode).toBe(2);
  const { exitCode, stderr } = await run(rotate.replace('prod', 'prd'));
  expect(stderr).toContain("there is no profile 'prd', and for a new one kind is required: licensing or chat\n");
  expect(exitCode).toBe(2);
});

test('the key of a chat account is rotated in the same way', async () => {
  const { run } = place();
  await run('auth login chat --site http://127.0.0.1:1 --email a@b.example --name ops --api-key-stdin --no-check');

  const { exitCode, stderr } = await run('auth login --name ops --api-key-stdin --no-check', 'another-key\n');

  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect((await run('auth token ops')).stdout).toBe('another-key\n');
});

test('a login to the same account replaces the key, and says so', async () => {
  const { run } = place();
  await run(login);

  expect(await run(login, 'another-key\n')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('replaced') as string,
    stderr: '',
  });

  expect((await run('auth token prod')).stdout).toBe('another-key\n');
});

test.each([
  ['another application', `--base-url ${url} --app-code 8`, 'application 8 on http://127.0.0.1:1'],
  ['another server', '--base-url http://127.0.0.1:2 --app-code 7', 'application 7 on http://127.0.0.1:2'],
])('a profile is not overwritten by %s without a word', async (_what, options, account) => {
  const { run, config } = place();
  await run(login);
  const before = readFileSync(config, 'utf8');
  const line = `auth login licensing ${options} --name prod --api-key-stdin --no-check`;

  const refused = await run(line, 'another-key\n');

  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toContain(
    `Profile 'prod' is application 7 on ${url} (--name NAME keeps both). Replace it with ${account}?`,
  );
  expect(refused.stderr).toContain('To agree, add --yes.');
  expect(readFileSync(config, 'utf8')).toBe(before);
  expect((await run('auth token prod')).stdout).toBe('the-key\n');
  expect(await run(`${line} --yes`, 'another-key\n')).toMatchObject({ exitCode: 0 });
  expect((await run('auth token prod')).stdout).toBe('another-key\n');
});

test('what a profile says of itself is kept unless it is changed', async () => {
  const { run, config } = place();
  await run(`${login} --read-only --key-field serial`);
  const text = readFileSync(config, 'utf8').replace('"read_only"', '"mac_format": "as_is", "read_only"');
  writeFileSync(config, text);

  await run(login);
  expect(profileIn(config)).toMatchObject({ read_only: true, mac_format: 'as_is', key_field: 'serial' });

  await run(`${login} --no-read-only --key-field code`);
  expect(profileIn(config)).toMatchObject({ read_only: false, mac_format: 'as_is', key_field: 'code' });

  await run(`${login} --key-field ''`);
  expect(profileIn(config)).not.toHaveProperty('key_field');
});

test('a key command takes the place of a stored key, and the other way round', needs('shell'), async () => {
  const { run, config } = place();
  await run(login);
  await run(`${login.replace('--api-key-stdin', '')} --key-command '/bin/echo from-command'`);
  expect((await run('auth token prod')).stdout).toBe('from-command\n');

  await run(login);
  expect((await run('auth token prod')).stdout).toBe('the-key\n');
  expect(profileIn(config)).not.toHaveProperty('key_command');
});

test('a key of another application is named with both codes, and nothing is stored', async () => {
  const { sandbox } = await openSandbox();
  const [app, other] = sandbox.licensing.apps;
  const { run, config } = place();
  const line = `auth login licensing --base-url ${sandbox.licensing.base_url} --app-code ${other.app_code} --api-key-stdin`;

  const { exitCode, stderr } = await run(line, `${app.api_key}\n`);

  expect(exitCode).toBe(4);
  expect(stderr).toContain(`  chatelaine auth login licensing --base-url URL --app-code ${app.app_code}\n`);
  expect(stderr).toContain('Nothing was stored.');
  expect(stderr).not.toContain('--password');
  expect(existsSync(config)).toBe(false);

  expect(await run(`${line} --no-check --name wrong`, `${app.api_key}\n`)).toMatchObject({ exitCode: 0 });
  for (const command of ['doctor', 'auth status']) {
    const checked = await run(`${command} -o json`);
    expect(checked.exitCode).toBe(4);
    expect(checked.stdout).toContain(`this key belongs to application ${app.app_code}, not ${other.app_code}`);
  }
});

test('one license of the application is enough: no second page is read', async () => {
  const rows = [{ license_code: 'K', remote_user: 'ada', app_code: 7, size_allowance: 4 }];
  const origin = await openOrigin(() => ({ body: JSON.stringify({ results: rows, next: '/v1/license/?page=2' }) }));
  const { run } = place();

  const ran = await run(login.replace(url, `http://127.0.0.1:${origin.port}`).replace(' --no-check', ''));

  expect(ran).toMatchObject({ exitCode: 0 });
  expect(origin.seen.map((request) => request.url)).toEqual(['/v1/license/']);
});

test('a refused key says that nothing was stored', async () => {
  const origin = await openOrigin(() => ({ status: 401, body: '{"detail": "Invalid token."}' }));
  const { run, config } = place();

  const { exitCode, stderr } = await run(
    `auth login licensing --base-url http://127.0.0.1:${origin.port} --app-code 7 --api-key-stdin`,
  );

  expect({ exitCode, stored: existsSync(config) }).toEqual({ exitCode: 4, stored: false });
  // No word of a line that ends with --api-key-stdin is taken for the key.
  expect(stderr).toContain('the licensing API refused the key or the permission (401): Invalid token.');
  expect(stderr).toContain('Nothing was stored.');
});

test.each([
  [0o644, /holds a key and can be read by other users\. Run:\n {2}chmod 600 /],
  [0o600, /^$/],
])('a zuliprc of mode %o', needs('modes'), async (mode, warning) => {
  const { run, home } = place();
  const file = join(home, 'zuliprc');
  writeFileSync(file, `[api]\nemail=ada@chat.test\nkey=the-key\nsite=${url}\n`, { mode });

  const { exitCode, stderr } = await run(`auth import ${file} --no-check`);

  expect(exitCode).toBe(0);
  expect(stderr).toMatch(warning);
});

test('plain http is stored by consent, which is kept for that server alone', async () => {
  const { run, config } = place();
  const at = (host: string) => login.replace(url, `http://${host}:8080`);
  expect(await run(at('licenses'))).toMatchObject({ exitCode: 3 });
  expect(existsSync(config)).toBe(false);

  expect(await run(`${at('licenses')} --allow-http`)).toMatchObject({ exitCode: 0 });
  expect(await run(at('licenses'))).toMatchObject({ exitCode: 0 });
  expect(profileIn(config)).toMatchObject({ allow_http: true });
  expect(await run(`${at('elsewhere')} --yes`)).toMatchObject({ exitCode: 3 });
  expect(await run(`${at('licenses').replace(':8080', ':8081')} --yes`)).toMatchObject({ exitCode: 3 });
  expect((await run('auth token prod')).stdout).toBe('the-key\n');
});
