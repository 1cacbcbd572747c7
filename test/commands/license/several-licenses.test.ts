import { describe, expect, test } from 'vitest';
import type { LicenseRecord } from '../../../src/sandbox/records.ts';
import type { Sandbox } from '../../helpers/sandbox.ts';
import { linkedClocks, realTime } from '../../helpers/clock.ts';
import { openSandbox, run as runAt, words, type Ran } from '../../helpers/run.ts';
import { fakeService } from '../../helpers/service.ts';

const csv = (names: readonly string[]) => `remote_user,size_allowance\n${names.map((name) => `${name},4\n`).join('')}`;
const named = (count: number) => Array.from({ length: count }, (_, index) => `user-${index}`);

/** The codes that each user has, in their order. */
function codesOf(sandbox: Sandbox, users: readonly string[]): string[][] {
  const licenses = sandbox.state.licenses();
  return users.map((user) =>
    licenses.flatMap(({ remote_user, license_code }) => (remote_user === user ? [license_code] : [])).toSorted(),
  );
}

/** Gives the user of a license another one. */
function add(sandbox: Sandbox, license: LicenseRecord, license_code: string): void {
  sandbox.state.change(({ licenses }) => licenses.put(license_code, { ...license, license_code }));
}

/** The line of the command that retires licenses, without the name of the program. */
function retiring({ lines }: Pick<Ran, 'lines'>): string {
  const [line = ''] = lines.filter((one) => one.trim().startsWith('chatelaine license retire '));
  return line.trim().replace('chatelaine ', '');
}

const row = (license_code: string) => ({ license_code, remote_user: 'ada', app_code: 7, size_allowance: 4 });
const list = 'GET /v1/license/?remote_user=ada&app_code=7';
const post = { method: 'POST', path: '/v1/license/', json: { remote_user: 'ada', size_allowance: 4, app_code: 7 } };

/**
 * A limiter that counts a request after it is carried out: its 429 is taken for a refusal, and the POST is sent again.
 */
function limited() {
  const service = fakeService();
  service.expect(list).reply(200, []);
  service.expect(post).reply(429, { detail: 'throttled' }, { 'retry-after': '0' });
  service.expect(post).reply(201, row('K-1'));
  service.expect(list).reply(200, [row('K-1'), row('K-0')]);
  return service;
}

test.each([
  ['ensure', 'license ensure --remote-user ada --size-allowance 4', ''],
  ['apply', 'license apply - -o csv --fields license_code --no-header', csv(['ada'])],
])('%s: a 429 after the commit, and then 201: both licenses are seen', async (_what, line, stdin) => {
  const service = limited();

  const ran = await runAt(service, line, { stdin });

  expect([ran.exitCode, ran.stdout]).toEqual([10, 'K-1\n']);
  expect(ran.stderr).toContain('warning: 1 user for whom this run created a license has several');
  // K-0 sorts first.
  expect(retiring(ran)).toBe('license retire K-1');
  service.done();
});

test.each([
  ['ensure', 'license ensure --remote-user ada --size-allowance 4', ''],
  ['apply', 'license apply - -o csv --fields license_code --no-header', csv(['ada'])],
])('%s: a POST that is carried out late, after its repeat was sent: both licenses are seen, once', async (...given) => {
  const [, line, stdin] = given;
  const service = fakeService();
  service.expect(list).reply(200, []);
  service.expect(post).fail('ECONNRESET');
  service.expect(list, 6).reply(200, []);
  service.expect(post).reply(201, row('K-2'));
  // It confirms the repeat; then who got two POSTs is looked up once more.
  service.expect(list, 2).reply(200, [row('K-1'), row('K-2')]);

  const ran = await runAt(service, line, { stdin });

  expect([ran.exitCode, ran.stdout]).toEqual([10, 'K-2\n']);
  expect(ran.stderr).toContain('warning: 1 user for whom this run created a license has several');
  expect(retiring(ran)).toBe('license retire K-2');
  service.done();
});

/** A server on which somebody else gives each user another license right after this run did. */
async function shared(count: number) {
  const time = linkedClocks();
  const users = named(count);
  let others = 0;
  const { sandbox, run } = await openSandbox({
    clock: time.sandbox,
    log({ method }) {
      if (method !== 'POST') return;
      for (const license of sandbox.state.licenses().filter(({ remote_user }) => remote_user.startsWith('user-')))
        if (codesOf(sandbox, [license.remote_user])[0]?.length === 1)
          add(sandbox, license, `${++others % 2 === 0 ? '0' : 'Z'}-${others}`);
    },
  });
  return { sandbox, users, run: (line: string, stdin = '') => run(line, { clock: time.client, stdin }) };
}

describe.each([3, 25])('%i users who get another license while the run creates theirs', (count) => {
  test('one line with their number, and the command that leaves each the license whose code sorts first: exit 10', async () => {
    const { sandbox, users, run } = await shared(count);

    const ran = await run('license apply - -o json', csv(users));
    const codes = codesOf(sandbox, users);
    const first = codes.map(([one]) => one);
    expect(codes.every(({ length }) => length === 2)).toBe(true);

    expect(ran.exitCode).toBe(10);
    expect((JSON.parse(ran.stdout) as { status: string }[]).map(({ status }) => status)).toEqual(
      users.map(() => 'created'),
    );
    const warnings = ran.lines
      .filter((line) => line.startsWith('{'))
      .map((line) => (JSON.parse(line) as { warning: string }).warning);
    expect(warnings).toEqual([
      expect.stringContaining(`${count} users for whom this run created a license have several`),
    ]);
    const line = retiring({ lines: warnings[0]?.split('\n') ?? [] });
    expect(words(line).slice(2).toSorted()).toEqual(codes.flatMap(([, ...rest]) => rest).toSorted());
    expect((await run(`${line} -y`)).exitCode).toBe(0);
    expect(codesOf(sandbox, users)).toEqual(first.map((code) => [code]));
  });
});

test('where a row failed too, the run ends with 8, and the doubles are named all the same', async () => {
  const { users, run } = await shared(2);
  const ran = await run('license apply -', csv([...users, 'Clinic-North/Ward-3']));
  expect(ran.exitCode).toBe(8);
  expect(words(retiring(ran)).slice(2)).toHaveLength(2);
});

test('two accounts that apply one roster at once: what they made twice ends one of them with 10', async () => {
  const { sandbox, run } = await openSandbox({ latency: 20 });
  const users = named(24);

  const ran = await Promise.all(
    [0, 1].map(() => run('license apply - -o csv', { stdin: csv(users), clock: realTime })),
  );

  const doubled = codesOf(sandbox, users).flatMap(([, ...rest]) => rest);
  const retired = ran.flatMap((one) => words(retiring(one)).slice(2));
  expect(doubled.length).toBeGreaterThan(0);
  // Of two licenses the later one is seen by the run that created it.
  expect([...new Set(retired)].toSorted()).toEqual(doubled.toSorted());
  expect(ran.map(({ exitCode }) => exitCode)).toEqual(ran.map((one) => (retiring(one) === '' ? 0 : 10)));
});

test('users who had several before are named one by one, and end nothing', async () => {
  const { sandbox, users, run } = await shared(0);
  const [license] = sandbox.state.licenses();
  if (!license) throw new Error('the sample has a license');
  add(sandbox, license, 'TWICE');

  const ran = await run(
    'license apply -',
    csv([license.remote_user, ...users]).replace(',4', `,${license.size_allowance}`),
  );

  expect([ran.exitCode, retiring(ran)]).toEqual([0, '']);
  expect(ran.stderr).toContain('has several licenses in application');
});
