import { describe, expect, test } from 'vitest';
import type { LicenseShape } from '../../helpers/license-shapes.ts';
import { emptyHome, fakeService, run as runAt, type RunOptions } from '../../helpers/run.ts';
import { licensingWorld } from '../../helpers/licensing-world.ts';
import { expectNobody } from '../../helpers/nobody.ts';
import type { FakeService } from '../../helpers/service.ts';

async function service(licenseShape: LicenseShape, fault = '') {
  const { run, created, ...world } = await licensingWorld(licenseShape, fault);
  return { ...world, run: (line: string, options?: RunOptions) => run(`${line} -o json`, options), made: created };
}

const ensure = 'license ensure --remote-user ada --size-allowance 4';
const create = 'license create --remote-user ada --size-allowance 4';
const roster = (count: number): RunOptions => ({
  stdin: JSON.stringify(
    Array.from({ length: count }, (_, index) => ({ remote_user: `ward-${index}`, size_allowance: 4 })),
  ),
});
const commands: readonly (readonly [string, string, number])[] = [
  ['ensure', ensure, 0],
  ['create', create, 0],
  ['apply of 1 row', 'license apply -', 1],
  ['apply of 25 rows', 'license apply -', 25],
];

describe.each(commands)('%s on a server that sends a stray answer after a 502', (_what, line, rows) => {
  test('one license for each row', async () => {
    const { run, made } = await service({}, 'POST /v1/license/=502-stray#1');

    const { exitCode } = await run(line, roster(rows));

    expect({ exitCode, made: made().length }).toEqual({ exitCode: 0, made: Math.max(1, rows) });
  });
});

/** The keys that were printed, of one license or of rows. */
function keysIn(stdout: string): (string | undefined)[] {
  const printed = JSON.parse(stdout) as Listed | { readonly license: Listed | null }[];
  return Array.isArray(printed) ? printed.map(({ license }) => license?.license_code) : [printed.license_code];
}

interface Listed {
  readonly license_code: string;
}

describe.each(commands.slice(0, 3))(
  '%s on a server that answers with the key of somebody else',
  (_what, line, rows) => {
    test('the key that its list gives the user is printed, and a warning has both ends', async () => {
      const { run, made } = await service({ write_shape: 'other-key' });

      const { exitCode, stdout, stderr } = await run(line, roster(rows));

      const [own] = made();
      expect({ exitCode, keys: keysIn(stdout) }).toEqual({ exitCode: 0, keys: [own?.license_code] });
      expect(stderr).toMatch(new RegExp(`warning.*ends with F69B.* ends with ${own?.license_code.slice(-4) ?? ''}`));
      // The answer is not open.
      expect((await run(line.replace('create', 'ensure'), roster(rows))).exitCode).toBe(0);
      expect(made()).toHaveLength(1);
    });
  },
);

test('one key that is answered for all users of a run is the key of none: each row has the one of its list', async () => {
  const { run, made } = await service({ write_shape: 'other-key' });

  const { exitCode, stdout, stderr } = await run('license apply -', roster(25));

  const keyOf = (user: string) => made().find(({ remote_user }) => remote_user === user)?.license_code;
  expect({ exitCode, keys: keysIn(stdout) }).toEqual({
    exitCode: 0,
    keys: Array.from({ length: 25 }, (_, index) => keyOf(`ward-${index}`)),
  });
  expect(stderr.match(/the server gave several users one license/g)).toHaveLength(24);
});

/** A listed value that is not masked, nor the answered key, is requested: here it is no key. */
function noKey(fake: FakeService, listed: string, answered: string): void {
  if (listed !== answered && !/[*•…·]/.test(listed))
    fake.expect(`GET /v1/license/${encodeURIComponent(listed)}/`).reply(404, '{}');
}

