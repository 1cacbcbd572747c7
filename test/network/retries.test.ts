import { describe, expect, test } from 'vitest';
import { realAlarm, realClock } from '../../src/cli/clock.ts';
import type { Clock } from '../../src/core/system.ts';
import { alarmByHand, sleptClock } from '../helpers/clock.ts';
import { expectNobody } from '../helpers/nobody.ts';
import { openOrigin, type Origin, type Respond } from '../helpers/origin.ts';
import { fakeService, run, runAlone, type Ran, type RunOptions } from '../helpers/run.ts';

/** Real time in which a backoff is short. */
const hasty: Clock = { ...realClock, random: () => 0.01 };

const license = { body: '{"license_code":"A","remote_user":"a"}' };

async function runAt(respond: Respond, line: string, options: RunOptions = {}): Promise<{ ran: Ran; origin: Origin }> {
  const origin = await openOrigin(respond);
  const env = {
    CHATELAINE_BASE_URL: `http://127.0.0.1:${origin.port}`,
    CHATELAINE_API_KEY: 'licensing-key-1',
    CHATELAINE_APP_CODE: '7',
    CHATELAINE_CHAT_SITE: `http://127.0.0.1:${origin.port}`,
    CHATELAINE_CHAT_EMAIL: 'ada@chat.test',
    CHATELAINE_CHAT_API_KEY: 'chat-key-1',
  };
  return { ran: await runAlone(`${line} -o json`, { ...options, env: { ...env, ...options.env } }), origin };
}

const busy = { status: 503, body: 'busy' };
const limited = (wait: string): ReturnType<Respond> => ({
  status: 429,
  headers: { 'retry-after': wait },
  body: '{"detail":"slow down"}',
});

describe('--retries', () => {
  test.each([
    ['', {}, 6],
    ['--retries 0', {}, 1],
    ['', { CHATELAINE_RETRIES: '1' }, 2],
    ['--retries 3', { CHATELAINE_RETRIES: '1' }, 4],
  ])('"%s" %j', async (option, env, requests) => {
    const { ran, origin } = await runAt(() => busy, `license list ${option}`, { env });
    expect({ exit: ran.exitCode, requests: origin.seen.length }).toEqual({ exit: 7, requests });
  });

  test('the waits grow from half a second, each by chance between nothing and its most', async () => {
    const { ran } = await runAt(() => busy, 'license list --retries 8');
    const most = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];
    expect(ran.slept).toHaveLength(8);
    expect(ran.slept.filter((span, index) => span < 0 || span > (most[index] ?? 0))).toEqual([]);
  });

  test('a 429 is no failure that counts', async () => {
    const { ran, origin } = await runAt(
      (_request, count) => (count < 5 ? limited('0.01') : {}),
      'license list --retries 1',
    );
    expect({ exit: ran.exitCode, requests: origin.seen.length }).toEqual({ exit: 0, requests: 5 });
  });

  test('with none, a 429 is reported at once, and never with more than the server asks for', async () => {
    const { ran, origin } = await runAt(() => limited('2'), 'license list --retries 0');
    expect(ran.error).toMatchObject({
      ...{ exit: 7, retryable: true },
      message: 'the server asks to wait 3s before the next request (429)',
    });
    expect(origin.seen).toHaveLength(1);
    const { ran: last } = await runAt(() => limited('2'), 'license list -v');
    expect(last.error?.message).toBe('the server asks to wait 3s before the next request (429)');
    expect(last.stderr.match(/the server asks to wait \(429\)/g)).toHaveLength(3);
  });
});

test.each([429, 503])('a wait that a %i asks for is said, and not that an answer is missing', async (status) => {
  const { alarm, ring } = alarmByHand(10_000);
  const clock = sleptClock();
  const sleep: Clock['sleep'] = async (...how) => {
    ring();
    await clock.sleep(...how);
  };
  const respond: Respond = (_request, count) => (count === 1 ? { ...limited('47.1'), status } : {});
  const { ran } = await runAt(respond, 'license list', { alarm, clock: { ...clock, sleep } });
  expect(ran.stderr).toBe(`the server asks to wait 48 s (${status})\n`);
});

