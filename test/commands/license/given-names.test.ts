import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realClock } from '../../../src/cli/clock.ts';
import { Failure } from '../../../src/core/failure.ts';
import { serverOf } from '../../../src/schema/url.ts';
import { openClaims } from '../../../src/store/lock/local-claims.ts';
import { unhurried } from '../../helpers/clock.ts';
import { licensingWorld, seedOf } from '../../helpers/licensing-world.ts';
import { needs } from '../../helpers/needs.ts';
import { madeLongAgo, startPostgres, type Cluster } from '../../helpers/postgres.ts';
import { fakeService, run, type Ran } from '../../helpers/run.ts';
import { runOf } from '../../store/place.ts';
import { placesIn, systemIn } from '../../store/system.ts';

/** A name is claimed before it is given: by whichever command, beside whichever other one. */
const people = ['ann', 'bob', 'cy', 'dee'];
const worldOf = (fault = '') => licensingWorld({}, fault, { seed: seedOf(people) });
type World = Awaited<ReturnType<typeof worldOf>>;

const ways: readonly (readonly [string, (key: number) => string])[] = [
  ['rename', (key) => `license rename ${people[key] ?? ''} new`],
  ['edit --remote-user', (key) => `license edit K-${key} --remote-user new`],
  [
    'edit --replace',
    (key) => `license edit K-${key} --replace --remote-user new --app-code 4711 --size-allowance ${4 + key}`,
  ],
];

const namedNew = ({ users }: World): number => users().filter((user) => user === 'new').length;
const codesOf = (ran: readonly Ran[]): number[] =>
  ran.map(({ exitCode }) => exitCode).sort((one, other) => one - other);

describe.each(ways)('%s to one name', (_way, lineOf) => {
  test.each(ways)('beside %s: one license has it, and the other command is refused', async (_other, otherLine) => {
    const world = await worldOf();
    const ran = await Promise.all([world.run(lineOf(0)), world.run(otherLine(1))]);
    expect(namedNew(world)).toBe(1);
    expect([0, 1]).toContain(codesOf(ran)[0]);
    expect([6, 7]).toContain(codesOf(ran)[1]);
    expect(codesOf(ran)[0]).toBe(0);
  });

  test.each(['license ensure --remote-user new --size-allowance 4', 'license apply - --size-allowance 4'])(
    'beside %s: one license has it',
    async (line) => {
      const world = await worldOf();
      const clock = unhurried(world.time.client);
      const runs = [world.run(lineOf(0), { clock }), world.run(line, { stdin: 'new\n', clock })] as const;
      const [, { exitCode, stderr }] = await Promise.all(runs);
      expect(namedNew(world)).toBe(1);
      expect(exitCode, stderr).toBe(0);
    },
  );

  test('a request without an answer that is carried out late: ensure waits for it, and finds the license', async () => {
    const world = await worldOf('PATCH *=delay-commit@3s;PUT *=delay-commit@3s');
    const { exitCode } = await world.run(`${lineOf(0)} --retries 0`);
    expect(exitCode).toBe(7);
    const ensured = await world.run('license ensure --remote-user new --size-allowance 4');
    expect([ensured.exitCode, ensured.stdout]).toEqual([0, 'K-0\n']);
    expect(namedNew(world)).toBe(1);
  });
});

test('undo gives a name back beside ensure of that name: one license has it', async () => {
  const world = await worldOf();
  const renamed = await world.run('license rename ann new');
  const [, name = ''] = /license undo (\w+)/.exec(renamed.stderr) ?? [];
  const [undone, ensured] = await Promise.all([
    world.run(`license undo ${name} --yes`),
    world.run('license ensure --remote-user ann --size-allowance 2'),
  ]);
  expect(world.users().filter((user) => user === 'ann')).toHaveLength(1);
  expect(ensured.exitCode, ensured.stderr).toBe(0);
  expect([0, 6, 7, 8], undone.stderr).toContain(undone.exitCode);
});

