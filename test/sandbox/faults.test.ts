import { request } from 'node:http';
import { createConnection } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readFaults, type SandboxFault } from '../../src/sandbox/faults.ts';
import { movedClock } from '../helpers/clock.ts';
import { started, type Running } from './start.ts';

const kinds = (faults: readonly (SandboxFault | undefined)[]) => faults.map((fault) => fault?.kind ?? '-');

test('the first matching rule that draws a fault decides', () => {
  const faults = readFaults('POST /v1/license/=drop-after#1; /api/v1/*=502#1,cut; *=429', 1);

  const drawn = [
    faults.draw('POST', '/v1/license/'),
    faults.draw('POST', '/v1/license/'),
    faults.draw('GET', '/v1/license/'),
    faults.draw('GET', '/api/v1/messages'),
    faults.draw('GET', '/api/v1/messages'),
    faults.draw('GET', '/api'),
  ];

  expect(kinds(drawn)).toEqual(['drop-after', '429', '429', '502', 'cut', '429']);
});

test('counted faults: the next N, after S have passed', () => {
  const faults = readFaults('* /v1/*=reset#2+1,500#1+4', 1);

  const drawn = Array.from({ length: 6 }, () => faults.draw('GET', '/v1/license/'));

  expect(kinds(drawn)).toEqual(['-', 'reset', 'reset', '-', '500', '-']);
});

test('the seed alone decides which requests are hit', () => {
  const draw = (seed: number) => {
    const faults = readFaults('*=502:0.2,cut:0.1', seed);
    return kinds(Array.from({ length: 2000 }, (_, index) => faults.draw('GET', `/${index}`)));
  };

  const begin = draw(42).map(([sign]) => sign);
  expect(begin.slice(0, 40).join('')).toBe('----5-c---c---5---5--5-5c55--55-----55--');
  const share = (kind: string) => draw(42).filter((drawn) => drawn === kind).length / 2000;
  expect(share('502')).toBeCloseTo(0.2, 1);
  expect(share('cut')).toBeCloseTo(0.1, 1);
});

test.each([
  ['*=delay-commit@3s', { kind: 'delay-commit', argument: 3000 }],
  ['*=delay-commit:1@400ms', { kind: 'delay-commit', argument: 400 }],
  ['*=slow', { kind: 'slow', argument: 2000 }],
  ['*=429-long', { kind: '429-long', argument: 86_400_000 }],
  ['*=redirect#1@http://127.0.0.1:1/x?y=1', { kind: 'redirect', argument: 'http://127.0.0.1:1/x?y=1' }],
  ['*=early', { kind: 'early', argument: 100 }],
  ['*=early-502/1@7', { kind: 'early-502', argument: 7 }],
  ['*=cut:1', { kind: 'cut', argument: undefined }],
])('a rule and the fault that it means: %s', (spec, fault) => {
  expect(readFaults(spec, 1).draw('GET', '/')).toEqual(fault);
});

test.each([
  ['', '--fault: no fault is given'],
  ['nonsense', "--fault 'nonsense': expected [METHOD ]PATH=FAULT,… or *=FAULT,…"],
  ['get /x=502', "--fault 'get /x=502': expected [METHOD ]PATH=FAULT,… or *=FAULT,…"],
  ['*=', "--fault '': expected KIND:PROBABILITY, KIND#COUNT or KIND/EVERY, with @ARGUMENT at the end if any"],
  ['*=drop-aftr:0.1', "--fault 'drop-aftr:0.1': no fault is named 'drop-aftr'"],
  ['*=502:1.5', "--fault '502:1.5': a probability is a number from 0 to 1"],
  ['*=502:', "--fault '502:': a probability is a number from 0 to 1"],
  ['*=502:0.6,cut:0.6', "--fault '*=502:0.6,cut:0.6': the probabilities add up to more than 1"],
  ['*=502@3s', "--fault '502@3s': 502 accepts no argument"],
  ['*=502/0', "--fault '502/0': expected KIND:PROBABILITY, KIND#COUNT or KIND/EVERY, with @ARGUMENT at the end if any"],
  ['*=early@0', "--fault 'early@0': '0' is not a number of messages above 0"],
  ['*=slow@fast', "--fault 'slow@fast': 'fast' is not a duration"],
  [
    '*=odd;/x=502:2,cut',
    "--fault 'odd': no fault is named 'odd'\n--fault '502:2': a probability is a number from 0 to 1",
  ],
])('"%s" is refused', (spec, message) => {
  expect(() => readFaults(spec, 1)).toThrow(expect.objectContaining({ kind: 'usage', message }) as Error);
});

