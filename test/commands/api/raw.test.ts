import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { emptyHome, fakeService, openSandbox, run, runAlone } from '../../helpers/run.ts';
import { keys } from '../../helpers/service.ts';

const odd = '{ "id" : 12345678901234567890,\t"a":1.50 }\n\n';

test('the answer is printed untouched, whatever -o says', async () => {
  for (const others of ['', '-o json', '-o csv', '-q']) {
    const service = fakeService();
    service.expect({ method: 'GET', path: '/v1/license/', query: { remote_user: 'ada', n: '1' } }).reply(200, odd);
    const line = `api licensing GET license/ -f remote_user=ada -F n=1 ${others}`;
    expect(await run(service, line)).toMatchObject({ exitCode: 0, stdout: odd, stderr: '' });
    service.done();
  }
});

test.each([
  '--no-input api licensing POST license/ --input -',
  'api --no-input licensing POST license/ --input -',
  'api licensing --no-input POST license/ --input -',
  'api licensing POST license/ --input - --no-input',
  'api licensing POST --no-input license/ --input -',
])('%s: --no-input leaves --input alone', async (line) => {
  const service = fakeService();
  service.expect({ method: 'POST', path: '/v1/license/', json: { a: 1 } }).reply(200, '{}');
  expect(await run(service, line, { stdin: '{"a":1}' })).toMatchObject({ exitCode: 0, stdout: '{}', stderr: '' });
  service.done();
});

test('on a terminal control characters are shown as escapes', async () => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, 'a\u001b[31m\n');
  expect((await run(service, 'api licensing GET license/', { tty: true })).stdout).toBe('a\\x1b[31m\n');
});

test('--jq filters the text of the answer', async () => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, odd);
  expect((await run(service, 'api licensing GET license/ --jq .id,.a')).stdout).toBe('12345678901234567890\n1.50\n');
});

test.each([
  ['licensing', 'POST license/ -f remote_user=ada -F app_code=7', 'json', { remote_user: 'ada', app_code: 7 }],
  ['licensing', 'patch license/4f1c9a/ -F n=12345678901234567', 'body', '{"n":12345678901234567}'],
  ['chat', 'PATCH settings -f status=a&b -F enter_sends=true', 'form', { status: 'a&b', enter_sends: 'true' }],
  ['chat', 'DELETE saved_snippets/3', 'body', undefined],
])('%s %s carries its parameters in the body', async (service, words, kind, value) => {
  const fake = fakeService();
  const [method = '', path = ''] = words.split(' ');
  const prefix = service === 'chat' ? '/api/v1/' : '/v1/';
  const headers = kind === 'body' && value !== undefined ? { 'content-type': 'application/json' } : undefined;
  fake
    .expect({
      method: method.toUpperCase(),
      path: prefix + path,
      ...(value === undefined ? {} : { [kind]: value }),
      ...(headers ? { headers } : {}),
    })
    .reply(200, '{}');
  expect(await run(fake, `api ${service} ${words}`)).toMatchObject({ exitCode: 0, stdout: '{}', stderr: '' });
  fake.done();
});

test.each([
  ['licensing', 'POST', 'license/', 'application/json', '\ufeff{ "remote_user": "ada" }\r\n'],
  ['licensing', 'POST', 'license/', 'application/json', 'no JSON\n'],
  ['chat', 'PATCH', 'settings', 'application/x-www-form-urlencoded', 'status=a+b&status=%20\n'],
])('api %s %s %s --input is sent byte for byte as %s: %j', async (api, method, at, type, text) => {
  const bytes = Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0x00, 0x0d, 0x0a])]);
  const bodies: Buffer[] = [];
  const types: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    types.push(request.headers['content-type']);
    void buffer(request).then((body) => {
      bodies.push(body);
      response.end('{}');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const home = emptyHome();
  writeFileSync(join(home, 'body'), bytes);
  const url = `http://127.0.0.1:${port}`;
  const env = { CHATELAINE_BASE_URL: url, CHATELAINE_CHAT_SITE: url };
  const words = ['api', api, method, at, '--input', join(home, 'body')];

  expect((await runAlone(words, { env: { ...keys, ...env } })).exitCode).toBe(0);

  expect({ types, bodies }).toEqual({ types: [type], bodies: [bytes] });
});