/** A service whose list has nobody, which answers a POST with a license of ada, and then lists these. */
function answering(license_code: string, listed: readonly string[], before: number = 200) {
  const fake = fakeService();
  const ada = { remote_user: 'ada', app_code: 7, size_allowance: 4 };
  if (before === 200) expectNobody(fake);
  else fake.expect('GET /v1/license/?remote_user=ada&app_code=7').reply(before, []);
  fake.expect({ method: 'POST', path: '/v1/license/', json: ada }).reply(201, { license_code, ...ada });
  const rows = listed.map((key) => ({ license_code: key, ...ada }));
  return { fake, again: () => fake.expect('GET /v1/license/?remote_user=ada&app_code=7').reply(200, rows) };
}

const masks = [
  '****-9F2A',
  'K-7···F2A',
  'XXXX-9F2A',
  '###9F2A',
  'K-77-9',
  '…9F2A',
  '...77-9F2A',
  '•••2A',
  '**********',
  'K-77-9F2A',
  '9F2A',
];

test.each(masks)('a list that masks keys, and shows %s, shows the answered one', async (masked) => {
  const { fake, again } = answering('K-77-9F2A', [masked]);
  again();
  noKey(fake, masked, 'K-77-9F2A');

  const { exitCode, stdout, stderr } = await runAt(fake, `${ensure} -o json -q`);

  fake.done();
  expect({ exitCode, keys: keysIn(stdout), stderr }).toEqual({ exitCode: 0, keys: ['K-77-9F2A'], stderr: '' });
});

test.each([
  ['two new licenses', ['K-1', 'K-2'], 200],
  ['no look before that was answered', ['K-1'], 400],
])(
  'where the keys differ and the list cannot tell whose the answered one is (%s), the answer stays open',
  async (...given) => {
    const [, listed, before] = given;
    const { fake, again } = answering('KEY-9F2A', listed, before);
    again();
    if (before !== 200) {
      again();
      fake.expect('GET /v1/license/KEY-9F2A/').reply(404);
    }

    const { exitCode, stdout, error } = await runAt(fake, `${create} -o json`);

    fake.done();
    expect({ exitCode, keys: keysIn(stdout) }).toEqual({ exitCode: 9, keys: ['KEY-9F2A'] });
    expect(error?.message).toContain('ends with 9F2A');
  },
);

const withKey = { remote_user: 'ada', app_code: 7, size_allowance: 4 };

