import { describe, expect, test } from 'vitest';
import { fakeService as emptyService, openSandbox, run } from '../../helpers/run.ts';
import type { FakeService } from '../../helpers/service.ts';
import { defaultSettle } from '../../../src/commands/license/options.ts';
import { readFaults } from '../../../src/sandbox/faults.ts';
import { needs } from '../../helpers/needs.ts';

const create = 'license create --remote-user ada --size-allowance 4';
const ada = { license_code: 'K-1', remote_user: 'ada', app_code: 7, size_allowance: 4 };

const post = (service: FakeService) =>
  service.expect({
    method: 'POST',
    path: '/v1/license/',
    json: { remote_user: 'ada', size_allowance: 4, app_code: 7 },
  });
const list = (service: FakeService, times?: number) =>
  service.expect('GET /v1/license/?remote_user=ada&app_code=7', times);
/** The pauses between the lookups of a POST without an answer, until it counts as not carried out. */
const pauses = [100, 200, 400, 800, 1600, 1900];

/** A service that is asked for the user's licenses first, and has none. */
function fakeService(): FakeService {
  const service = emptyService();
  list(service).reply(200, []);
  return service;
}

const lostAnswers: readonly (readonly [string, (service: FakeService) => void])[] = [
  ['reset', (service) => post(service).fail('ECONNRESET')],
  ['other side closed', (service) => post(service).fail('UND_ERR_SOCKET')],
  ['headers late', (service) => post(service).fail('UND_ERR_HEADERS_TIMEOUT')],
  ['broken pipe', (service) => post(service).fail('EPIPE')],
  ['500', (service) => post(service).reply(500, { detail: 'Server error' })],
  ['408', (service) => post(service).reply(408, '')],
  ['502', (service) => post(service).reply(502, '<h1>Bad gateway</h1>')],
  ['503', (service) => post(service).reply(503, '')],
  ['504', (service) => post(service).reply(504, '<h1>Time-out</h1>')],
  ['201 with an HTML page', (service) => post(service).reply(201, '<html><title>Sign in</title></html>')],
  ['201 with a cut document', (service) => post(service).reply(201, '{"license_code": "K-')],
];

describe.each(lostAnswers)('a POST unconfirmed: %s', (_what, loseAnswer) => {
  test('the one license of that user and size is the one that was created', async () => {
    const service = fakeService();
    loseAnswer(service);
    list(service, 2).reply(200, []);
    list(service).reply(200, [ada]);

    const { exitCode, stdout, slept } = await run(service, `${create} -q`);

    service.done();
    expect({ exitCode, stdout, slept }).toEqual({ exitCode: 0, stdout: 'K-1\n', slept: [100, 200, 400] });
  });

  test('none: it is posted again, and settled by a list again', async () => {
    const service = fakeService();
    loseAnswer(service);
    list(service, 5).reply(200, []);
    loseAnswer(service);
    list(service, 5).reply(200, { results: [], next: null });
    post(service).reply(201, ada);
    list(service).reply(200, [ada]);

    const { exitCode, stdout, slept } = await run(service, `${create} -q --settle 2s`);

    service.done();
    const twice = [100, 200, 400, 800, 500];
    expect({ exitCode, stdout, slept }).toEqual({ exitCode: 0, stdout: 'K-1\n', slept: [...twice, ...twice] });
  });

  test.each([
    ['two licenses', [ada, { ...ada, license_code: 'K-2' }]],
    ['one of another size', [{ ...ada, size_allowance: 5 }]],
    ['one of that size and one of another', [ada, { ...ada, license_code: 'K-2', size_allowance: 5 }]],
  ])('%s: exit 9, and what to look at', async (_shown, rows) => {
    const service = fakeService();
    loseAnswer(service);
    list(service).reply(200, rows);

    const { exitCode, stdout, error } = await run(service, `${create} -o json`);

    service.done();
    expect({ exitCode, stdout, code: error?.code, retryable: error?.retryable }).toEqual({
      exitCode: 9,
      stdout: '',
      code: 'unknown',
      retryable: false,
    });
    expect(error?.hint).toContain('license list --remote-user ada --app-code 7');
  });

  test('a list that fails: exit 9', async () => {
    for (const status of [502, 401, 400, 500]) {
      const service = fakeService();
      loseAnswer(service);
      // The request itself is repeated five times, and so are lookups without an answer.
      list(service, status === 502 || status === 500 ? 6 * (status === 502 ? 6 : 1) : 1).reply(status, {
        detail: 'no',
      });

      const { exitCode, error } = await run(service, `${create} -o json`);

      service.done();
      expect({ status, exitCode, code: error?.code }).toEqual({ status, exitCode: 9, code: 'unknown' });
    }
  });
});