test('--input is the body, from a file or standard input', async () => {
  const home = emptyHome();
  writeFileSync(join(home, 'body.json'), '{ "remote_user": "ada" }\n');
  const service = fakeService();
  service.expect({ method: 'POST', path: '/v1/license/', json: { remote_user: 'ada' } }).reply(201, 'x');
  service
    .expect({
      method: 'PATCH',
      path: '/api/v1/settings',
      body: 'status=a+b\n',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    .reply(200, 'y');
  await run(service, ['api', 'licensing', 'POST', 'license/', '--input', join(home, 'body.json')]);
  const { stdout } = await run(service, 'api chat PATCH settings --input -', { stdin: 'status=a+b\n' });
  expect(stdout).toBe('y');
  service.done();
});

test('--include prints status and headers before the answer', async () => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, '[]', { 'x-a': '1' });
  const { stdout } = await run(service, 'api licensing GET license/ --include');
  expect(stdout).toMatch(/^HTTP\/1\.1 200\r\n(.*\r\n)*x-a: 1\r\n(.*\r\n)*\r\n\[\]$/);
});

test.each([
  ['licensing', 'GET license/x/', 404, '{"detail":"Not found."}', 5],
  ['licensing', 'GET license/', 404, '{"detail":"Not found."}', 6],
  ['licensing', 'GET license/', 401, '{"detail":"no"}', 4],
  ['licensing', 'POST license/', 400, '{"size_allowance":["bad"]}', 6],
  ['licensing', 'POST license/', 500, 'oops', 9],
  ['licensing', 'GET license/', 500, 'oops', 7],
  ['licensing', 'GET license/', 200, '{"error":"no"}', 0],
  ['licensing', 'GET license/', 302, '', 6],
  ['chat', 'GET messages', 400, '{"result":"error","msg":"no","code":"BAD_REQUEST"}', 6],
  ['chat', 'GET nothing', 404, '<html>no</html>', 6],
  ['licensing', 'DELETE license/x/', 503, 'busy', 9],
  ['chat', 'PATCH x', 503, 'busy', 9],
])('%s %s answered with %i prints the body and ends with its exit code', async (api, words, status, body, code) => {
  const service = fakeService();
  const [method = '', path = ''] = words.split(' ');
  service.expect({ method, path: (api === 'chat' ? '/api/v1/' : '/v1/') + path }).reply(status, body);
  const { exitCode, stdout, stderr } = await run(service, `api ${api} ${words}`);
  expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: body });
  expect(stderr === '').toBe(code === 0);
});

test.each([
  ['licensing', 'licenses/', '{"detail":"Not found."}', '/v1/licenses/'],
  ['licensing', 'license/x/y/', '<h1>no</h1>', '/v1/license/[license_code]/[license_code]/'],
  ['chat', 'nothing', '<html>no</html>', '/api/v1/nothing'],
])('%s: a 404 of the path %s blames the path', async (api, path, body, shown) => {
  const service = fakeService();
  service.expect({ method: 'GET', path: (api === 'chat' ? '/api/v1/' : '/v1/') + path }).reply(404, body);
  const { stderr } = await run(service, `api ${api} GET ${path}`);
  expect(stderr).toContain(`the server has nothing at ${shown} (404)`);
  expect(stderr).toContain('Check the path;');
});

test('under --jq a refusal is not filtered', async () => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(400, '{"detail":"no"}');
  expect(await run(service, 'api licensing GET license/ --jq .[0]')).toMatchObject({ exitCode: 6, stdout: '' });
});

test('a GET and a change of a license are repeated, a POST only where no connection was made', async () => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(503, '');
  service.expect('GET /v1/license/').reply(200, '[]');
  service.expect({ method: 'POST', path: '/v1/license/' }).fail('ECONNREFUSED');
  service.expect({ method: 'POST', path: '/v1/license/' }).fail('ECONNRESET');
  expect(await run(service, 'api licensing GET license/')).toMatchObject({ exitCode: 0, stdout: '[]' });
  expect(await run(service, 'api licensing POST license/')).toMatchObject({ exitCode: 9, stdout: '' });
  for (const method of ['PUT', 'PATCH']) {
    for (const status of [503, 200]) service.expect({ method, path: '/v1/license/x/' }).reply(status, '{}');
    expect(await run(service, `api licensing ${method} license/x/`)).toMatchObject({ exitCode: 0, stdout: '{}' });
  }
  service.done();
});

test('--paginate follows the pages of a list on our own origin', async () => {
  const service = fakeService();
  const next = 'https://evil.test/elsewhere?page=2';
  service.expect({ method: 'GET', path: '/v1/license/', query: { a: '1' } }).reply(200, { results: [1], next });
  service
    .expect({ method: 'GET', path: '/v1/license/', query: { page: '2' } })
    .reply(200, { results: [2], next: null });
  const { exitCode, stdout } = await run(service, 'api licensing GET license/?a=1 --paginate --jq .results[]');
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '1\n2\n' });
  service.done();
});