test.each([
  ['license edit K-0 --remote-user bob', 'remote_user=bob&app_code=7', 'bob'],
  ['license edit K-0 --app-code 8', 'remote_user=ann&app_code=8', 'ann'],
])('%s: a user who has a license there keeps one', async (line, query, remote_user) => {
  const service = fakeService();
  const ann = { license_code: 'K-0', remote_user: 'ann', app_code: 7, size_allowance: 4 };
  const app_code = query.endsWith('8') ? 8 : 7;
  service.expect('GET /v1/license/K-0/').reply(200, ann);
  service.expect(`GET /v1/license/?${query}`).reply(200, [{ ...ann, license_code: 'K-1', remote_user, app_code }]);
  const { exitCode, stderr } = await run(service, line);
  expect([exitCode, stderr]).toEqual([6, expect.stringContaining(`${remote_user} has a license already`)]);
  service.done();
});

test('a license of the sheet that has the new name of another row is no reason to give that name', async () => {
  const service = fakeService();
  const yve = { license_code: 'K-0', remote_user: 'yve', app_code: 7, size_allowance: 4 };
  const zed = { ...yve, license_code: 'K-1', remote_user: 'zed' };
  // The filter of a server that lags still shows the former name.
  service.expect('GET /v1/license/?remote_user=yve&app_code=7').reply(200, [yve]);
  service.expect('GET /v1/license/?remote_user=zed&app_code=7').reply(200, [zed]);
  service.expect('GET /v1/license/?remote_user=ben&app_code=7').reply(200, []);
  service.expect('GET /v1/license/?remote_user=cyd&app_code=7').reply(200, [{ ...yve, remote_user: 'cyd' }]);
  const stdin = 'remote_user,new_remote_user\nyve,ben\nzed,cyd\n';
  const { exitCode, stderr } = await run(service, 'license rename --from - --yes', { stdin });
  expect([exitCode, stderr]).toEqual([6, expect.stringContaining('cyd has a license already')]);
  service.done();
});

test('a change that Ctrl-C cuts may be carried out: the next run waits, and looks again', async () => {
  const interrupt = new AbortController();
  const world = await licensingWorld({}, 'PATCH *=delay-commit@3s', {
    seed: seedOf(people),
    log: ({ method }) => (method === 'PATCH' ? interrupt.abort(new Failure('cancelled', 'interrupted')) : undefined),
  });
  const { exitCode } = await world.run('license rename ann new', { interrupt: interrupt.signal });
  const ensured = await world.run('license ensure --remote-user new --size-allowance 4');
  expect([exitCode, ensured.exitCode, namedNew(world)]).toEqual([130, 0, 1]);
});

test('a new name that another run has claimed is left, and all others are given', async () => {
  const world = await worldOf();
  const system = { ...systemIn(world.home), home: world.home, env: placesIn(world.home) };
  const host = { system, clock: realClock };
  const origin = serverOf(world.sandbox.licensing.base_url);
  const options = { remember: 0, signal: new AbortController().signal, note: () => undefined };
  const other = await openClaims(`${origin} 4711`, host, { ...options, ...(await runOf(origin, host)) });
  await other.takeFree(['new']);
  const stdin = 'remote_user,new_remote_user\nann,new\nbob,ben\n';
  const many = await world.run('license rename --from - --yes', { stdin });
  const one = await world.run('license rename ann new');
  await other.release(['new']);
  expect([many.exitCode, one.exitCode]).toEqual([8, 7]);
  expect(world.users()).toEqual(['ann', 'ben', 'cy', 'dee']);
  expect(one.stderr).toContain("has claimed the name 'new': nothing was changed");
  expect((await world.run('license rename ann new')).exitCode).toBe(0);
});

describe('over two computers with one ledger', needs('postgresql'), () => {
  let cluster: Cluster;
  beforeAll(async () => void (cluster = await startPostgres()));
  afterAll(() => cluster.stop());

  test.each(['license rename bob new', 'license ensure --remote-user new --size-allowance 4'])(
    'rename beside %s: one license has the name',
    async (line) => {
      const world = await worldOf();
      const env = { ...world.env, CHATELAINE_LEDGER: cluster.url };
      await world.run('ledger init', { env });
      await cluster.query(madeLongAgo);
      const ran = await Promise.all([world.run('license rename ann new', { env }), world.runElsewhere(line, { env })]);
      expect(namedNew(world)).toBe(1);
      expect(codesOf(ran)[0]).toBe(0);
    },
  );
});
