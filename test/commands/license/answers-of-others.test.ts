import { describe, expect, test } from 'vitest';
import type { LicenseShape } from '../../helpers/license-shapes.ts';
import { emptyHome, fakeService, run as runAt, type RunOptions } from '../../helpers/run.ts';
import { licensingWorld } from '../../helpers/licensing-world.ts';

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

/** Requests of 60 s are longer than any wait of a run. */
const cached = (cache_shape: 'age' | 'date' | 'obedient' | 'none', cache = 60_000): LicenseShape => ({
  cache,
  cache_shape,
});

describe.each(commands)('%s behind a cache', (_what, line, rows) => {
  test.each(['age', 'date'] as const)(
    'that keeps %s: the settling look is an old answer: 9, and no second POST',
    async (shape) => {
      const { run, made } = await service(cached(shape), 'POST /v1/license/=drop-after#1');

      const { exitCode, error } = await run(line, roster(rows));

      const counts = new Map<string, number>();
      for (const { remote_user } of made()) counts.set(remote_user, (counts.get(remote_user) ?? 0) + 1);
      expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
      expect({ exitCode, code: error?.code }).toEqual({ exitCode: 9, code: 'unknown' });
    },
  );

  test('that heeds no-cache is passed by', async () => {
    const { run, made } = await service(cached('obedient'), 'POST /v1/license/=drop-after#1');

    const { exitCode } = await run(line, roster(rows));

    expect({ exitCode, made: made().length }).toEqual({ exitCode: 0, made: Math.max(1, rows) });
  });
});

