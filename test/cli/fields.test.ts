import { expect, test } from 'vitest';
import { namesOf } from '../../src/output/columns.ts';
import { commandTable } from '../../src/commands/index.ts';
import { fakeService, openSandbox, run, runAlone } from '../helpers/run.ts';

async function closedList(name: string): Promise<readonly string[]> {
  const command = await commandTable.find((entry) => entry.name === name)?.load();
  return [...namesOf(command?.show ?? {}), ...(command?.fields ?? [])];
}

test.each(commandTable)('$name says its fields, or prints a text', async ({ name, load }) => {
  const isText = (await load()).result?.endsWith('text') === true;
  expect((await closedList(name)).length > 0 || isText).toBe(true);
});

test.each([
  ['license list', 'license list'],
  ['license view', 'license view --remote-user physio-7731'],
  ['license create', 'license create --remote-user ada --size-allowance 4'],
  ['license ensure', 'license ensure --remote-user ada --size-allowance 4'],
  ['license apply', 'license apply -'],
  ['license apply', 'license apply - -n'],
  ['first-activation', 'first-activation D4:22:CD:00:03:01'],
  ['first-activation audit', 'first-activation audit -'],
  ['settings list', 'settings list'],
  ['settings describe', 'settings describe color_scheme'],
  ['settings set', 'settings set color_scheme=dark'],
  ['topic list', 'topic list general'],
  ['topic delete', 'topic delete general lunch --confirm lunch --no-archive'],
  ['messages fetch', 'messages fetch --channel general'],
  ['view pin', 'view pin inbox'],
  ['snippet rm', 'snippet rm 999 --missing-ok'],
  ['auth status', 'auth status'],
  ['doctor', 'doctor'],
  ['commands', 'commands'],
])('what %s holds is in its closed list: %s', async (name, line) => {
  const { run: runHere } = await openSandbox();
  const stdin =
    name === 'license apply'
      ? 'remote_user,size_allowance\nada,4\n'
      : 'mac_address,remote_user\nD4:22:CD:00:03:01,ada\n';

  const { stdout } = await runHere(`${line} -o json`, { stdin });

  const rows = [JSON.parse(stdout) as unknown].flat() as object[];
  const closed = await closedList(name);
  const held = new Set(rows.flatMap((row) => Object.keys(row)));
  expect(held.size).toBeGreaterThan(0);
  expect([...held].filter((field) => !closed.includes(field))).toEqual([]);
});

test('a name that is none is refused with those that are', async () => {
  const { exitCode, stdout, stderr } = await runAlone('auth list --fields profile,x,y --sort=-y');

  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain("no field 'x' in the result\n            no field 'y' in the result\nhint: Its");
  expect(stderr).toContain(
    'Its fields are profile, kind, url, app_code, email, default, read_only, key, status, detail, advice.',
  );
});

test.each(['profile,kind', ' profile', '--profile'])('--sort takes one field, not %j', async (field) => {
  const { exitCode, stdout, lines } = await runAlone(['auth', 'list', `--sort=${field}`]);

  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(lines[0]).toBe(`chatelaine: no field '${field.replace(/^-/, '')}' in the result`);
});

test('a name that a variable holds is refused with the name of the variable', async () => {
  const { exitCode, lines } = await runAlone('auth list --fields profile', {
    env: { CHATELAINE_SORT: 'size_allowance' },
  });

  expect({ exitCode, lines }).toEqual({
    exitCode: 2,
    lines: [
      "chatelaine: no field 'size_allowance' in the result",
      'hint: See CHATELAINE_SORT in the environment. Its fields are profile, kind, url, app_code, email, default, read_only, key, status, detail, advice.',
    ],
  });
});

test('the other columns of a roster are fields with --keep-columns only', async () => {
  const service = fakeService();
  const apply = (options: string) =>
    run(service, `license apply - ${options}`, { stdin: 'remote_user,size_allowance,mail\nada,4,a@b.test\n' });

  expect((await apply('--fields remote_user,mail')).exitCode).toBe(2);
  const kept = await apply('--keep-columns --fields remote_user,mial');

  expect(kept).toMatchObject({ exitCode: 2, stdout: '' });
  expect(kept.stderr).toContain('license, change, size_allowance_before, error, mail.');
  expect(service.seen).toEqual([]);
});

test('the requests of a dry run have their own fields, and are whole where none of them is asked for', async () => {
  const { run: runHere } = await openSandbox();
  const planned = async (fields: string): Promise<string> =>
    (await runHere(`settings set color_scheme=dark -n -o tsv --no-header --fields ${fields}`)).stdout;

  expect(await planned('method')).toBe('PATCH\n');
  expect(await planned('method,name')).toBe('PATCH\n');
  expect((await planned('name')).split('\t')).toHaveLength(4);
});

const open = [
  { code: 'BBB', remote_user: 'bob', app_code: 7, size_allowance: 2 },
  { code: 'AAA', remote_user: 'ada', app_code: 7, size_allowance: 4, activations: 3 },
  { code: 'CCC', remote_user: 'cai', app_code: 7, size_allowance: 4, activations: 11 },
];

test('a field that only the server knows is taken, and a list is sorted by it before --limit', async () => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, open);
  const { exitCode, stdout } = await run(
    service,
    'license list --fields remote_user,activations --sort=-activations --limit 2 -o tsv',
  );

  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'remote_user\tactivations\ncai\t11\nada\t3\n' });
});

test.each([
  ['license list', 'GET /v1/license/', open],
  ['license view AAA', 'GET /v1/license/AAA/', open[1]],
])('%s: a field that no row has is refused after the answer, and nothing is printed', async (line, request, answer) => {
  const service = fakeService();
  service.expect(request).reply(200, answer);
  const { exitCode, stdout, lines } = await run(service, `${line} --fields user -o json`);

  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    error: {
      message: "no field 'user' in the result",
      hint: expect.stringMatching(
        /^Did you mean remote_user\? Its fields are license_code, remote_user, .*code/,
      ) as string,
    },
  });
});

test('a list without rows has no field that could be missing', async () => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, []);
  expect(await run(service, 'license list --fields nosuch -o json')).toMatchObject({ exitCode: 0, stdout: '[]\n' });
});

test('a misspelt field of a command that wrote costs nothing of what it wrote', async () => {
  const service = fakeService();
  // Its user is read again under the lock.
  service.expect('GET /v1/license/AAA/').reply(200, open[1]);
  service.expect('GET /v1/license/AAA/').reply(200, open[1]);
  service.expect({ method: 'PATCH', path: '/v1/license/AAA/', json: { size_allowance: 4 } }).reply(200, open[1]);
  const { exitCode, stdout, lines } = await run(
    service,
    'license edit AAA --size-allowance 4 --fields license_cod -o json',
  );

  expect({ exitCode, result: JSON.parse(stdout) as unknown }).toEqual({
    exitCode: 0,
    result: { ...open[1], status: 'unchanged' },
  });
  expect(lines).toEqual([`{"warning":"no field 'license_cod' in the result; the complete result is shown"}`]);
});
