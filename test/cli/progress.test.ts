import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { realAlarm } from '../../src/cli/clock.ts';
import { openMessages, openRedactor } from '../../src/cli/messages.ts';
import { observer } from '../../src/cli/trace.ts';
import { openProgress } from '../../src/cli/session.ts';
import type { Host } from '../../src/cli/host.ts';
import type { GlobalValues } from '../../src/commands/context.ts';
import { sleptClock } from '../helpers/clock.ts';
import { fakeService, openSandbox, run } from '../helpers/run.ts';
import { systemIn } from '../store/system.ts';

const takeAway = '\r\u001b[K';

test('without a terminal a line comes every five seconds, and none at the end', () => {
  const { step, end, written } = job({ isTTY: false, total: 40 });
  for (let done = 0; done < 40; done += 1) step(500);
  end();

  expect(written()).toBe(
    'rows 10/40, 2.0/s, 15s left\nrows 20/40, 2.0/s, 10s left\nrows 30/40, 2.0/s, 5s left\nrows 40/40, 2.0/s\n',
  );
});

test('no time is told before five seconds and 3 % of the work; then in one way of writing', () => {
  const { upTo, written } = job({ isTTY: true, total: 1000 });
  upTo(4899, 100);
  upTo(101, 100);
  upTo(200, 25);
  upTo(200, 30);
  upTo(5000, 50);

  expect(written().split(takeAway)).toEqual([
    expect.stringMatching(/rows 100\/1000, 20\/s$/),
    expect.stringMatching(/rows 100\/1000, 20\/s, 45s left$/),
    expect.stringMatching(/rows 25\/1000, 4\.8\/s$/),
    expect.stringMatching(/rows 30\/1000, 5\.6\/s, 2m55s left$/),
    expect.stringMatching(/rows 50\/1000, 4\.8\/s, 3m18s left$/),
  ]);
});

test('without a terminal the last line is the true one, said once', () => {
  const { step, end, written } = job({ isTTY: false, total: 40 });
  for (let done = 0; done < 13; done += 1) step(500);
  end();
  end();

  expect(written()).toBe('rows 10/40, 2.0/s, 15s left\nrows 13/40, 2.0/s, 14s left\n');
});

test('on a terminal one line is drawn again and again, at most ten times a second, and taken away at the end', () => {
  const { step, end, written } = job({ isTTY: true, total: 8 });
  for (let done = 0; done < 8; done += 1) step(50);
  end();

  expect(written()).toBe(['rows 2/8, 20/s', 'rows 4/8, 20/s', 'rows 6/8, 20/s', 'rows 8/8, 20/s', ''].join(takeAway));
});

test('a jump over many steps is drawn whole', () => {
  const { upTo, written } = job({ isTTY: true, total: 8 });
  upTo(200, 6);
  upTo(50, 7);
  upTo(50, 9);

  expect(written()).toBe(['rows 6/8, 30/s', 'rows 8/8, 27/s'].join(takeAway));
});

test('a line takes the line away, and the next step draws it again below', () => {
  const { step, say, end, written } = job({ isTTY: true, total: 4 });
  step(200);
  say('waiting');
  say('still');
  step(200);
  end();

  expect(written()).toBe(`rows 1/4, 5.0/s${takeAway}waiting\nstill\n` + `rows 2/4, 5.0/s${takeAway}`);
});

test.each([
  ['a terminal without a width gets the words', 0, 'rows 1/4, 5.0/s'],
  ['of words that do not fit it gets their beginning', 10, 'rows 1/4,'],
])('%s', (_name, columns, expected) => {
  const { step, written } = job({ isTTY: true, total: 4, columns });
  step(200);

  expect(written()).toBe(expected);
});

test.each<[string, Partial<Parameters<typeof job>[0]>]>([
  ['with --quiet', { options: { quiet: true } }],
  ['of a job without steps', { total: 0 }],
  ['where rows of json come one by one on the same terminal', { options: { output: 'ndjson' } }],
])('nothing is written %s', (_when, given) => {
  const { step, end, written } = job({ isTTY: true, total: 4, ...given });
  step(10_000);
  end();

  expect(written()).toBe('');
});

const roster = 'remote_user,size_allowance\nada,4\nben,4\n';
const sensors = 'mac_address,remote_user\nd422cd000301,ada\nd422cd000302,ada\n';

