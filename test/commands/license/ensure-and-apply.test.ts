import { describe, expect, test } from 'vitest';
import { run } from '../../helpers/run.ts';
import { fakeService, type FakeService } from '../../helpers/service.ts';

const asked = { remote_user: 'ada', app_code: 7, size_allowance: 4 };
const ada = (license_code: string, size_allowance = 4) => ({ ...asked, license_code, size_allowance });
const list = (service: FakeService, rows: readonly unknown[], times?: number) =>
  service.expect('GET /v1/license/?remote_user=ada&app_code=7', times).reply(200, rows);
const post = (service: FakeService) => service.expect({ method: 'POST', path: '/v1/license/', json: asked });
const patch = (service: FakeService, status: number, body: unknown) =>
  service.expect({ method: 'PATCH', path: '/v1/license/K-1/', json: { size_allowance: 4 } }).reply(status, body);

/** One server, and what both commands make of it: the status of the row, the exit code of ensure and of apply. */
const servers: readonly (readonly [
  what: string,
  script: (service: FakeService) => void,
  status: string,
  exits: readonly [ensure: number, apply: number],
])[] = [
  ['there is one', (service) => list(service, [ada('K-1')]), 'unchanged', [0, 0]],
  [
    'there is one of another size',
    (service) => {
      list(service, [ada('K-1', 2)]);
      patch(service, 200, ada('K-1'));
    },
    'resized',
    [0, 0],
  ],
  [
    'none, and it is created',
    (service) => {
      list(service, []);
      post(service).reply(201, ada('K-1'));
      list(service, [ada('K-1')]);
    },
    'created',
    [0, 0],
  ],
  [
    'the server keeps size 2 for the asked 4, and says so',
    (service) => {
      list(service, []);
      post(service).reply(201, ada('K-1', 2));
      list(service, [ada('K-1', 2)]);
      patch(service, 200, ada('K-1'));
    },
    'resized',
    [0, 0],
  ],
  [
    'the server keeps size 2 for the asked 4, and its answer is lost',
    (service) => {
      list(service, []);
      post(service).fail('ECONNRESET');
      list(service, [ada('K-1', 2)]);
      patch(service, 200, ada('K-1'));
    },
    'resized',
    [0, 0],
  ],
  [
    'the answer is lost, and one is there',
    (service) => {
      list(service, []);
      post(service).fail('ECONNRESET');
      list(service, [ada('K-1')]);
    },
    'created',
    [0, 0],
  ],
  [
    'the answer is lost, and two are there',
    (service) => {
      list(service, []);
      post(service).fail('ECONNRESET');
      list(service, [ada('K-1'), ada('K-2')]);
    },
    'unknown',
    [9, 9],
  ],
  [
    'the answer is lost, and the repeat is refused',
    (service) => {
      list(service, []);
      post(service).fail('ECONNRESET');
      list(service, [], 6);
      post(service).reply(400, { detail: 'exists' });
      // Who got two POSTs is looked up once more.
      list(service, []);
    },
    'unknown',
    [9, 9],
  ],
  [
    'the answer is lost, and a similar name is there',
    (service) => {
      list(service, []);
      post(service).fail('ECONNRESET');
      list(service, [{ ...ada('K-1'), app_code: 'seven' }]);
    },
    'unknown',
    [9, 9],
  ],
  [
    'it is answered, and in no list',
    (service) => {
      list(service, []);
      post(service).reply(201, ada('K-1'));
      list(service, []);
      list(service, []);
    },
    'unknown',
    [9, 9],
  ],
  [
    'it is answered, and shown after --settle',
    (service) => {
      list(service, []);
      post(service).reply(201, ada('K-1'));
      list(service, []);
      list(service, [ada('K-1')]);
    },
    'created',
    [0, 0],
  ],
  [
    'it is answered with the key of somebody else',
    (service) => {
      list(service, []);
      post(service).reply(201, ada('K-9'));
      list(service, [ada('K-1')]);
    },
    'created',
    [0, 0],
  ],
  [
    'the POST is refused',
    (service) => {
      list(service, []);
      post(service).reply(400, { detail: 'no' });
    },
    'failed',
    [6, 8],
  ],
  ['a similar name', (service) => list(service, [{ ...ada('K-1'), app_code: 'seven' }]), 'failed', [6, 8]],
];

describe.each(servers)('%s', (_what, script, status, [ensureExit, applyExit]) => {
  test('ensure and apply give the same answer', async () => {
    const [one, other] = [fakeService(), fakeService()];
    script(one);
    script(other);

    const ensured = await run(one, 'license ensure --remote-user ada --size-allowance 4 -o json');
    const applied = await run(other, 'license apply - -o json', { stdin: JSON.stringify([asked]) });

    one.done();
    other.done();
    expect([ensured.exitCode, applied.exitCode]).toEqual([ensureExit, applyExit]);
    expect(JSON.parse(applied.stdout)).toMatchObject([{ status }]);
    if (ensureExit === 0) expect(JSON.parse(ensured.stdout)).toMatchObject({ status });
    expect(ensured.slept).toEqual(applied.slept);
    expect(one.seen).toEqual(other.seen);
  });
});

test.each([
  ['ensure', 'license ensure --remote-user ada --size-allowance 4', ''],
  ['apply', 'license apply -', JSON.stringify([asked])],
])('%s says every ten seconds what it waits for', async (_what, line, stdin) => {
  const service = fakeService();
  list(service, []);
  post(service).fail('ECONNRESET');
  list(service, [], 8);
  list(service, [ada('K-1')]);

  const { exitCode, stderr } = await run(service, `${line} --settle 30s`, { stdin });

  service.done();
  expect(exitCode).toBe(0);
  expect(stderr.match(/waiting for requests without an answer/g)).toHaveLength(2);
});