interface Seen {
  readonly status: number | 'broken';
  /** Bytes of the body that came. */
  readonly body: string;
  readonly headers: Record<string, unknown>;
  readonly error: string;
}

/** One POST of a license over a connection of its own, seen as bytes. */
function post({ sandbox }: Running): Promise<Seen> {
  const body = JSON.stringify({ remote_user: 'faulty', app_code: 4711, size_allowance: 1 });
  return new Promise((resolve) => {
    let text = '';
    const seen = (status: Seen['status'], error: string, headers = {}) =>
      resolve({ status, body: text, headers, error });
    const outgoing = request(`${sandbox.licensing.base_url}/v1/license/`, {
      ...{ method: 'POST', agent: false },
      headers: { authorization: 'Token sandbox-key-of-app-4711', 'content-type': 'application/json' },
    });
    outgoing.on('error', (cause) => seen('broken', 'code' in cause ? String(cause.code) : cause.message));
    outgoing.on('response', (incoming) => {
      incoming.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.length > 3_000_000) outgoing.destroy();
      });
      incoming.on('error', (cause) => seen(incoming.statusCode ?? 0, cause.message, incoming.headers));
      incoming.on('end', () => seen(incoming.statusCode ?? 0, '', incoming.headers));
    });
    outgoing.end(body);
  });
}

const whole = /^\{"license_code":.*\}$/;
const done = true;
const notDone = false;

/**
 * What each fault looks like from outside, and whether the license was issued. `slow`, `hang` and the delays have tests
 * of their own.
 */