test('a license that was there before is not the one that was created', async () => {
  const service = emptyService();
  list(service).reply(200, [ada]);
  post(service).fail('ECONNRESET');
  list(service, pauses.length).reply(200, [ada]);
  post(service).fail('ECONNRESET');
  list(service).reply(200, [ada, { ...ada, license_code: 'K-2' }]);

  const { exitCode, stdout, lines } = await run(service, `${create} -q`);

  service.done();
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'K-2\n' });
  expect(lines[0]).toContain('ada already has a license in application 7');
});

test('where the list before failed, it continues, and nothing settles a lost answer: exit 9', async () => {
  const service = emptyService();
  list(service).reply(400, { detail: 'no' });
  post(service).fail('ECONNRESET');

  const { exitCode, stdout, slept } = await run(service, `${create} -q`);

  service.done();
  expect({ exitCode, stdout, slept }).toEqual({ exitCode: 9, stdout: '', slept: [] });
});

test('a 201 without a body: listed at once, and once more after --settle; never sent again', async () => {
  for (const [lists, exitCode, waits] of [
    [[[ada]], 0, []],
    [[[], [ada]], 0, [defaultSettle]],
    [[[], []], 9, [defaultSettle]],
  ] as const) {
    const service = fakeService();
    post(service).reply(201, '');
    for (const rows of lists) list(service).reply(200, rows);

    const ran = await run(service, `${create} -q`);

    service.done();
    expect([ran.exitCode, ran.slept]).toEqual([exitCode, waits]);
  }
});

test('a POST that is redirected inside the origin is answered: never sent again, and not there is exit 9', async () => {
  for (const [lists, exitCode, waits] of [
    [[[ada]], 0, []],
    [[[], [ada]], 0, [5000]],
    [[[], []], 9, [5000]],
  ] as const) {
    const service = fakeService();
    post(service).reply(307, '', { location: '/v1/licenses/' });
    for (const rows of lists) list(service).reply(200, rows);

    const ran = await run(service, `${create} -q`);

    service.done();
    expect([ran.exitCode, ran.slept]).toEqual([exitCode, waits]);
  }
});

test('a redirect to elsewhere is no answer: settled by the list, and sent again', async () => {
  const service = fakeService();
  post(service).reply(302, '', { location: 'https://portal.test/login' });
  list(service, pauses.length).reply(200, []);
  post(service).reply(201, ada);
  list(service).reply(200, [ada]);

  const ran = await run(service, `${create} -q`);

  service.done();
  expect([ran.exitCode, ran.stdout, ran.slept]).toEqual([0, 'K-1\n', pauses]);
});

test.each([
  [202, 'Accepted'],
  [200, 'OK'],
])('%i with the text %s is answered: never sent again', async (status, text) => {
  const service = fakeService();
  post(service).reply(status, text);
  list(service).reply(200, []);
  list(service).reply(200, []);

  expect(await run(service, `${create} -q`)).toMatchObject({ exitCode: 9, slept: [5000] });
  service.done();
});

test('an answered license that the list does not show is printed, and exit 9 names it', async () => {
  const service = fakeService();
  post(service).reply(201, ada);
  list(service).reply(200, []);
  list(service).reply(200, []);

  const { exitCode, stdout, error } = await run(service, `${create} -o json`);

  service.done();
  expect({ exitCode, printed: JSON.parse(stdout) as unknown }).toEqual({ exitCode: 9, printed: ada });
  expect(error?.message).toContain(
    'the server answered 201 with a license whose key ends with K-1; the list does not show the license',
  );
  expect(error?.retryable).toBe(false);
});