/** Of a server whose clock is a day behind. */
const skewed = { date: 'Sat, 28 Feb 2026 12:00:00 GMT', 'retry-after': 'Sat, 28 Feb 2026 12:00:09 GMT' };

describe('what a 503 asks for', () => {
  test.each([
    ['9', '', 9000],
    ['soon', '', 0],
    ['150', '--deadline 200s', 150_000],
  ])('%s s with "%s" is waited for', async (wait, option, least) => {
    const respond: Respond = (_request, count) => (count === 1 ? { ...busy, headers: { 'retry-after': wait } } : {});
    const { ran } = await runAt(respond, `license list ${option}`);
    expect({ exit: ran.exitCode, waits: ran.slept.length }).toEqual({ exit: 0, waits: 1 });
    expect(ran.slept[0]).toBeGreaterThanOrEqual(least);
    expect(ran.slept[0]).toBeLessThanOrEqual(Math.max(least, 500));
  });

  test('a date counts from the clock of the server', async () => {
    const { ran } = await runAt((_request, count) => (count === 1 ? { ...busy, headers: skewed } : {}), 'license list');
    expect(ran.slept).toEqual([9000]);
  });

  test.each([
    ['300', '', '5m'],
    ['6', '--deadline 5s', '6s'],
  ])('%s s with "%s" is not begun', async (wait, option, named) => {
    const { ran, origin } = await runAt(
      () => ({ ...busy, headers: { 'retry-after': wait } }),
      `license list ${option}`,
    );
    expect(ran.error).toMatchObject({
      exit: 7,
      message: `the server asks to wait ${named} before the next request (503)`,
      http: { status: 503 },
    });
    expect(origin.seen).toHaveLength(1);
  });

  test('what its five requests ask for adds up to two minutes at most', async () => {
    const respond: Respond = () => ({ ...busy, headers: { 'retry-after': '50' } });
    const { ran } = await runAt(respond, 'license list');
    expect({ exit: ran.exitCode, slept: ran.slept }).toEqual({ exit: 7, slept: [50_000, 50_000] });
    const { ran: last } = await runAt(respond, 'license list --retries 2');
    expect(last.error?.message).not.toContain('asks to wait');
  });
});