test.each([
  ['drop-before', 'broken', /^$/, 'ECONNRESET', notDone],
  ['drop-after', 'broken', /^$/, 'ECONNRESET', done],
  ['reset', 'broken', /^$/, 'ECONNRESET', notDone],
  ['reset-after', 'broken', /^$/, 'ECONNRESET', done],
  ['500', 500, /Server Error \(500\)/, '', notDone],
  ['502', 502, /^<!DOCTYPE html>/, '', notDone],
  ['503', 503, /^<!DOCTYPE html>/, '', notDone],
  ['504', 504, /^<!DOCTYPE html>/, '', notDone],
  ['500-after', 500, /Server Error \(500\)/, '', done],
  ['502-after', 502, /^<!DOCTYPE html>/, '', done],
  ['502-stray', 502, /^<!DOCTYPE html>/, '', done],
  ['503-after', 503, /^<!DOCTYPE html>/, '', done],
  ['504-after', 504, /^<!DOCTYPE html>/, '', done],
  ['429', 429, /Expected available in 2 seconds/, '', notDone],
  ['429-html', 429, /^<html>.*Too Many Requests/, '', notDone],
  ['cut', 201, /^\{"license_code":[^}]*$/, 'aborted', done],
  ['content-type', 201, whole, '', done],
  ['html', 200, /<title>Log in<\/title>/, '', notDone],
  ['huge', 200, /^\{"result":"success","msg":"x{1000}/, 'aborted', notDone],
  ['redirect', 302, /^$/, '', notDone],
  ['redirect-307', 307, /^$/, '', notDone],
  ['error-in-200', 200, /^\{"detail":"Something went wrong."\}$/, '', notDone],
  ['empty', 201, /^$/, '', done],
  ['json-garbage', 201, /^\{.*Z",,$/, '', done],
] as const)('%s: status %s', async (kind, status, body, error, committed) => {
  const running = await started({ faults: readFaults(`*=${kind}#1`, 1) });

  const seen = await post(running);

  expect({ status: seen.status, error: seen.error }).toEqual({ status, error });
  expect(seen.body).toMatch(body);
  const issued = () => running.sandbox.state.licenses().some(({ remote_user }) => remote_user === 'faulty');
  expect(issued()).toBe(committed);
  expect((await post(running)).body).toMatch(whole);
  expect(running.log[0]).toMatchObject({ fault: kind, committed, status: status === 'broken' ? null : status });
});

test('502-stray: a 200 that nobody asked for comes before the answer to the next request of the connection', async () => {
  const { sandbox } = await started({ faults: readFaults('POST /v1/license/=502-stray#1', 1) });
  const socket = createConnection(sandbox.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const head =
    'HTTP/1.1\r\nhost: localhost\r\nauthorization: Token sandbox-key-of-app-4711\r\ncontent-type: application/json';
  const body = '{"remote_user":"faulty","app_code":4711,"size_allowance":1}';

  socket.write(`POST /v1/license/ ${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  await expect.poll(() => text).toContain('</html>');
  socket.write(`GET /v1/license/?remote_user=faulty ${head}\r\n\r\n`);
  await expect.poll(() => text).toContain('"faulty"');

  expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['502', '200', '200']);
  expect(text).toMatch(/content-length: 2\r\n\r\n\[\]HTTP/);
});

test.each([
  ['delay-commit', 'broken'],
  ['delay-commit-504', 504],
] as const)('%s: the client is turned away, the commit comes later', async (kind, status) => {
  const running = await started({ faults: readFaults(`POST /v1/license/=${kind}#1@5s`, 1) });
  const issued = () => running.sandbox.state.licenses().filter(({ remote_user }) => remote_user === 'faulty').length;

  expect((await post(running)).status).toBe(status);
  await expect.poll(running.clock.sleeping).toBe(1);
  running.clock.advance(4999);
  expect(issued()).toBe(0);
  running.clock.advance(1);

  await expect.poll(issued).toBe(1);
  expect(running.log).toMatchObject([{ fault: kind, committed: true, status: status === 504 ? 504 : null }]);
});

test.each([
  ['hang', 0],
  ['hang-after', 1],
])('%s: no answer until the sandbox closes', async (kind, issued) => {
  const running = await started({ faults: readFaults(`*=${kind}`, 1) });
  const answer = post(running);
  await expect.poll(() => running.log.length).toBe(1);

  expect(running.sandbox.state.licenses().filter(({ remote_user }) => remote_user === 'faulty')).toHaveLength(issued);
  await running.sandbox.close();

  expect((await answer).status).toBe('broken');
});

test('slow: a body comes in at most twenty pieces, one after the other', async () => {
  const slept: number[] = [];
  const clock = { ...movedClock(), sleep: (span: number) => Promise.resolve(void slept.push(span)) };
  const seen = await post(await started({ clock, faults: readFaults('*=slow@20s', 1) }));
  expect(seen).toMatchObject({ status: 201, body: expect.stringMatching(whole) as string });
  expect(slept).toEqual(Array.from({ length: 19 }, () => 1000));
});

const logOfGeneral = (running: Running) => running.sandbox.state.topic('general', 'calibration log').length;
const deleteLog = ({ chat }: Running) =>
  chat('POST', '/streams/1/delete_topic', { form: { topic_name: 'calibration log' } });

test.each([
  [489, 200, { result: 'success', msg: '', complete: false }],
  [211, 200, { result: 'success', msg: '', complete: false }],
  [154, 200, { result: 'partially_completed', msg: '', code: 'REQUEST_TIMEOUT' }],
  [147, 400, { result: 'error', msg: 'Request timed out.', code: 'REQUEST_TIMEOUT' }],
])('early at level %i: each third delete_topic ends after so many messages: %i', async (featureLevel, status, body) => {
  const faults = readFaults('*/delete_topic=early/3@30', 1);
  const running = await started({ featureLevel, faults, deleteBatches: 1 });
  const left = [];
  let last = {};
  for (let call = 0; call < 3; call += 1) {
    const answer = await deleteLog(running);
    last = { status: answer.status, body: answer.body };
    left.push(logOfGeneral(running));
  }

  expect({ left, last }).toEqual({ left: [220, 120, 90], last: { status, body } });
});

test('early-500: so many messages go, then the service breaks', async () => {
  const running = await started({ faults: readFaults('*=early-500#1@30', 1) });

  expect(await deleteLog(running)).toMatchObject({
    status: 500,
    body: { result: 'error', msg: 'Internal server error' },
  });
  expect(logOfGeneral(running)).toBe(290);
});

test('goes-on: the connection ends, and all is deleted, whatever time a call has', async () => {
  const running = await started({ faults: readFaults('*=goes-on#1@5s', 1), deleteBatches: 1 });

  const status = await deleteLog(running).then(
    (answer) => answer.status,
    () => 'broken',
  );
  expect(status).toBe('broken');
  await expect.poll(running.clock.sleeping).toBe(1);
  expect(logOfGeneral(running)).toBe(320);
  running.clock.advance(5000);

  await expect.poll(() => logOfGeneral(running)).toBe(0);
});

test('complete-nothing: a success that did nothing', async () => {
  const running = await started({ faults: readFaults('*=complete-nothing#1', 1) });

  expect(await deleteLog(running)).toMatchObject({ status: 200, body: { result: 'success', complete: true } });
  expect(logOfGeneral(running)).toBe(320);
});