test.each([
  ['BOBKEY0001', 'KEY-00001'],
  ['KEY-00001', 'BOBKEY0001'],
  ['A-1234', '234'],
])('where %s is answered, and %s is listed and is a key, the listed one counts', async (answered, listed) => {
  const { fake, again } = answering(answered, [listed]);
  again();
  fake.expect(`GET /v1/license/${listed}/`).reply(200, { ...withKey, license_code: listed });
  const home = emptyHome();

  const { exitCode, stdout, stderr } = await runAt(fake, `${ensure} -q --settle 0s`, { home });
  const history = await runAt(fakeService(), 'license history -o json', { home });

  fake.done();
  expect(JSON.parse(history.stdout)).toMatchObject([{ license_code_end: listed.slice(-4) }]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${listed}\n` });
  expect(stderr).toMatch(new RegExp(`ends with ${answered.slice(-4)}.*ends with ${listed.slice(-4)}`));
});

test.each(['17', 'a94a8fe5cc', 'https:', 'K-77', 'XX****9F2A', '****7777'])(
  'where the listed value is no key (%s), the answered one is printed',
  async (listed) => {
    const { fake, again } = answering('AB-12-9F2A', [listed]);
    again();
    noKey(fake, listed, 'AB-12-9F2A');

    const { exitCode, stdout, stderr } = await runAt(fake, `${ensure} -q --settle 0s`);

    fake.done();
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: 'AB-12-9F2A\n', stderr: '' });
  },
);

describe.each(['****0001', '…0001', 'KEY-····-0001', '•••'])(
  'a listed key of which only a part is shown: %s',
  (part) => {
    const fields = { license_code: part, remote_user: 'ada', app_code: 7, size_allowance: 4 };
    const listing = (query = '?remote_user=ada&app_code=7') => {
      const fake = fakeService();
      fake.expect(`GET /v1/license/${query}`).reply(200, [fields]);
      return fake;
    };

    test.each([
      ['ensure', ensure],
      ['ensure -o json', `${ensure} -o json`],
    ])('is not printed by %s: 8', async (_what, line) => {
      const { exitCode, stdout, stderr } = await runAt(listing(), line);

      expect({ exitCode, stdout }).toEqual({ exitCode: 8, stdout: '' });
      expect(stderr).toContain('only a part of its key');
    });

    test('is not printed by apply: its row says so, and the run ends with 8', async () => {
      const stdin = JSON.stringify([{ remote_user: 'ada', size_allowance: 4 }]);

      const { exitCode, stdout, error } = await runAt(listing('?app_code=7'), 'license apply - -o json', { stdin });

      expect(exitCode).toBe(8);
      expect(JSON.parse(stdout)).toMatchObject([
        { status: 'unchanged', license: null, error: expect.stringContaining('only a part of its key') as string },
      ]);
      expect(error).toMatchObject({
        retryable: false,
        message: expect.stringContaining('ada') as string,
        hint: expect.stringContaining('Ask the operator of the server for the key') as string,
      });
    });

    test('is sent to nobody: a resize is refused before its request', async () => {
      const home = emptyHome();
      const { exitCode, stderr } = await runAt(listing(), ensure.replace('4', '6'), { home });
      const { stdout } = await runAt(fakeService(), 'license history -o json', { home });

      expect([exitCode, stdout]).toEqual([8, '[]\n']);
      expect(stderr).toContain('only a part of its key');
    });

    test('is printed by list and view, as the server sent it', async () => {
      const viewed = await runAt(listing(), 'license list --remote-user ada --app-code 7 -q');

      expect(viewed.stdout).toContain(part);
    });
  },
);

test.each([
  ['license ensure --remote-user ada --size-allowance 6', 'PATCH'],
  ['license rename ada eve', 'GET'],
  ['license retire --remote-user ada', 'GET'],
] as const)('a listed value that the server does not know is no key: %s ends with 8', async (line, method) => {
  const fake = fakeService();
  const row = { license_code: 'ID-1', remote_user: 'ada', app_code: 7, size_allowance: 4 };
  fake.expect('GET /v1/license/?remote_user=ada&app_code=7').reply(200, [row]);
  const json = method === 'PATCH' ? { size_allowance: 6 } : undefined;
  fake.expect({ method, path: '/v1/license/ID-1/', json }).reply(404, { detail: 'Not found.' });
  const { exitCode, stderr } = await runAt(fake, line);
  expect(stderr).toContain('the value that the server lists is not its key (no license has this code)');
  expect(exitCode).toBe(8);
});

test.each([
  ['LIC-10', 9, 'ends with C-10'],
  ['LIC-1', 6, 'the server returned a license that was there before'],
])('create beside LIC-1, where %s is answered, and no list shows another one: %i', async (license_code, code, said) => {
  const fake = fakeService();
  const list = 'GET /v1/license/?remote_user=ada&app_code=7';
  const listed = [{ ...withKey, license_code: 'LIC-1' }];
  fake.expect(list).reply(200, listed);
  fake.expect({ method: 'POST', path: '/v1/license/', json: withKey }).reply(201, { ...withKey, license_code });
  fake.expect(list, code === 9 ? 2 : 1).reply(200, listed);
  if (code === 9) fake.expect('GET /v1/license/LIC-10/').reply(404);

  const { exitCode, stdout, error } = await runAt(fake, `${create} -o json`);

  fake.done();
  expect([exitCode, stdout.includes('LIC-1"')]).toEqual([code, false]);
  expect(error?.message).toContain(said);
});
