import { describe, expect, test } from 'vitest';
import { emptyHome, fakeService, openSandbox, run } from '../../helpers/run.ts';
import { expectNobody } from '../../helpers/nobody.ts';
import type { FakeService } from '../../helpers/service.ts';
import type { LicenseShape } from '../../helpers/license-shapes.ts';

const create = 'license create --remote-user ada --size-allowance 4';
const posted = { method: 'POST', path: '/v1/license/', json: { remote_user: 'ada', size_allowance: 4, app_code: 7 } };
const listOfAda = 'GET /v1/license/?remote_user=ada&app_code=7';

const listed = [{ license_code: 'K-1', remote_user: 'ada', app_code: 7, size_allowance: 4 }];

/** A service that answers the POST with this body, and lists these licenses then. */
function creates(body: unknown, rows: unknown = listed): FakeService {
  const service = fakeService();
  expectNobody(service);
  service.expect(posted).reply(201, body);
  service.expect(listOfAda).reply(200, rows);
  return service;
}

describe('the key of a license', () => {
  test.each([
    ['{"license_code": 98765432109876543210, "app_code": 7}', '98765432109876543210'],
    ['{"code": 17, "app_code": 7}', '17'],
  ])('a number keeps its digits: %s', async (body, key) => {
    const service = creates(body, `[{"license_code":${key},"remote_user":"ada"}]`);

    const { exitCode, stdout } = await run(service, `${create} -q`);

    service.done();
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${key}\n` });
  });

  test('json keeps the digits of every number and the form of the license', async () => {
    const service = creates(
      '{"license_code":98765432109876543210,"nested":{"serial":12345678901234567890},"rate":1.5}',
      '[{"license_code":98765432109876543210,"remote_user":"ada"}]',
    );

    const { stdout } = await run(service, `${create} -o ndjson`);

    expect(stdout).toBe('{"license_code":98765432109876543210,"nested":{"serial":12345678901234567890},"rate":1.5}\n');
  });

  test('the key is in the first column, once, and the server’s other fields follow', async () => {
    const service = creates({ remote_user: 'ada', app_code: 7, size_allowance: 4, key: 'K-1', used: 0, tags: ['a'] });

    expect((await run(service, create)).stdout).toBe(
      'license_code\tremote_user\tapp_code\tsize_allowance\tused\nK-1\tada\t7\t4\t0\n',
    );
  });
});

test.each([`${create} -q`, create, 'license ensure --remote-user ada --size-allowance 4'])(
  'where no response has a key, %s writes nothing to stdout: 9',
  async (line) => {
    const service = creates({ status: 'created' }, [{ remote_user: 'ada', app_code: 7, serial: 'K-1' }]);

    const { exitCode, stdout, stderr } = await run(service, line);

    service.done();
    expect({ exitCode, stdout }).toEqual({ exitCode: 9, stdout: '' });
    expect(stderr).toContain(
      'the user has a license: no field of the license can be recognized as its key; its fields are: remote_user, app_code, serial',
    );
  },
);

test.each([
  ['before the usual names', { license_code: 'no', one: 'no', two: 'K-2' }],
  ['inside a wrapped object too', { status: 'ok', license: { one: 'no', two: 'K-2' } }],
])('the profile names the field of the key: %s', async (_where, body) => {
  const service = fakeService();
  const bare = { bare: true, home: emptyHome() };
  const login =
    'auth login licensing --base-url https://licenses.test --app-code 7 --key-field two --api-key-stdin --no-check';
  await run(service, login, { ...bare, stdin: 'licensing-key-5f1d0c\n' });
  expectNobody(service);
  service.expect(posted).reply(201, body);
  service.expect(listOfAda).reply(200, [{ two: 'K-2', remote_user: 'ada' }]);

  expect(await run(service, `${create} -q`, bare)).toMatchObject({ exitCode: 0, stdout: 'K-2\n' });
  service.done();
});

describe('a list in every form', () => {
  const ada = { license_code: 'K-1', remote_user: 'ada', app_code: 7, size_allowance: 4 };

  test.each([
    ['an empty array', '[]'],
    ['an empty page', '{"count":0,"next":null,"results":[]}'],
  ])('%s is an empty list, exit 0', async (_what, body) => {
    const service = fakeService();
    service.expect('GET /v1/license/').reply(200, body);

    expect(await run(service, 'license list -o json')).toMatchObject({ exitCode: 0, stdout: '[]\n' });
    service.done();
  });

  test.each([
    ['502', (service: FakeService) => service.expect('GET /v1/license/?page=2', 6).reply(502, '<h1>Bad gateway</h1>')],
    ['reset', (service: FakeService) => service.expect('GET /v1/license/?page=2', 6).fail('ECONNRESET')],
    ['500', (service: FakeService) => service.expect('GET /v1/license/?page=2').reply(500, '{}')],
    ['401', (service: FakeService) => service.expect('GET /v1/license/?page=2').reply(401, { detail: 'Expired.' })],
    ['no JSON', (service: FakeService) => service.expect('GET /v1/license/?page=2').reply(200, '<html>')],
  ])('a later page that fails (%s) is 8 with a whole document', async (_what, trouble) => {
    const service = fakeService();
    service.expect('GET /v1/license/').reply(200, { results: [ada], next: '/v1/license/?page=2' });
    trouble(service);

    const { exitCode, stdout, error } = await run(service, 'license list -o json');

    service.done();
    expect({ exitCode, code: error?.code }).toEqual({ exitCode: 8, code: 'incomplete' });
    expect(JSON.parse(stdout)).toEqual([ada]);
  });

  test.each([
    ['502', (service: FakeService) => service.expect('GET /v1/license/', 6).reply(502, '<h1>Bad gateway</h1>')],
    ['refused', (service: FakeService) => service.expect('GET /v1/license/', 6).fail('ECONNREFUSED')],
    ['an HTML page inside 200', (service: FakeService) => service.expect('GET /v1/license/').reply(200, '<html>')],
    ['an empty body', (service: FakeService) => service.expect('GET /v1/license/').reply(200, '')],
    ['no list', (service: FakeService) => service.expect('GET /v1/license/').reply(200, { count: 3 })],
    ['a row that is not a license', (service: FakeService) => service.expect('GET /v1/license/').reply(200, ['K-1'])],
  ])('a first page that fails (%s) is 7', async (_what, trouble) => {
    const service = fakeService();
    trouble(service);

    const { exitCode, error } = await run(service, 'license list -o json');

    service.done();
    expect({ exitCode, code: error?.code }).toEqual({ exitCode: 7, code: 'unavailable' });
  });
});

describe('filters are checked again', () => {
  const row = (fields: object): object => ({ license_code: 'K', ...fields });

  test('as exact text', async () => {
    const service = fakeService();
    service
      .expect('GET /v1/license/?remote_user=ada&app_code=7')
      .reply(200, [
        row({ license_code: 'yes', remote_user: 'ada', app_code: 7 }),
        row({ license_code: 'text', remote_user: 'ada', app_code: '7' }),
        row({ license_code: 'trusted', remote_user: 'ada' }),
        row({ license_code: 'case', remote_user: 'Ada', app_code: 7 }),
        row({ license_code: 'longer', remote_user: 'ada2', app_code: 7 }),
        row({ license_code: 'blank', remote_user: 'ada ', app_code: 7 }),
        row({ license_code: 'other', remote_user: 'ada', app_code: 8 }),
      ]);

    expect((await run(service, 'license list --remote-user ada --app-code 7 -q')).stdout).toBe('yes\ntext\ntrusted\n');
  });

  test.each(['license list --remote-user ada -q', 'license view --remote-user ada -q'])(
    'a row without a name may be of another user: %s ends with 8',
    async (line) => {
      for (const nameless of [{}, { remote_user: null }]) {
        const service = fakeService();
        service.expect('GET /v1/license/?remote_user=ada').reply(200, [row(nameless)]);

        const { exitCode, stdout } = await run(service, line);

        service.done();
        expect({ exitCode, stdout }).toEqual({ exitCode: 8, stdout: '' });
      }
    },
  );

  test('--limit ends before the next page is asked', async () => {
    const service = fakeService();
    const rows = ['a', 'b', 'c'].map((license_code) => row({ license_code }));
    service.expect('GET /v1/license/').reply(200, { results: rows, next: '?page=2' });

    expect(await run(service, 'license list --limit 2 -q')).toMatchObject({ exitCode: 0, stdout: 'a\nb\n' });
    service.done();
  });

  test('license view of a user with several licenses shows them all', async () => {
    const service = fakeService();
    const rows = ['K-1', 'K-2'].map((license_code) => row({ license_code, remote_user: 'ada' }));
    service.expect('GET /v1/license/?remote_user=ada').reply(200, rows);

    expect((await run(service, 'license view --remote-user ada -q')).stdout).toBe('K-1\nK-2\n');
  });
});

describe('errors have no shape: what they say is shown with the status', () => {
  test.each([
    [401, { detail: 'Invalid token.' }, 4, 'auth', 'Invalid token.'],
    [403, { detail: 'Not yours.' }, 4, 'auth', 'Not yours.'],
    [403, '<html><title>Forbidden by the firewall</title></html>', 4, 'auth', 'Forbidden by the firewall'],
    [
      400,
      { size_allowance: ['Too large.', 'No.'], remote_user: ['Taken.'] },
      6,
      'rejected',
      'size_allowance: Too large. No.; remote_user: Taken.',
    ],
    [400, ['First.', 'Second.'], 6, 'rejected', 'First. Second.'],
    [400, '"just a text"', 6, 'rejected', 'just a text'],
    [422, { error: { reason: 'odd' } }, 6, 'rejected', '{"reason":"odd"}'],
    [409, '', 6, 'rejected', 'no reason given'],
    [404, { detail: 'Not found.' }, 6, 'rejected', 'Not found.'],
    [301, '', 9, 'unknown', 'redirects'],
  ])('%d %j', async (status, body, exitCode, code, said) => {
    const service = fakeService();
    expectNobody(service);
    service.expect(posted).reply(status, body);
    // A request that was redirected, or refused the second time, may have been carried out.
    if (status === 301 || code === 'rejected') expectNobody(service, status === 301 ? 2 : 1);

    const ran = await run(service, `${create} -o json`);

    service.done();
    expect({ exitCode: ran.exitCode, code: ran.error?.code, stdout: ran.stdout }).toEqual({
      exitCode,
      code,
      stdout: '',
    });
    expect(ran.error?.message).toContain(said);
    expect(ran.error?.message).toContain(String(status));
    if (status !== 301)
      expect(ran.error?.http).toEqual({ method: 'POST', url: 'https://licenses.test/v1/license/', status });
  });

  test.each(['license view K/1', 'license edit K/1 --size-allowance 3'])(
    '%s: 404 is exit 5, its URL without the key',
    async (line) => {
      const service = fakeService();
      service.expect('GET /v1/license/K%2F1/').reply(404, { detail: 'Not found.' });
      // A key that is read alike by phone is looked for. The text is in no query.
      if (line.includes('view')) service.expect('GET /v1/license/').reply(200, []);

      const { exitCode, error, stderr } = await run(service, `${line} -o json`);

      service.done();
      expect({ exitCode, url: error?.http?.url }).toEqual({
        exitCode: 5,
        url: 'https://licenses.test/v1/license/[license_code]/',
      });
      expect(stderr).not.toContain('K%2F1');
    },
  );

  test.each([
    ['404', 404, { detail: 'Not found.' }],
    ['null', 200, 'null'],
    ['[]', 200, '[]'],
    ['{}', 200, '{}'],
    ['an empty body', 200, ''],
    ['no content', 204, ''],
  ])('first activation answered with %s is exit 5', async (_what, status, body) => {
    const service = fakeService();
    service.expect('GET /v1/first-activation/?mac_address=00%3A13%3A43%3A9A%3A01%3A7F&app_code=7').reply(status, body);

    const { exitCode, stdout, error } = await run(service, 'first-activation 0013439a017f -o json');

    service.done();
    expect({ exitCode, code: error?.code }).toEqual({ exitCode: 5, code: 'not_found' });
    expect(JSON.parse(stdout)).toEqual([{ mac_address: '00:13:43:9A:01:7F', status: 'never-activated' }]);
    expect(error?.message).toContain('00:13:43:9A:01:7F');
  });

  test('of several sensors each has a row, and the number of those that nobody activated is the error', async () => {
    const service = fakeService();
    const at = (last: string): string =>
      `GET /v1/first-activation/?mac_address=00%3A13%3A43%3A9A%3A01%3A${last}&app_code=7`;
    service.expect(at('7F')).reply(200, { license_code: 'A-1', remote_user: 'ada' });
    service.expect(at('80')).reply(200, 'null');

    const { exitCode, stdout, lines } = await run(service, 'first-activation 0013439a017f 0013439a0180 -o tsv');

    service.done();
    expect({ exitCode, lines }).toEqual({ exitCode: 5, lines: ['chatelaine: 1 of 2 sensors was never activated'] });
    expect(stdout).toBe(
      'mac_address\tlicense_code\tremote_user\tapp_code\tsize_allowance\tstatus\n' +
        '00:13:43:9A:01:7F\tA-1\tada\t\t\tactivated\n00:13:43:9A:01:80\t\t\t\t\tnever-activated\n',
    );
  });

  test('a page in place of an answer is no sensor without a license', async () => {
    const service = fakeService();
    service
      .expect('GET /v1/first-activation/?mac_address=00%3A13%3A43%3A9A%3A01%3A7F&app_code=7')
      .reply(404, '<h1>no</h1>');

    const { exitCode, stdout, error } = await run(service, 'first-activation 0013439a017f -o json');

    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
    expect(error?.hint).toContain('the base URL of the profile may be wrong');
  });
});

describe('every shape that the sandbox can take', () => {
  const shapes: readonly (readonly [string, LicenseShape])[] = [
    ['another key field', { keyField: 'key' }],
    ['an empty answer to POST', { write_shape: 'empty' }],
    ['no content after POST', { write_shape: 'no-content' }],
    ['pages', { list_shape: 'pages', page_size: 2 }],
    ['a wrapped list', { list_shape: 'licenses' }],
    ['links to another origin', { list_shape: 'pages', page_size: 2, nextOrigin: 'https://elsewhere.example' }],
    ['a list that takes no notice of filters', { filters: 'ignored' }],
  ];

  test.each(shapes)('%s: create, list, view, edit', async (_what, licenseShape) => {
    const { sandbox, run: runThere } = await openSandbox({ licenseShape });

    const created = await runThere('license create --remote-user ada --size-allowance 4 -q');
    const key = created.stdout.trim();
    const viewed = await runThere(['license', 'view', key, '-q']);
    const listed = await runThere('license list --remote-user ada -q');
    const edited = await runThere(['license', 'edit', key, '--size-allowance', '9', '-q']);

    const [stored] = sandbox.state.licenses().filter(({ remote_user }) => remote_user === 'ada');
    expect([created, viewed, listed, edited].map(({ exitCode, stdout }) => ({ exitCode, stdout }))).toEqual(
      Array.from({ length: 4 }, () => ({ exitCode: 0, stdout: `${stored?.license_code ?? ''}\n` })),
    );
    expect(stored?.size_allowance).toBe(9);
  });
});

describe('no license in the answer to POST: one list finds it', () => {
  test.each([
    ['nothing', ''],
    ['null', 'null'],
    ['an empty object', '{}'],
    ['an empty list', '[]'],
    ['true', 'true'],
    ['a list of two', '["K-1","K-2"]'],
  ])('%s', async (_what, body) => {
    const service = creates(body);
    service.expect('GET /v1/license/K-1/').reply(200, listed[0]);

    const { exitCode, stdout, slept } = await run(service, `${create} -q`);

    service.done();
    expect({ exitCode, stdout, slept }).toEqual({ exitCode: 0, stdout: 'K-1\n', slept: [] });
  });

  test.each([
    ['shows two', ['K-1', 'K-2'].map((license_code) => ({ license_code, remote_user: 'ada' }))],
    ['shows another size', [{ license_code: 'K-1', remote_user: 'ada', size_allowance: 9 }]],
  ])('a list that %s is exit 9', async (_what, rows) => {
    const service = creates('', rows);

    const { exitCode, error } = await run(service, `${create} -o json`);

    service.done();
    expect({ exitCode, code: error?.code, retryable: error?.retryable }).toEqual({
      exitCode: 9,
      code: 'unknown',
      retryable: false,
    });
    expect(error?.hint).toMatch(/^Check before you create again: chatelaine license list /);
  });
});
