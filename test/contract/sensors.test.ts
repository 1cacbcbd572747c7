import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyHome, fakeService, run } from '../helpers/run.ts';
import type { FakeService } from '../helpers/service.ts';

const one = '00:13:43:9A:01:7F';
const two = '00:13:43:9A:01:80';
const license = { license_code: 'CD3AE-2B80E', remote_user: 'ada', app_code: 7, size_allowance: 4 };

function plan(service: FakeService, mac: string, body: unknown): void {
  const query = { mac_address: mac, app_code: '7' };
  service.expect({ method: 'GET', path: '/v1/first-activation/', query }).reply(200, body);
}

const strange: readonly (readonly [string, object, string])[] = [
  ['another sensor', { ...license, mac_address: two }, `the sensor ${two} instead of ${one}`],
  ['another application', { ...license, app_code: 8 }, 'the application 8 instead of 7'],
  ['another sensor beside the license', { mac_address: two, license }, `the sensor ${two} instead of ${one}`],
  ['another application beside the license', { app_code: '8', license }, 'the application 8 instead of 7'],
];

test.each(strange)('an answer about %s is no answer: exit 7, and nothing is printed', async (_what, body, said) => {
  const service = fakeService();
  plan(service, one, body);

  const { exitCode, stdout, error } = await run(service, `first-activation ${one} -o json`);

  service.done();
  expect({ exitCode, stdout, message: error?.message }).toEqual({
    ...{ exitCode: 7, stdout: '' },
    message: `the licensing API returned ${said}: this response is not used`,
  });
});

test.each([...strange, ['an error', { error: 'x' }, '200 with an error: error: x']] as typeof strange)(
  'of several sensors, an answer about %s is an error row: exit 8',
  async (_what, body, said) => {
    const service = fakeService();
    plan(service, one, body);
    plan(service, two, { ...license, mac_address: '0013439a0180' });

    const { exitCode, stdout, error } = await run(service, `first-activation ${one} ${two} -o json`);

    service.done();
    expect(exitCode).toBe(8);
    expect(JSON.parse(stdout)).toMatchObject([
      { mac_address: one, status: 'error', error: expect.stringContaining(said) as string },
      { mac_address: two, remote_user: 'ada', status: 'activated' },
    ]);
    const lost = `1 of 2 sensors could not be looked up (${one}):\n  the licensing API returned ${said}`;
    expect(error?.message).toContain(lost);
  },
);

test.each(strange)('the audit does not say ok of an answer about %s', async (_what, body, said) => {
  const service = fakeService();
  const home = emptyHome();
  writeFileSync(join(home, 'sensors.csv'), `mac_address,remote_user\n${one},ada\n${two},ada\n`);
  plan(service, one, body);
  plan(service, two, license);

  const { exitCode, stdout } = await run(
    service,
    `first-activation audit ${join(home, 'sensors.csv')} --concurrency 1 -o json`,
    { home },
  );

  service.done();
  expect(exitCode).toBe(8);
  expect(JSON.parse(stdout)).toMatchObject([
    { mac_address: one, status: 'error', error: expect.stringContaining(said) as string },
    { mac_address: two, status: 'ok' },
  ]);
});

test.each([
  ['in other digits', { ...license, mac_address: '00-13-43-9a-01-7f' }],
  ['without separators', { ...license, mac_address: '0013439A017F' }],
  ['an application as a text', { ...license, app_code: '7' }],
  ['neither', { license_code: 'CD3AE-2B80E', remote_user: 'ada' }],
])('the same sensor, %s, is an answer', async (_what, body) => {
  const service = fakeService();
  plan(service, one, body);

  const { exitCode } = await run(service, `first-activation ${one} -o json`);

  service.done();
  expect(exitCode).toBe(0);
});

test('an identifier that is no MAC is sent as typed with CHATELAINE_MAC_FORMAT beside the unit', async () => {
  const service = fakeService();
  plan(service, 'string', { ...license, mac_address: 'string' });
  plan(service, 'a-b', { ...license, mac_address: 'ab' });

  const env = { CHATELAINE_MAC_FORMAT: 'as_is' };
  const { exitCode, stdout } = await run(service, 'first-activation string a-b -o json', { env });

  service.done();
  expect(exitCode).toBe(8);
  expect(JSON.parse(stdout)).toMatchObject([{ status: 'activated' }, { mac_address: 'a-b', status: 'error' }]);
});

test('without it, the error names it', async () => {
  const { exitCode, error } = await run(fakeService(), 'first-activation string -o json');

  expect({ exitCode, message: error?.message }).toEqual({ exitCode: 2, message: "'string' is not a sensor address" });
  expect(error?.hint).toContain('CHATELAINE_MAC_FORMAT=as_is');
});

test('alone it is a part of a credential: exit 3', async () => {
  const { exitCode, error } = await run(fakeService(), 'first-activation string -o json', {
    bare: true,
    env: { CHATELAINE_MAC_FORMAT: 'as_is' },
  });

  expect(exitCode).toBe(3);
  expect(error?.message).toContain('CHATELAINE_BASE_URL');
});