test('a list that is not answered after the POST is a warning, and the key is printed', async () => {
  const service = fakeService();
  post(service).reply(201, ada);
  list(service).reply(500, { detail: 'no' });

  const { exitCode, stdout, lines } = await run(service, `${create} -q`);

  service.done();
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'K-1\n' });
  expect(lines[0]).toContain('could not be confirmed');
});

test('a license of another user is answered: exit 9 naming it, and it is never sent again', async () => {
  const service = fakeService();
  post(service).reply(201, { ...ada, license_code: 'K-9', remote_user: 'bob' });
  list(service).reply(200, []);
  list(service).reply(200, []);

  const { exitCode, stdout, error } = await run(service, `${create} -o json`);

  service.done();
  expect({ exitCode, stdout }).toEqual({ exitCode: 9, stdout: '' });
  expect(error?.message).toContain("K-9): remote_user 'bob' instead of 'ada'");
});

test('a list that ends early does not settle it: exit 9', async () => {
  const service = fakeService();
  post(service).fail('ECONNRESET');
  list(service, pauses.length).reply(200, { results: [], next: '?remote_user=ada&app_code=7' });

  expect(await run(service, `${create} -q`)).toMatchObject({ exitCode: 9 });
  service.done();
});

test.each([
  ['', 6],
  ['--retries 1', 2],
  ['--retries 0', 1],
])('never created (%s): after %i posts it is exit 9', async (words, posts) => {
  const service = fakeService();
  for (let round = 0; round < posts; round += 1) {
    post(service).reply(502, '<h1>Bad gateway</h1>');
    list(service, pauses.length).reply(200, []);
  }

  expect(await run(service, `${create} -q ${words}`)).toMatchObject({ exitCode: 9 });
  service.done();
});

describe('what was certainly not processed is sent again without a list', () => {
  test.each(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])('%s', async (code) => {
    const service = fakeService();
    post(service).fail(code);
    post(service).reply(201, ada);
    list(service).reply(200, [ada]);

    expect(await run(service, `${create} -q`)).toMatchObject({ exitCode: 0, stdout: 'K-1\n' });
    service.done();
  });

  test('429, after the wait that was asked for', async () => {
    const service = fakeService();
    post(service).reply(429, { detail: 'Slow down.' }, { 'retry-after': '2' });
    post(service).reply(201, ada);
    list(service).reply(200, [ada]);

    const { exitCode, slept } = await run(service, `${create} -q`);

    service.done();
    expect(exitCode).toBe(0);
    expect(slept).toHaveLength(1);
    expect(slept[0]).toBeGreaterThanOrEqual(2000);
  });

  test('never reached: exit 7, safe to run again', async () => {
    const service = fakeService();
    service
      .expect({ method: 'POST', path: '/v1/license/', json: { remote_user: 'ada', size_allowance: 4, app_code: 7 } }, 6)
      .fail('ECONNREFUSED');

    const { exitCode, error } = await run(service, `${create} -o json`);

    service.done();
    expect({ exitCode, retryable: error?.retryable }).toEqual({ exitCode: 7, retryable: true });
  });

  test.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', /--ca-file/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /host name in the URL/],
    ['ENOTFOUND', /URL of the profile/],
  ])('%s is not tried again', async (code, hint) => {
    const service = fakeService();
    post(service).fail(code);

    const { exitCode, error } = await run(service, `${create} -o json`);

    service.done();
    expect(exitCode).toBe(7);
    expect(error?.hint).toMatch(hint);
  });
});

test('an error inside 200 leaves it open whether the license was created: the list decides', async () => {
  const service = fakeService();
  post(service).reply(200, { detail: 'Something went wrong.' });
  list(service).reply(200, [ada]);

  const { exitCode, stdout, slept } = await run(service, `${create} -q`);

  service.done();
  expect({ exitCode, stdout, slept }).toEqual({ exitCode: 0, stdout: 'K-1\n', slept: [100] });
});