test('the cache is named, with its headers and what to do', async () => {
  const { run, time } = await service(cached('age'), 'POST /v1/license/=drop-after#1');

  const { error } = await run(`${ensure} --settle 4s`);

  expect(error?.message).toMatch(
    /a cache gave an old answer in place of the list \(age: 8; date: .* GMT; x-cache: HIT;/,
  );
  expect(error?.hint).toContain('--remote-user ada');
  expect(time.slept.reduce((sum, span) => sum + span, 0)).toBe(8000);
});

test('an old answer is asked for again until twice --settle is over: one that is kept for less only costs the time', async () => {
  const { run, made } = await service(cached('age', 7000), 'POST /v1/license/=drop-after#1');

  const { exitCode, stdout } = await run(ensure);

  expect({ exitCode, keys: keysIn(stdout) }).toEqual({ exitCode: 0, keys: [made()[0]?.license_code] });
  expect(made()).toHaveLength(1);
});

test('an answer that is cached since before the POST of an earlier run creates nothing: 8', async () => {
  const { run, made } = await service(cached('age'), 'POST /v1/license/=drop-after#1');
  await run(ensure);

  const { exitCode, error } = await run(ensure);

  expect({ exitCode, code: error?.code, made: made().length }).toEqual({ exitCode: 8, code: 'incomplete', made: 1 });
  expect(error?.hint).toContain('Cache-Control: no-cache');
});

describe.each(commands)('%s behind a proxy that says Age: 60 of every answer', (_what, line, rows) => {
  test('the Age is ignored once an answer shows what was made after it, which is said once', async () => {
    const { run, made } = await service(cached('none'));

    const { exitCode, stderr } = await run(line, roster(rows));

    expect({ exitCode, made: made().length }).toEqual({ exitCode: 0, made: Math.max(1, rows) });
    expect(
      stderr.match(/says Age: 60 of an answer that shows a license made after that: its Age is ignored/g),
    ).toHaveLength(1);
  });
});

test('a lost POST is settled where the Age is ignored: one license for each row', async () => {
  const { run, made } = await service(cached('none'), 'POST /v1/license/=drop-before#1+1');
  const { exitCode } = await run('license apply -', roster(25));
  expect({ exitCode, made: made().length }).toEqual({ exitCode: 0, made: 25 });
});

test('a license that an old answer shows is there: the next run of its user ends with 0', async () => {
  const { run, made, time } = await service(cached('none', 3_600_000), 'POST /v1/license/=delay-commit#1@2s');
  expect((await run(`${ensure} --settle 1s --retries 0`)).exitCode).toBe(9);
  await time.client.sleep(60_000);

  const { exitCode, stdout } = await run(ensure);

  expect({ exitCode, keys: keysIn(stdout) }).toEqual({ exitCode: 0, keys: [made()[0]?.license_code] });
});

describe.each(commands)('%s on a server that sends a stray answer after a 502', (_what, line, rows) => {
  test('the look that settles it goes over a connection that has carried nothing: one license', async () => {
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
  expect(stderr.match(/the server gave several users one key/g)).toHaveLength(25);
});

test('where no list says whose it is, it is nobody’s: 9, and the answers stay open', async () => {
  const { run, made } = await service({ write_shape: 'other-key' }, 'GET /v1/license/=error-in-200#1+2');

  const { exitCode, stdout, error } = await run('license apply -', roster(2));

  expect({ exitCode, keys: keysIn(stdout), made: made().length }).toEqual({
    exitCode: 9,
    keys: [undefined, undefined],
    made: 2,
  });
  expect(error?.message).toContain('answered, but not yet confirmed by a list: ward-0, ward-1');
  expect((await run('license apply -', roster(2))).exitCode).toBe(0);
  expect(made()).toHaveLength(2);
});

test('a key that the list of the run gave to another row is nobody’s either, where no list confirms it', async () => {
  const fake = fakeService();
  const ward = { remote_user: 'ward', app_code: 7, size_allowance: 4 };
  const ben = { ...ward, remote_user: 'ben' };
  const listed = { ...ward, license_code: 'AAAA-1111' };
  fake.expect('GET /v1/license/?remote_user=ward&app_code=7').reply(200, [listed]);
  fake.expect('GET /v1/license/?remote_user=ben&app_code=7').reply(200, []);
  fake.expect({ method: 'POST', path: '/v1/license/', json: ben }).reply(201, { ...ben, license_code: 'AAAA-1111' });
  fake.expect('GET /v1/license/?remote_user=ben&app_code=7').reply(200, { error: 'later' });

  const stdin = JSON.stringify([ward, ben]);
  const { exitCode, stdout, stderr } = await runAt(fake, 'license apply - -o json', { stdin });

  expect({ exitCode, keys: keysIn(stdout) }).toEqual({ exitCode: 9, keys: ['AAAA-1111', undefined] });
  expect(stderr).toContain('answered, but not yet confirmed by a list: ben');
  fake.done();
});

/** A service whose list has nobody, which answers a POST with a license of ada, and then lists these. */
function answering(license_code: string, listed: readonly string[], before: number = 200) {
  const fake = fakeService();
  const ada = { remote_user: 'ada', app_code: 7, size_allowance: 4 };
  const list = fake.expect('GET /v1/license/?remote_user=ada&app_code=7');
  list.reply(before, []);
  fake.expect({ method: 'POST', path: '/v1/license/', json: ada }).reply(201, { license_code, ...ada });
  const rows = listed.map((key) => ({ license_code: key, ...ada }));
  return { fake, again: () => fake.expect('GET /v1/license/?remote_user=ada&app_code=7').reply(200, rows) };
}

test.each([
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
])('a list that masks keys, and shows %s, shows the answered one', async (masked) => {
  const { fake, again } = answering('K-77-9F2A', [masked]);
  again();

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
    if (before !== 200) again();

    const { exitCode, stdout, error } = await runAt(fake, `${create} -o json`);

    fake.done();
    expect({ exitCode, keys: keysIn(stdout) }).toEqual({ exitCode: 9, keys: ['KEY-9F2A'] });
    expect(error?.message).toContain('ends with 9F2A');
  },
);

test.each([
  ['BOBKEY0001', 'KEY-00001'],
  ['KEY-00001', 'BOBKEY0001'],
  ['A-1234', '234'],
  ['AB-12-9F2A', 'XX****9F2A'],
  ['AB-12-9F2A', '****7777'],
])('a key that only ends as the answered %s does (%s) is another one: the listed one counts', async (...keys) => {
  const [answered, listed] = keys;
  const { fake, again } = answering(answered, [listed]);
  again();
  const home = emptyHome();

  const { exitCode, stdout, stderr } = await runAt(fake, `${ensure} -q --settle 0s`, { home });
  const history = await runAt(fakeService(), 'license history -o json', { home });

  fake.done();
  expect(JSON.parse(history.stdout)).toMatchObject([{ license_code_end: listed.slice(-4) }]);
  const isMasked = listed.includes('*');
  expect({ exitCode, stdout }).toEqual({ exitCode: isMasked ? 8 : 0, stdout: isMasked ? '' : `${listed}\n` });
  expect(stderr).toMatch(new RegExp(`ends with ${answered.slice(-4)}.*ends with ${listed.slice(-4)}`));
});

describe.each(['****0001', '…0001', 'KEY-····-0001', '•••'])(
  'a listed key of which only a part is shown: %s',
  (part) => {
    const fields = { license_code: part, remote_user: 'ada', app_code: 7, size_allowance: 4 };
    const listing = () => {
      const fake = fakeService();
      fake.expect('GET /v1/license/?remote_user=ada&app_code=7').reply(200, [fields]);
      return fake;
    };

    test.each([
      ['ensure -q', `${ensure} -q`],
      ['ensure', ensure],
      ['ensure -o json', `${ensure} -o json`],
    ])('is not printed by %s: 8', async (_what, line) => {
      const { exitCode, stdout, stderr } = await runAt(listing(), line);

      expect({ exitCode, stdout }).toEqual({ exitCode: 8, stdout: '' });
      expect(stderr).toContain('only a part of its key');
    });

    test('is not printed by apply: its row says so, and the run ends with 8', async () => {
      const stdin = JSON.stringify([{ remote_user: 'ada', size_allowance: 4 }]);

      const { exitCode, stdout, error } = await runAt(listing(), 'license apply - -o json', { stdin });

      expect(exitCode).toBe(8);
      expect(JSON.parse(stdout)).toMatchObject([
        { status: 'unchanged', license: null, error: expect.stringContaining('only a part of its key') as string },
      ]);
      expect(error).toMatchObject({
        retryable: false,
        message: expect.stringContaining('ada') as string,
        hint: expect.stringContaining('Ask who runs the server for the key') as string,
      });
    });

    test('is sent to nobody: a resize is refused before its request', async () => {
      const { exitCode, stderr } = await runAt(listing(), ensure.replace('4', '6'));

      expect(exitCode).toBe(8);
      expect(stderr).toContain('only a part of its key');
    });

    test('is printed by list and view, as the server sent it, and where the profile says key_is=whole', async () => {
      const home = emptyHome();
      const login =
        'auth login licensing --base-url https://licenses.test --app-code 7 --key-is whole --api-key-stdin --no-check';
      await runAt(fakeService(), login, { home, bare: true, stdin: 'licensing-key-5f1d0c\n' });

      const whole = await runAt(listing(), `${ensure} -q`, { home, bare: true });
      const viewed = await runAt(listing(), 'license list --remote-user ada --app-code 7 -q');

      expect({ exitCode: whole.exitCode, stdout: whole.stdout }).toEqual({ exitCode: 0, stdout: `${part}\n` });
      expect(viewed.stdout).toContain(part);
    });
  },
);

const day = 86_400_000;

test('--settle of three days is waited for, by the next run too, which knows the request after a day', async () => {
  const { run, made, time } = await service({}, 'POST /v1/license/=drop-before#1;GET /v1/license/=503#1+1');
  expect((await run(`${ensure} --settle 3d --retries 0`)).exitCode).toBe(9);
  await time.client.sleep(2 * day);
  expect(made()).toHaveLength(0);
  const before = time.client.elapsed();

  const { exitCode } = await run(`${ensure} --settle 3d`);

  expect([exitCode, made().length]).toEqual([0, 1]);
  expect(time.client.elapsed() - before).toBeGreaterThan(day - 120_000);
});
