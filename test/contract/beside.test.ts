import { expect, test } from 'vitest';
import { fakeService, run, type Ran } from '../helpers/run.ts';
import { expectNobody } from '../helpers/nobody.ts';
import type { FakeService } from '../helpers/service.ts';

const code = 'CD3AE-2B80E-1662B-2FCA2';
const license = { license_code: code, remote_user: 'ada', app_code: 7, size_allowance: 4 };
const path = `/v1/license/${code}/`;
const sensor = { path: '/v1/first-activation/?mac_address=00%3A13%3A43%3A9A%3A01%3A7F&app_code=7', method: 'GET' };

async function printed(service: FakeService, line: string): Promise<unknown> {
  const { exitCode, stdout } = await run(service, `${line} -o json`);
  service.done();
  expect(exitCode).toBe(0);
  return JSON.parse(stdout) as unknown;
}

test('what stands beside the license of a first activation is printed after its fields', async () => {
  const service = fakeService();
  service.expect(sensor).reply(200, { activated_at: '2026-02-01T08:00:00Z', activation_count: 3, license });

  expect(await printed(service, 'first-activation 00:13:43:9A:01:7F')).toEqual([
    {
      mac_address: '00:13:43:9A:01:7F',
      ...license,
      activated_at: '2026-02-01T08:00:00Z',
      activation_count: 3,
      status: 'activated',
    },
  ]);
});

test('what stands beside a license that is viewed is printed after its fields; the same name is kept as server_NAME', async () => {
  const service = fakeService();
  const outer = { app_code: 9, note: 'outer', activations: [{ at: 1 }] };
  service.expect({ method: 'GET', path }).reply(200, { ...outer, license: { ...license, note: 'inner' } });

  const result = await printed(service, `license view ${code}`);

  expect(JSON.stringify(result)).toBe(
    JSON.stringify({ ...license, note: 'inner', server_app_code: 9, server_note: 'outer', activations: [{ at: 1 }] }),
  );
});

test('a list whose rows wrap their licenses shows what stands beside them, as columns too', async () => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, [{ activation_count: 3, license }]);

  const { stdout } = await run(service, 'license list -o tsv');

  service.done();
  expect(stdout).toBe(`license_code\tremote_user\tapp_code\tsize_allowance\tactivation_count\n${code}\tada\t7\t4\t3\n`);
});

/** A server whose license has fields of the names that this program adds. */
const ownNames = { status: 'active', change: 'none', size_allowance_before: 2, remote_user_before: 'eve' };
const named = { ...license, ...ownNames };
const kept = { ...license, server_status: 'active', change: 'none' };

const user = { method: 'GET', path: '/v1/license/?remote_user=ada&app_code=7' } as const;
const patch = (json: object) => ({ method: 'PATCH', path, json });

const cases: Record<string, readonly [line: string, plan: (service: FakeService) => void, prints: unknown]> = {
  edit: [
    `license edit ${code} --size-allowance 6`,
    (service) => {
      service.expect({ method: 'GET', path }, 2).reply(200, named);
      service.expect(patch({ size_allowance: 6 })).reply(200, { ...named, size_allowance: 6 });
    },
    {
      ...{ ...kept, size_allowance: 6, server_size_allowance_before: 2, remote_user_before: 'eve' },
      ...{ size_allowance_before: 4, status: 'changed' },
    },
  ],
  ensure: [
    'license ensure --remote-user ada --size-allowance 6',
    (service) => {
      service.expect(user).reply(200, [named]);
      service.expect(patch({ size_allowance: 6 })).reply(200, { ...named, size_allowance: 6 });
      service.expect({ method: 'GET', path }).reply(200, named);
    },
    {
      ...{ ...kept, size_allowance: 6, server_size_allowance_before: 2, remote_user_before: 'eve' },
      ...{ size_allowance_before: 4, status: 'resized' },
    },
  ],
  rename: [
    'license rename ada bob --allow-duplicate',
    (service) => {
      service.expect(user).reply(200, [named]);
      service.expect({ method: 'GET', path }).reply(200, named);
      service.expect(patch({ remote_user: 'bob' })).reply(200, { ...named, remote_user: 'bob' });
    },
    [
      {
        ...{ ...kept, remote_user: 'bob', size_allowance_before: 2, server_remote_user_before: 'eve' },
        ...{ remote_user_before: 'ada', status: 'changed' },
      },
    ],
  ],
  retire: [
    `license retire ${code}`,
    (service) => {
      const left = 'left-2026-03-ada-FCA2';
      service.expect({ method: 'GET', path }, 2).reply(200, named);
      service
        .expect(patch({ remote_user: left, size_allowance: 1 }))
        .reply(200, { ...named, remote_user: left, size_allowance: 1 });
    },
    [
      {
        ...{ ...kept, remote_user: 'left-2026-03-ada-FCA2', size_allowance: 1 },
        ...{ server_size_allowance_before: 2, server_remote_user_before: 'eve' },
        ...{ remote_user_before: 'ada', size_allowance_before: 4, status: 'retired' },
      },
    ],
  ],
  'first-activation': [
    'first-activation 00:13:43:9A:01:7F',
    (service) => service.expect(sensor).reply(200, { ...named, mac_address: '0013439a017f' }),
    [
      {
        ...{ mac_address: '00:13:43:9A:01:7F', ...kept, size_allowance_before: 2, remote_user_before: 'eve' },
        ...{ server_mac_address: '0013439a017f', status: 'activated' },
      },
    ],
  ],
};

test.each(Object.keys(cases))('%s keeps fields of the server under names of its own as server_NAME', async (name) => {
  const [line, plan, prints] = cases[name] ?? ['', () => undefined, undefined];
  const service = fakeService();
  plan(service);

  expect(await printed(service, line)).toEqual(prints);
});

test.each(['csv', 'tsv', 'ndjson', 'yaml', 'table'])('-o %s and --fields have both', async (format) => {
  const service = fakeService();
  cases['edit']?.[1](service);

  const { stdout } = await run(
    service,
    `license edit ${code} --size-allowance 6 --fields status,server_status -o ${format}`,
  );

  service.done();
  expect(stdout).toMatch(/changed/);
  expect(stdout).toMatch(/active/);
});

test('create prints the status of the server, and its summary the outcome', async () => {
  const service = fakeService();
  expectNobody(service);
  service
    .expect({ method: 'POST', path: '/v1/license/', json: { remote_user: 'ada', app_code: 7, size_allowance: 4 } })
    .reply(201, named);
  service.expect(user).reply(200, [named]);

  const result: Ran = await run(service, 'license create --remote-user ada --size-allowance 4 --fields status -o csv');

  service.done();
  expect(result.stdout).toBe('status\nactive\n');
});
