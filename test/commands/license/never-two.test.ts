import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyHome, openSandbox, run, type RunOptions } from '../../helpers/run.ts';
import { fakeService } from '../../helpers/service.ts';

const ada = { license_code: 'AAA', remote_user: 'ada', app_code: 7, size_allowance: 4 };
const list = 'GET /v1/license/?remote_user=ada&app_code=7';

/** An answer that could be read as "no license" would make a second one: no POST is planned, so any fails the test. */
describe('license ensure never takes an odd list for an empty one', () => {
  test.each<[string, unknown]>([
    ['an app_code of null', [{ ...ada, app_code: null }]],
    ['rows beside an empty side list', { warnings: [], licenses: [ada] }],
    ['rows under a name of their own', { mine: [ada], count: 1 }],
  ])('%s: the license that is there', async (_what, body) => {
    const service = fakeService();
    service.expect(list).reply(200, body);
    service.expect('GET /v1/license/AAA/').reply(200, ada);

    expect(await run(service, 'license ensure --remote-user ada --size-allowance 4')).toMatchObject({
      exitCode: 0,
      stdout: 'AAA\n',
    });
    service.done();
  });

  test('a remote_user of null: the license may be anybody’s, so nothing is created', async () => {
    const unassigned = { ...ada, remote_user: null };
    const service = fakeService();
    service.expect(list).reply(200, [unassigned, { ...ada, license_code: 'BBB', remote_user: 'bob' }]);
    service
      .expect('GET /v1/license/?app_code=7')
      .reply(200, [unassigned, { ...ada, license_code: 'BBB', remote_user: 'bob' }]);

    const { exitCode, stdout } = await run(service, 'license ensure --remote-user ada --size-allowance 9');

    expect({ exitCode, stdout }).toEqual({ exitCode: 8, stdout: '' });
  });

  test.each<[string, unknown, number]>([
    ['the words of an error beside a list', { error: 'maintenance', details: [] }, 6],
    ['an app_code that is no integer: a near match', [{ ...ada, app_code: { code: 7 } }], 6],
  ])('%s: nothing is created', async (_what, body, exitCode) => {
    const service = fakeService();
    service.expect(list).reply(200, body);
    const control = 'GET /v1/license/?remote_user=chatelaine-control-1ai6p167&app_code=7';
    for (const query of [control, 'GET /v1/license/?app_code=7']) service.expect(query).reply(200, body);

    expect((await run(service, 'license ensure --remote-user ada --size-allowance 4')).exitCode).toBe(exitCode);
    expect(service.seen.filter((line) => line.startsWith('POST'))).toEqual([]);
  });

  test('a sign of more rows that a response for nobody lacks: nothing is created', async () => {
    const service = fakeService();
    service.expect(list).reply(200, { results: [], next: 2 });
    service.expect('GET /v1/license/?remote_user=chatelaine-control-1ai6p167&app_code=7').reply(200, { results: [] });

    expect((await run(service, 'license ensure --remote-user ada --size-allowance 4')).exitCode).toBe(8);
    service.done();
  });

  test('two lists that nobody knows, with a filter or without: nothing is created', async () => {
    const service = fakeService();
    for (const path of [list, 'GET /v1/license/?app_code=7']) service.expect(path).reply(200, { one: [], other: [] });

    expect((await run(service, 'license ensure --remote-user ada --size-allowance 4')).exitCode).toBe(7);
    service.done();
  });

  test.each<[string, unknown, Record<string, string>]>([
    ['links.next', { links: { next: '/v1/license/?page=2' }, results: [] }, {}],
    ['a Link header', [], { link: '<https://x.example/v1/license/?page=2>; rel="next"' }],
  ])('a next page named by %s is read', async (_what, body, headers) => {
    const service = fakeService();
    service.expect(list).reply(200, body, headers);
    service.expect('GET /v1/license/?page=2').reply(200, [ada]);
    service.expect('GET /v1/license/AAA/').reply(200, ada);

    expect((await run(service, 'license ensure --remote-user ada --size-allowance 4')).stdout).toBe('AAA\n');
    service.done();
  });

  test('a user that is a number beyond 2^53 is found', async () => {
    const user = '12345678901234567890';
    const service = fakeService();
    service
      .expect(`GET /v1/license/?remote_user=${user}&app_code=7`)
      .reply(200, `[{"license_code":"AAA","remote_user":${user},"app_code":7,"size_allowance":4}]`);
    service.expect('GET /v1/license/AAA/').reply(200, { ...ada, remote_user: user });

    expect((await run(service, `license ensure --remote-user ${user} --size-allowance 4`)).stdout).toBe('AAA\n');
    service.done();
  });
});