describe('what a 429 asks for', () => {
  test.each([
    ['nothing', {}, '{}', 1000, 2000],
    ['a page', {}, '<html>slow down</html>', 1000, 2000],
    ['both: the longer', { 'retry-after': '0.1' }, '{"retry-after":0.3}', 300, 500],
    ['a date', { date: '', 'retry-after': new Date(Date.UTC(2026, 2, 1, 12, 0, 9)).toUTCString() }, '{}', 9000, 9200],
    ['a date of a server with another clock', skewed, '{}', 9000, 9200],
    ['120 s, the longest that is waited for', { 'retry-after': '119.925' }, '{}', 120_000, 120_000],
  ])('%s', async (_what, headers, body, least, most) => {
    const { ran } = await runAt(
      (_request, count) => (count === 1 ? { status: 429, headers, body } : {}),
      'license list',
    );
    expect({ exit: ran.exitCode, waits: ran.slept.length }).toEqual({ exit: 0, waits: 1 });
    expect(ran.slept[0]).toBeGreaterThanOrEqual(least);
    expect(ran.slept[0]).toBeLessThanOrEqual(most);
  });

  test.each([
    ['121', '', '2m2s'],
    ['6', '--deadline 5s', '7s'],
  ])('%s s with "%s" is not begun', async (wait, option, named) => {
    const { ran, origin } = await runAt(() => limited(wait), `license list ${option}`);
    expect(ran.error).toMatchObject({
      code: 'unavailable',
      exit: 7,
      message: `the server asks to wait ${named} before the next request (429)`,
      hint: `Run the command again after that, or give --deadline more than ${named}.`,
      retryable: true,
    });
    expect({ slept: ran.slept, requests: origin.seen.length }).toEqual({ slept: [], requests: 1 });
  });

  test.each([
    ['license list', /^the server is busy: waiting \d+ s \(429\)$/m],
    ['license list --retries 0', /the server answered 429, and does not say how long to wait/],
  ])('a server that names no wait is not said to ask for one: %s', async (line, said) => {
    const { ran } = await runAt(() => ({ status: 429, body: '{}' }), line);
    expect(ran.stderr).toMatch(said);
    expect(ran.stderr).not.toContain('asks');
    expect(ran.slept.every((span, at) => span <= Math.max(1000, 500 * 2 ** at))).toBe(true);
  });

  test('with a --deadline that leaves room, more than two minutes are waited for', async () => {
    const { ran } = await runAt(
      (_request, count) => (count === 1 ? limited('300') : {}),
      'license list --deadline 400s',
    );
    expect(ran.exitCode).toBe(0);
    expect(ran.slept[0]).toBeGreaterThanOrEqual(300_000);
  });

  test('two minutes are the sum of the waits of a request', async () => {
    const { ran, origin } = await runAt(() => limited('50'), 'license list');
    expect({ exit: ran.exitCode, requests: origin.seen.length }).toEqual({ exit: 7, requests: 3 });
  });

  test('a wait that was not begun holds for what would follow: nothing more is sent', async () => {
    const { ran, origin } = await runAt(() => limited('86400'), 'first-activation D422CD000301 D422CD000302');
    expect({ exit: ran.exitCode, requests: origin.seen.length }).toEqual({ exit: 7, requests: 1 });
    const apply = await runAt(
      ({ method }) => (method === 'GET' ? {} : limited('86400')),
      'license apply - --input-format csv --concurrency 1',
      { stdin: 'remote_user,size_allowance\na,1\nb,2\nc,3\n' },
    );
    expect(apply.ran.exitCode).toBe(8);
    expect(apply.origin.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('the limit of those without credentials does not hold back the account', async () => {
    const { ran, origin } = await runAt(
      ({ url }) => (url.includes('server_settings') ? limited('86400') : { body: '{"result":"success","msg":""}' }),
      'settings set color_scheme=dark',
    );
    expect(ran.exitCode).toBe(0);
    expect(origin.seen.map(({ method }) => method)).toEqual(['GET', 'PATCH']);
  });
});

describe('the level of the server, which a run can do without', () => {
  test('is asked in one attempt of three seconds, whatever --timeout and --retries say', async () => {
    const spans: number[] = [];
    let ring = (): void => undefined;
    const { ran, origin } = await runAt(
      ({ url }) => {
        if (!url.includes('server_settings')) return { body: '{"result":"success","msg":""}' };
        ring();
        return undefined;
      },
      'settings set color_scheme=dark --timeout 20s --retries 5',
      {
        alarm: (span, fire) => {
          spans.push(span);
          if (span !== 3000) return realAlarm(span, fire);
          // It rings when the server has the request.
          ring = fire;
          return () => undefined;
        },
      },
    );
    expect({ exit: ran.exitCode, requests: origin.seen.map(({ method }) => method) }).toEqual({
      exit: 0,
      requests: ['GET', 'PATCH'],
    });
    expect(spans).toEqual(expect.arrayContaining([3000, 20_000]));
  });

  test.each([[503], [429]])('%i is not asked a second time', async (status) => {
    const { ran, origin } = await runAt(
      ({ url }) =>
        url.includes('server_settings') ? { status, body: '{}' } : { body: '{"result":"success","msg":""}' },
      'settings set color_scheme=dark',
    );
    expect({ exit: ran.exitCode, slept: ran.slept }).toEqual({ exit: 0, slept: [] });
    expect(origin.seen.map(({ method }) => method)).toEqual(['GET', 'PATCH']);
  });
});

test('one 429 holds back all four workers', async () => {
  const macs = Array.from({ length: 24 }, (_unused, index) => `D422CD0003${String(index).padStart(2, '0')}`);
  let answeredAt = 0;
  const { ran, origin } = await runAt(
    (_request, count) => {
      if (count !== 6) return license;
      answeredAt = performance.now();
      return limited('0.4');
    },
    'first-activation audit - --input-format csv --concurrency 4',
    { clock: hasty, stdin: ['mac_address,remote_user', ...macs.map((mac) => `${mac},a`)].join('\n') },
  );
  expect({ exit: ran.exitCode, requests: origin.seen.length }).toEqual({ exit: 0, requests: 25 });
  const after = origin.seen.filter(({ time }) => time > answeredAt).map(({ time }) => time - answeredAt);
  // Three requests were in progress when the fourth was turned away.
  expect(after.filter((span) => span < 400).length).toBeLessThanOrEqual(3);
  expect(after.filter((span) => span >= 400).length).toBeGreaterThanOrEqual(16);
});

describe('--deadline and --timeout', () => {
  const create = 'license create --remote-user a --size-allowance 4 --deadline 1h';
  const hour = 3_600_000;

  test('a deadline ends a request that hangs, and names itself', async () => {
    const { alarm, ring } = alarmByHand(hour);
    const { ran, origin } = await runAt(() => ring(), 'license list --deadline 1h', { alarm });
    expect(ran.error).toMatchObject({ exit: 7, message: 'the deadline of 1h was reached' });
    expect(origin.seen).toHaveLength(1);
  });

  test('a deadline ends a POST that hangs unconfirmed', async () => {
    const { alarm, ring } = alarmByHand(hour);
    const respond: Respond = ({ method }) => (method === 'POST' ? ring() : {});
    const { ran, origin } = await runAt(respond, create, { alarm });
    expect(ran.error).toMatchObject({ code: 'unknown', exit: 9, retryable: false });
    expect(origin.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST']);
  });

  test('a deadline ends the wait that settles an unconfirmed POST', async () => {
    const { alarm, ring } = alarmByHand(hour);
    const sleep: Clock['sleep'] = (span, signal) => {
      ring();
      return realClock.sleep(span, signal);
    };
    const { ran, origin } = await runAt(({ method }) => (method === 'POST' ? busy : {}), create, {
      clock: { ...hasty, sleep },
      alarm,
    });
    expect(ran.error).toMatchObject({ code: 'unknown', exit: 9 });
    expect(ran.error?.hint).toContain('chatelaine license list --remote-user');
    expect(origin.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST']);
  });

  test('a time-out is that of one attempt', async () => {
    const { alarm, ring } = alarmByHand(hour);
    const respond: Respond = (_request, count) => (count < 3 ? ring() : {});
    const { ran, origin } = await runAt(respond, 'license list --timeout 1h', { alarm });
    expect({ exit: ran.exitCode, requests: origin.seen.length }).toEqual({ exit: 0, requests: 3 });
  });
});

test.each([
  ['GET', 'license list'],
  ['POST', 'license create --remote-user ada --size-allowance 4'],
])('what undici itself refuses is a bug, and is not sent again: %s', async (method, line) => {
  const json = { remote_user: 'ada', size_allowance: 4, app_code: 7 };
  const service = fakeService();
  if (method === 'GET') service.expect('GET /v1/license/').fail('UND_ERR_INVALID_ARG');
  else {
    expectNobody(service);
    service.expect({ method, path: '/v1/license/', json }).fail('UND_ERR_INVALID_ARG');
  }

  const { exitCode, stderr, slept } = await run(service, line);

  service.done();
  expect({ exitCode, slept }).toEqual({ exitCode: 1, slept: [] });
  expect(stderr).toContain('this is a bug in chatelaine: Error: fake UND_ERR_INVALID_ARG');
});

test('an error has the names that the server gives beside its words', async () => {
  const error = { result: 'error', code: 'REQUEST_VARIABLE_MISSING', msg: 'Missing argument', var_name: 'anchor' };
  const { ran } = await runAt(
    () => ({ status: 400, body: JSON.stringify({ ...error, parameters: ['a', 'b'] }) }),
    'messages fetch --limit 1',
  );

  expect(ran.error?.server).toEqual({
    ...{ code: 'REQUEST_VARIABLE_MISSING', msg: 'Missing argument', var_name: 'anchor' },
    parameters: ['a', 'b'],
  });
});
