import { describe, expect, test } from 'vitest';
import { fakeService, type FakeService } from '../../helpers/service.ts';
import { run } from '../../helpers/run.ts';

const bob = { license_code: 'BOB-00012', remote_user: 'bob', app_code: 7, size_allowance: 2 };
const ann = { license_code: 'ANN-00099', remote_user: 'ann', app_code: 7, size_allowance: 4 };
const code = bob.license_code;
const path = `/v1/license/${code}/`;
const resized = { ...bob, size_allowance: 4 };

const listAll = (service: FakeService) => service.expect('GET /v1/license/?app_code=7').reply(200, [bob]);
const list = (service: FakeService) => service.expect('GET /v1/license/?remote_user=bob&app_code=7').reply(200, [bob]);
const view = (service: FakeService, body: unknown) => service.expect(`GET ${path}`).reply(200, body);
/** Before the lock of its user and after it. */
const viewTwice = (service: FakeService) => service.expect(`GET ${path}`, 2).reply(200, bob);
const patch = (service: FakeService, body: unknown) =>
  service.expect({ method: 'PATCH', path, json: { size_allowance: 4 } }).reply(200, body);

const ensure = 'license ensure --remote-user bob --size-allowance 4 -o json';
const apply = 'license apply - -o json';
const edit = `license edit ${code} --size-allowance 4 -o json`;
const stdin = JSON.stringify([{ remote_user: 'bob', size_allowance: 4 }]);
/** What is asked before the PATCH. */
const commands: readonly (readonly [string, (service: FakeService) => void, exit: number])[] = [
  [ensure, list, 6],
  [apply, listAll, 8],
  [edit, viewTwice, 6],
];

describe.each(commands)('%s', (line, before, exit) => {
  test.each([
    ['the license of another code', ann],
    ['the code of another one alone', { license_code: ann.license_code }],
    ['the license of another user', { ...resized, remote_user: 'ann' }],
    ['the license of another application', { ...resized, app_code: 8 }],
  ])('a PATCH that is answered with %s, and read back so: nothing of it is printed', async (_what, other) => {
    const service = fakeService();
    before(service);
    patch(service, other);
    view(service, other);

    const { exitCode, stdout, stderr } = await run(service, line, { stdin });

    service.done();
    expect(exitCode).toBe(exit);
    expect(stdout).not.toMatch(/ANN|"ann"/);
    expect(stdout + stderr).toContain('another license may have been changed');
  });

  test.each([
    ['another license, and read back as asked', ann],
    ['a part of the code', { ...resized, license_code: '****0012' }],
  ])('a PATCH that is answered with %s is done: the key of the user is printed', async (_what, other) => {
    const service = fakeService();
    before(service);
    patch(service, other);
    if (other === ann) view(service, resized);
    // A listed key is printed once a GET has shown that it is one.
    if (line !== edit) view(service, resized);

    const { exitCode, stdout } = await run(service, line, { stdin });

    service.done();
    expect(exitCode).toBe(0);
    expect(stdout).toContain(code);
    expect(stdout).not.toMatch(/ANN|\*/);
  });
});

test('a PUT that is answered with another license', async () => {
  const service = fakeService();
  viewTwice(service);
  service.expect({ method: 'PUT', path, json: { remote_user: 'bob', app_code: 7, size_allowance: 4 } }).reply(200, ann);
  view(service, ann);

  const ran = await run(service, `${edit} --replace --remote-user bob --app-code 7`);

  service.done();
  expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode: 6, stdout: '' });
  expect(ran.error?.message).toContain('another license may have been changed');
});

test.each([
  ['license view', `license view ${code}`],
  ['license retire, which names a license after its user', `license retire ${code} --yes`],
])('a GET that is answered with another license twice ends %s: 6, and nothing is sent', async (_what, line) => {
  const service = fakeService();
  view(service, ann);
  view(service, ann);

  const { exitCode, stdout, stderr } = await run(service, line);

  service.done();
  expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: '' });
  expect(stderr).toMatch(/another license.*ends with 0099/);
});

test('a GET that is answered with another license once is repeated; a code is compared as people read it', async () => {
  const service = fakeService();
  service.expect('GET /v1/license/bob-00o12/').reply(200, ann);
  service.expect('GET /v1/license/bob-00o12/').reply(200, bob);

  const { exitCode, stdout } = await run(service, 'license view bob-00o12 -q');

  service.done();
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${code}\n` });
});