test('pages that always repeat their rows end the list as incomplete', async () => {
  const service = fakeService();
  // They are read again, as pages that moved.
  for (const _reading of [1, 2]) {
    service.expect('GET /v1/license/').reply(200, { results: [ada], next: '?page=2' });
    service.expect('GET /v1/license/?page=2').reply(200, { results: [ada], next: '?page=3' });
  }

  expect((await run(service, 'license list -q')).exitCode).toBe(8);
  service.done();
});

test.each([
  ['create', 200, { error: 'forbidden' }],
  ['create', 200, { result: 'success', msg: '' }],
  ['create', 200, { status: 'error', message: 'quota' }],
  // A gateway that repeated the request returns what the second one got.
  ['ensure', 409, { detail: 'The user has one.' }],
  ['create', 409, { detail: 'The user has one.' }],
])('license %s: a response of %i with %j is no key, and the list shows the license', async (verb, status, body) => {
  const service = fakeService();
  for (const name of ['ada', 'ADA', 'Ada'])
    service.expect(`GET /v1/license/?remote_user=${name}&app_code=7`).reply(200, []);
  service
    .expect({ method: 'POST', path: '/v1/license/', json: { remote_user: 'ada', size_allowance: 4, app_code: 7 } })
    .reply(status, body);
  service.expect(list).reply(200, [ada]);
  service.expect('GET /v1/license/AAA/').reply(200, ada);

  expect(await run(service, `license ${verb} --remote-user ada --size-allowance 4 -q`)).toMatchObject({
    exitCode: 0,
    stdout: 'AAA\n',
  });
  service.done();
});

test.each(['snippet rm 1', 'view pin inbox', 'license audit', 'topic delete 7 lunch -o json --jq .'])(
  '%s --fields with a name that is none is refused before anything is sent',
  async (line) => {
    const service = fakeService();

    expect((await run(service, `${line} --fields bogus`)).exitCode).toBe(2);
    expect(service.seen).toEqual([]);
  },
);

test('a user with a blank at an end is refused: a server that cuts it off would make a license each time', async () => {
  const service = fakeService();

  const ensured = await run(service, ['license', 'ensure', '--remote-user', ' ada', '--size-allowance', '4']);
  const applied = await run(service, 'license apply -', { stdin: 'remote_user,size_allowance\n"bob ",3\n' });

  expect([ensured.exitCode, applied.exitCode, service.seen]).toEqual([2, 2, []]);
  expect(applied.stderr).toContain('standard input:2: remote_user: begins or ends with a space');
});

const recordedIn = (home: string): string =>
  readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.run'))
    .map((name) => readFileSync(join(home, name), 'utf8'))
    .join('');

// docs/exactly-once.md, A record a server.
test.each(['create', 'ensure'])('what was answered is on disk before its key is printed: license %s', async (verb) => {
  const sandbox = await openSandbox();
  const home = emptyHome();
  let printed: string | undefined;
  const written = (): void => void (printed ??= recordedIn(home));
  // A line that nobody waits for is not written.
  const alarm: RunOptions['alarm'] = () => () => undefined;
  const line = `license ${verb} --remote-user ada --size-allowance 4 -q`;
  expect(await sandbox.run(line, { home, written, alarm })).toMatchObject({ exitCode: 0 });
  expect(printed).toContain('"is":"answered"');
});

// docs/exactly-once.md, A record a server.
test.each(['create', 'ensure'])('nothing of a request that was refused is left: license %s', async (verb) => {
  const service = fakeService();
  const home = emptyHome();
  for (const name of ['ada', 'ADA', 'Ada', 'ada'])
    service.expect(`GET /v1/license/?remote_user=${name}&app_code=7`).reply(200, []);
  service.expect('POST /v1/license/').reply(400, { detail: 'no' });
  expect((await run(service, `license ${verb} --remote-user ada --size-allowance 4`, { home })).exitCode).toBe(6);
  expect(recordedIn(home)).toBe('');
});