test('--retries 0 does not send a POST unconfirmed again without a list', async () => {
  const service = fakeService();
  post(service).fail('ECONNRESET');
  list(service).reply(200, [ada]);

  expect(await run(service, `${create} -q --retries 0`)).toMatchObject({ exitCode: 0, stdout: 'K-1\n' });
  service.done();
});

test('a key that no list shows either is not "safe to run again" under -q: the license was created', async () => {
  const service = fakeService();
  post(service).reply(201, { remote_user: 'ada', one: 'K-1', two: 'K-2' });
  list(service).reply(200, [{ remote_user: 'ada', one: 'K-1', two: 'K-2' }]);

  const { exitCode, lines } = await run(service, `${create} -q`);

  service.done();
  expect(lines.join('\n')).toContain('one, two');
  expect(exitCode).toBe(9);
});

describe('against the sandbox with faults there is one license, never two', () => {
  test.each([
    ['the answer is lost after the commit', 'drop-after#1'],
    ['the connection breaks before the commit', 'drop-before#1'],
    ['a gateway gives up before', '502#1'],
    ['the answer is cut', 'cut#1'],
    ['the connection is reset after the commit', 'reset-after#1'],
    ['the service breaks after the commit', '500-after#1'],
    ['a gateway gives up after the commit', '504-after#1'],
    ['a proxy answers in its place', 'html#1'],
    ['the answer is no JSON', 'json-garbage#1'],
    ['the answer is empty', 'empty#1'],
    ['both, one after another', 'drop-before#1,drop-after#1'],
  ])('%s', async (_what, fault) => {
    const { sandbox, run: runThere } = await openSandbox({ faults: readFaults(`POST /v1/license/=${fault}`, 1) });

    const { exitCode, stdout } = await runThere(`${create} -q --settle 1ms`);

    const stored = sandbox.state.licenses().filter(({ remote_user }) => remote_user === 'ada');
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${stored[0]?.license_code ?? ''}\n` });
    expect(stored).toHaveLength(1);
  });
});

test("the command to look with can be pasted, whatever the user's name holds", needs('shell'), async () => {
  const service = emptyService();
  const user = { remote_user: "o'brien", size_allowance: 4, app_code: 7 };
  const licenses = (): ReturnType<FakeService['expect']> =>
    service.expect('GET /v1/license/?remote_user=o%27brien&app_code=7');
  licenses().reply(200, []);
  service.expect({ method: 'POST', path: '/v1/license/', json: user }).fail('ECONNRESET');
  licenses().reply(200, [
    { ...user, license_code: 'K-1' },
    { ...user, license_code: 'K-2' },
  ]);

  const words = ['license', 'create', '--remote-user', "o'brien", '--size-allowance', '4', '-o', 'json'];
  const { exitCode, error } = await run(service, words);

  service.done();
  expect(exitCode).toBe(9);
  expect(error?.hint).toContain(String.raw`chatelaine license list --remote-user 'o'\''brien' --app-code 7`);
});

test('a list that is not whole confirms nothing: the key is printed, and the answer is open', async () => {
  const service = fakeService();
  post(service).reply(201, ada);
  list(service).reply(200, { count: 99, results: [] });
  list(service).reply(200, { count: 99, results: [] });

  const { exitCode, stdout, slept } = await run(service, `${create} -q`);

  service.done();
  expect({ exitCode, stdout, slept }).toEqual({ exitCode: 9, stdout: 'K-1\n', slept: [defaultSettle] });
});

test.each(['create', 'ensure'])(
  '%s: a repeat that is refused leaves the first request unknown: exit 9',
  async (name) => {
    const service = fakeService();
    post(service).fail('ECONNRESET');
    list(service, pauses.length).reply(200, []);
    post(service).reply(400, { detail: 'exists' });
    // Who got two POSTs is looked up once more.
    if (name === 'ensure') list(service).reply(200, []);

    const { exitCode, error } = await run(service, `license ${name} --remote-user ada --size-allowance 4 -o json`);

    service.done();
    expect(exitCode).toBe(9);
    expect(error?.message).toContain('sent again: ');
  },
);
