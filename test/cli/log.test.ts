import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyHome, fakeService, run } from '../helpers/run.ts';
import { needs } from '../helpers/needs.ts';

const url = 'https://licenses.test/v1/license/';

test('requests, answers and waits are lines of JSON, the same with the twin of the option', async () => {
  const home = emptyHome();
  const log = join(home, 'run.ndjson');
  const service = fakeService();
  service.expect('GET /v1/license/', 1).reply(503, '');
  service.expect('GET /v1/license/', 1).reply(429, '', { 'retry-after': '2' });
  service.expect('GET /v1/license/', 1).fail('ECONNRESET');
  service.expect('GET /v1/license/', 1).reply(200, []);
  const { exitCode } = await run(service, 'license list', { home, env: { CHATELAINE_LOG: log } });
  expect(exitCode).toBe(0);

  const about = { method: 'GET', url };
  const time = expect.stringMatching(/^2026-03-01T12:00:\d\d\.\d{3}Z$/) as string;
  const request = (attempt: number): object => ({ time, event: 'request', ...about, attempt });
  const answer = (attempt: number, status: number): object => ({
    time,
    event: 'answer',
    ...about,
    attempt,
    status,
    took_ms: 0,
  });
  const wait = (why: string): object => ({ time, event: 'wait', ...about, wait_ms: expect.any(Number) as number, why });
  expect(linesOf(log)).toEqual([
    request(1),
    answer(1, 503),
    wait('retry 1 of 5'),
    request(2),
    answer(2, 429),
    { ...wait('the server asks to wait (429)'), wait_ms: 2075 },
    request(3),
    { time, event: 'trouble', ...about, attempt: 3, message: expect.stringContaining('licenses.test') as string },
    wait('retry 2 of 5'),
    request(4),
    answer(4, 200),
  ]);
});

test('a log holds neither a key nor a license code, and grows from run to run', async () => {
  const home = emptyHome();
  const log = join(home, 'run.ndjson');
  for (const line of ['license view 4f1c9a-secret-code', 'license view 4f1c9a-secret-code --trace -v']) {
    const service = fakeService();
    service
      .expect('GET /v1/license/4f1c9a-secret-code/')
      .reply(200, { license_code: '4f1c9a-secret-code', remote_user: 'a' });
    await run(service, `${line} --log ${log}`, { home });
    service.done();
  }
  const text = readFileSync(log, 'utf8');
  expect(linesOf(log)).toHaveLength(4);
  expect(text).toContain('/v1/license/[license_code]/');
  expect(text).not.toMatch(/4f1c9a|licensing-key/);
});

test(
  'a new log is for its owner alone; one that is there keeps the mode that somebody gave it',
  needs('modes'),
  async () => {
    const home = emptyHome();
    for (const mode of [undefined, 0o644]) {
      const log = join(home, `${mode ?? 'new'}.ndjson`);
      if (mode !== undefined) writeFileSync(log, '{}\n');
      if (mode !== undefined) chmodSync(log, mode);
      const service = fakeService();
      service.expect('GET /v1/license/').reply(200, []);
      await run(service, `license list --log ${log}`, { home });
      expect(statSync(log).mode & 0o777).toBe(mode ?? 0o600);
    }
  },
);

test('a log that cannot be written is exit 3, and nothing is sent', async () => {
  const home = emptyHome();
  mkdirSync(join(home, 'folder'));
  for (const file of ['folder', 'nowhere/run.ndjson']) {
    const service = fakeService();
    const { exitCode, stderr } = await run(service, `license list --log ${join(home, file)}`, { home });
    expect(exitCode).toBe(3);
    expect(stderr).toContain(`cannot write the log ${join(home, file)}`);
    expect(service.seen).toEqual([]);
  }
});

test('a log that is a link is exit 3, and what it leads to is unchanged', needs('modes'), async () => {
  // Not below /dev, where links to streams are followed, and TMPDIR may be.
  const home = emptyHome('/tmp');
  writeFileSync(join(home, 'other'), 'kept\n');
  symlinkSync(join(home, 'other'), join(home, 'log'));
  const service = fakeService();
  const { error } = await run(service, `license list -o json --log ${join(home, 'log')}`, { home });
  expect(error).toMatchObject({
    exit: 3,
    message: `cannot write the log ${join(home, 'log')}: it is a symbolic link`,
    hint: 'Name the file that it leads to.',
  });
  expect(readFileSync(join(home, 'other'), 'utf8')).toBe('kept\n');
});

test('a log that fills its disk is given up with a warning', needs('devices'), async () => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, []);
  const { exitCode, stderr } = await run(service, 'license list --log /dev/full');
  expect(exitCode).toBe(0);
  expect(stderr.match(/the log \/dev\/full ends here/g)).toHaveLength(1);
  service.done();
});

test('a dry run logs no request that it does not send', async () => {
  const home = emptyHome();
  const log = join(home, 'run.ndjson');
  const service = fakeService();
  await run(service, `api licensing POST license/ -f remote_user=ada -n --log ${log}`, { home });
  expect(readFileSync(log, 'utf8')).toBe('');
});

function linesOf(file: string): unknown[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
}

test('- is no file of that name: exit 2, and nothing is sent', async () => {
  const service = fakeService();
  const { exitCode, error } = await run(service, 'license list --log - -o json');
  expect([exitCode, error?.message]).toEqual([2, "--log: '-' names no file to write"]);
  service.done();
});
