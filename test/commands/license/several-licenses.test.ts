import { describe, expect, test } from 'vitest';
import type { LicenseRecord } from '../../../src/sandbox/records.ts';
import type { Sandbox } from '../../helpers/sandbox.ts';
import { linkedClocks, realTime } from '../../helpers/clock.ts';
import { licensingWorld } from '../../helpers/licensing-world.ts';
import { openSandbox, run as runAt, type Ran } from '../../helpers/run.ts';
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

/** What is said of each user: the last characters of the keys, and no whole one. */
function warnedOf({ stderr }: Pick<Ran, 'stderr'>): string[] {
  return stderr.replaceAll(/\s+/g, ' ').match(/\S+ \(…[^)]*\)/g) ?? [];
}

const row = (license_code: string) => ({ license_code, remote_user: 'ada', app_code: 7, size_allowance: 4 });
const list = 'GET /v1/license/?remote_user=ada&app_code=7';
const post = { method: 'POST', path: '/v1/license/', json: { remote_user: 'ada', size_allowance: 4, app_code: 7 } };

/**
 * A limiter that counts a request after it is carried out: its 429 is taken for a refusal, and the POST is sent again.
 */
function limited(names: readonly string[]) {
  const service = fakeService();
  for (const name of names) service.expect(`GET /v1/license/?remote_user=${name}&app_code=7`).reply(200, []);
  service.expect(post).reply(429, { detail: 'throttled' }, { 'retry-after': '0' });
  service.expect(post).reply(201, row('PRIVATE-1'));
  service.expect(list).reply(200, [row('PRIVATE-1'), row('PRIVATE-0')]);
  return service;
}

test('a 429 after the commit, and then 201: both licenses are seen', async () => {
  const service = limited(['ada', 'ADA', 'Ada']);

  const ran = await runAt(service, 'license ensure --remote-user ada --size-allowance 4');

  expect([ran.exitCode, ran.stdout]).toEqual([11, 'PRIVATE-1\n']);
  expect(ran.stderr).toContain('1 user for whom this run created a license has several');
  expect(warnedOf(ran)).toEqual(['ada (…TE-0, …TE-1)']);
  expect(ran.stderr).not.toMatch(/PRIVATE/);
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
          add(sandbox, license, `${++others % 2 === 0 ? '0' : 'Z'}-PRIVATE-${others}`);
    },
  });
  return { sandbox, users, run: (line: string, stdin = '') => run(line, { clock: time.client, stdin }) };
}

describe.each([3, 25])('%i users who get another license while the run creates theirs', (count) => {
  test('one error with their number, and the last characters of the keys: exit 11', async () => {
    const { sandbox, users, run } = await shared(count);

    const ran = await run('license apply - -o json', csv(users));
    const codes = codesOf(sandbox, users);
    expect(codes.every(({ length }) => length === 2)).toBe(true);

    expect(ran.exitCode).toBe(11);
    expect((JSON.parse(ran.stdout) as { status: string }[]).map(({ status }) => status)).toEqual(
      users.map(() => 'created'),
    );
    expect(ran.error).toMatchObject({
      code: 'several',
      message: expect.stringContaining(
        `${count} users for whom this run created a license have several: user-0 (…`,
      ) as string,
    });
    const ends = codes.map((own) => own.map((code) => `…${code.slice(-4)}`).toSorted());
    const named = users.map((user, at) => `${user} (${ends[at]?.join(', ')})`);
    expect(warnedOf(ran)).toEqual(named.toSorted().slice(0, 20));
    expect(ran.error?.message.includes(' and 5 more')).toBe(count > 20);
    for (const code of codes.flat()) expect(ran.stderr).not.toContain(code);
  });
});

test('where a row failed too, the run ends with 8, and the doubles are named all the same', async () => {
  const { users, run } = await shared(2);
  const ran = await run('license apply -', csv([...users, 'Clinic-North/Ward-3']));
  expect(ran.exitCode).toBe(8);
  expect(warnedOf(ran)).toHaveLength(2);
});

test('two accounts that apply one roster at once: what they made twice ends one of them with 11', async () => {
  const { sandbox, run } = await openSandbox({ latency: 20 });
  const users = named(18);

  const ran = await Promise.all(
    [0, 1].map(() => run('license apply - -o csv', { stdin: csv(users), clock: realTime })),
  );

  const doubled = codesOf(sandbox, users).filter(({ length }) => length > 1);
  expect(doubled.length).toBeGreaterThan(0);
  // Of two licenses the later one is seen by the run that created it.
  expect(new Set(ran.flatMap(warnedOf)).size).toBe(doubled.length);
  expect(ran.map(({ exitCode }) => exitCode)).toEqual(ran.map((one) => (warnedOf(one).length === 0 ? 0 : 11)));
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

  expect([ran.exitCode, warnedOf(ran)]).toEqual([0, []]);
  expect(ran.stderr).toContain('has several licenses in application');
});

test.each([
  [
    'PHYSIO-7731',
    '',
    "warning: the server lists no license of 'PHYSIO-7731', but one of the similar name 'physio-7731'",
  ],
  ['ada', 'GET /*=502', 'warning: the licenses of ada could not be listed: '],
])('license create for %s says before what stands against it, and creates', async (user, fault, said) => {
  const { run, created } = await licensingWorld({}, fault);
  const { stderr } = await run(`license create --remote-user ${user} --size-allowance 2 --retries 0`);
  expect([stderr, created().length]).toEqual([expect.stringContaining(said), 1]);
});