test.each([
  ['license apply - --yes', roster, ['licenses 1/2', 'licenses 2/2']],
  ['license apply - --dry-run --max-create 2', roster, ['users looked up 1/2', 'users looked up 2/2']],
  ['first-activation audit -', sensors, ['sensors 1/2', 'sensors 2/2']],
  ['topic delete general lunch --confirm lunch', '', ['archived 8/8', 'deleted 0/8', 'deleted 8/8', 'deleted 8/8']],
])('%s tells how far each part of it is', async (line, stdin, parts) => {
  const { run } = await openSandbox();
  let time = 0;
  const { stderr } = await run(line, { stdin, clock: { ...sleptClock(), now: () => (time += 6000) } });
  expect(stderr.match(/^.+ \d+\/\d+(?=, )/gm)).toEqual(parts);
});

test('a dumb terminal gets lines', () => {
  const { step, end, written } = job({ isTTY: true, total: 2, env: { TERM: 'dumb' } });
  step(5000);
  end();

  expect(written()).toBe('rows 1/2, 0.2/s, 5s left\n');
});

test.each([
  ['', `no response from licenses.test for 10 s${takeAway}`],
  [' --quiet', ''],
])('a slow answer is said on a terminal until it comes: license list%s', async (option, said) => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, [{ license_code: 'K' }]);
  const alarm: typeof realAlarm = (span, ring) => {
    if (span !== 10_000) return realAlarm(span, ring);
    ring();
    return () => undefined;
  };
  const { exitCode, stderr } = await run(service, `license list -o csv${option}`, { tty: true, alarm });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: said });
});

test('a list of many quick pages says how many have come, each ten seconds of waiting', () => {
  const said: string[] = [];
  const messages = {
    say: (line: string) => void said.push(line),
    status: (line?: string) => void said.push(line ?? ''),
  };
  for (const isTTY of [true, false]) {
    const observe = observer({ options: {}, messages, host: { stderr: { isTTY }, system: { env: {} } } } as never);
    for (let page = 0; page < 6; page += 1)
      observe({
        kind: 'answer',
        method: 'GET',
        url: 'https://licenses.test/v1/license/',
        attempt: 1,
        took: 4000,
      } as never);
  }
  const line = (count: number): string => `waiting for licenses.test: ${count} responses so far`;
  expect(said).toEqual([line(3), '', line(5), '', line(3)]);
});

test('--verbose shows each wait, and how each request ended; --trace no response', async () => {
  const service = fakeService();
  service.expect('GET /v1/license/').reply(429, '', { 'retry-after': '3' });
  service.expect('GET /v1/license/').fail('ECONNRESET');
  service.expect('GET /v1/license/').reply(200, []);
  const { stderr } = await run(service, 'license list --verbose -o csv');
  const get = 'GET https://licenses.test/v1/license/:';
  expect(stderr.replace(/[\d.]+m?s\b/g, 'T').split('\n')).toEqual([
    ...[`${get} 429 in T`, 'the server asks to wait 4 s (429)', 'waiting T: the server asks to wait (429)'],
    `${get} the connection to licenses.test broke before the response was complete (ECONNRESET)`,
    ...['waiting T: retry 1 of 5', `${get} 200 in T`, 'no licenses match', ''],
  ]);
  service.expect('GET /v1/license/').reply(200, []);
  expect((await run(service, 'license list --trace -o csv')).stderr).toContain('< [hidden: 2 characters]\n');
});

interface Job {
  readonly isTTY: boolean;
  readonly total: number;
  readonly columns?: number;
  readonly options?: Partial<GlobalValues>;
  readonly env?: Readonly<Record<string, string>>;
}

/** A job on a terminal or a pipe; time passes before each step. */
function job({ isTTY, total, columns = 80, options = {}, env = {} }: Job) {
  const clock = sleptClock(1_000_000);
  const chunks: string[] = [];
  const stderr = Object.assign(new PassThrough(), { isTTY, columns });
  stderr.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  const host: Host = {
    terminal: { group: 1, isForeground: () => isTTY, open: () => new PassThrough() },
    system: { ...systemIn('/tmp'), env },
    clock,
    alarm: realAlarm,
    stdin: new PassThrough(),
    stdout: Object.assign(new PassThrough(), { isTTY }),
    stderr,
    interrupt: new AbortController().signal,
    version: '1',
  };
  const { quiet = false } = options;
  const messages = openMessages(host, { quiet }, openRedactor(), (text) => text);
  const { step, upTo, end } = openProgress({ host, options, messages }, 'rows', total);
  return {
    step: (after: number) => {
      clock.pass(after);
      step();
    },
    upTo: (after: number, count: number) => {
      clock.pass(after);
      upTo(count);
    },
    end,
    say: (text: string) => messages.say(text),
    written: () => chunks.join(''),
  };
}