test.each([
  ['a path', '/v1/license/page/2/', '/v1/license/page/2/'],
  ['a path with a query', '/v1/license/page/2?size=9', '/v1/license/page/2?size=9'],
  ['a URL of our own', 'https://licenses.test/v1/license/page/2/', '/v1/license/page/2/'],
  ['a path of another folder, with a query', '/behind/license/?page=2', '/v1/license/?page=2'],
])('--paginate follows a next that is %s', async (_what, next, path) => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, { results: [1], next });
  service.expect({ method: 'GET', path }).reply(200, { results: [2], next: null });
  const { exitCode, stdout } = await run(service, 'api licensing GET license/ --paginate');
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^\{"results":\[1\].*\{"results":\[2\],"next":null\}$/);
  service.done();
});

test.each([
  ['a cursor', { next_cursor: 'c2' }],
  ['a number', { next_page: 2 }],
  ['a flag', { has_more: true }],
  ['a path outside the API', { next: '/login' }],
  ['a path that climbs out', { next: '/v1/license/%2e%2e/%2e%2e/login' }],
  ['a path of another origin', { next: 'https://evil.test/v1/license/page/2/' }],
])('--paginate ends with 8 after a page whose next is %s', async (_what, end) => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, { results: [1], ...end });
  const { exitCode, stdout } = await run(service, 'api licensing GET license/ --paginate');
  expect({ exitCode, stdout }).toEqual({ exitCode: 8, stdout: JSON.stringify({ results: [1], ...end }) });
  service.done();
});

test.each([
  ['a page that fails', 500, 'oops', '{"next":"?page=2"}oops'],
  ['a page that was read before', 200, { next: '?page=2' }, '{"next":"?page=2"}{"next":"?page=2"}'],
])('%s ends --paginate with exit 8', async (_what, status, body, wanted) => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, { next: '?page=2' });
  service.expect({ method: 'GET', path: '/v1/license/', query: { page: '2' } }).reply(status, body);
  const { exitCode, stdout, stderr } = await run(service, 'api licensing GET license/ --paginate');
  expect({ exitCode, stdout }).toEqual({ exitCode: 8, stdout: wanted });
  expect(stderr).toMatch(/: the list ends after 1 page: |: the server names a next page that was read before/);
  service.done();
});

test.each([
  'api licensing GET https://evil.test/v1/license/',
  'api licensing GET //evil.test/license/',
  'api chat GET %2e%2e/%2e%2e/login',
  'api chat HEAD messages',
  'api chat GET messages --input body.json',
  'api chat POST messages --input body.json -f a=b',
  'api chat GET messages -f =b',
  'api chat GET messages -F a=[',
  'api licensing POST license/ -f a=b -F a=1',
  'api licensing POST license/ --paginate',
  'api chat GET messages --paginate',
  'api licensing GET license/ --fields a',
  'api licensing GET license/ --include --jq .',
])('%s is exit 2, and nothing is sent', async (line) => {
  const service = fakeService();
  expect(await run(service, line)).toMatchObject({ exitCode: 2, stdout: '' });
  expect(service.seen).toEqual([]);
});

test('a dry run prints the request of a write, without its passwords', async () => {
  const service = fakeService();
  const line = 'api chat PATCH settings -f old_password=hunter2-hunter2 -f status=a -n -o json';
  const { exitCode, stdout } = await run(service, line);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ method: 'PATCH', url: 'https://chat.test/api/v1/settings' }]);
  expect(stdout).not.toContain('hunter2');
  expect(service.seen).toEqual([]);
});

test('a trace shows neither a key nor a license code', async () => {
  const service = fakeService();
  service.expect('GET /v1/license/4f1c9a-code/').reply(200, { license_code: '4f1c9a-code' });
  const { stderr } = await run(service, 'api licensing GET license/4f1c9a-code/ --trace');
  expect(stderr).toContain('/v1/license/[license_code]/');
  expect(stderr).not.toMatch(/4f1c9a|licensing-key/);
  service.expect('GET /api/v1/bots').reply(200, { bots: [{ api_key: '4f1c9a-key' }] });
  const bots = await run(service, 'api chat GET bots --trace');
  expect([bots.stdout, bots.stderr].map((text) => text.includes('4f1c9a-key'))).toEqual([true, false]);
});

test('a read-only profile reads and writes nothing', async () => {
  const { run: against, env } = await openSandbox();
  const home = emptyHome();
  const login = ['auth', 'login', 'licensing', '--base-url', env['CHATELAINE_BASE_URL'] ?? '', '--app-code', '4711'];
  const stdin = `${env['CHATELAINE_API_KEY'] ?? ''}\n`;
  await against([...login, '--api-key-stdin', '--read-only'], { home, bare: true, stdin });
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    expect(await against(`api licensing ${method} license/`, { home, bare: true })).toMatchObject({
      exitCode: 3,
      stdout: '',
    });
  expect((await against('api licensing GET license/', { home, bare: true })).exitCode).toBe(0);
});
