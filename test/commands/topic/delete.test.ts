import { describe, expect, test } from 'vitest';
import { readFaults } from '../../../src/sandbox/faults.ts';
import { fakeService, openSandbox, run } from '../../helpers/run.ts';
import type { FakeService, Planner } from '../../helpers/service.ts';

const done = { result: 'success', msg: '' };

/** Requests of the topic `lunch` of channel 5. */
const narrow = (topic: string): string =>
  JSON.stringify([
    { operator: 'channel', operand: 5 },
    { operator: 'topic', operand: topic },
  ]);

function messages(service: FakeService, query: Readonly<Record<string, string>>, topic = 'lunch', times = 1): Planner {
  return service.expect(
    { method: 'GET', path: '/api/v1/messages', query: { narrow: narrow(topic), apply_markdown: 'false', ...query } },
    times,
  );
}

interface Found {
  readonly id: number;
  readonly subject?: string;
}

const answer = (found: readonly Found[]): object => ({
  ...done,
  found_newest: true,
  found_oldest: true,
  messages: found.map(({ id, subject = 'lunch' }) => ({ id, subject, stream_id: 5, timestamp: 1_772_000_000 + id })),
});

/** The look at the whole topic, before and where the purge ends. */
const survey = (service: FakeService, found: readonly Found[], topic = 'lunch', more = {}): FakeService =>
  messages(service, { anchor: 'oldest', num_before: '0', num_after: '1000', ...more }, topic).reply(200, answer(found));

/** The look at the newest message that is left. */
const newest = (service: FakeService, id: number | undefined, topic = 'lunch'): FakeService =>
  messages(service, { anchor: 'newest', num_before: '1', num_after: '0' }, topic).reply(
    200,
    answer(id === undefined ? [] : [{ id }]),
  );

const post = (service: FakeService, topic = 'lunch'): Planner =>
  service.expect({ method: 'POST', path: '/api/v1/streams/5/delete_topic', form: { topic_name: topic } });

const level = (service: FakeService, number: number | undefined): FakeService =>
  service
    .expect('GET /api/v1/server_settings')
    .reply(
      number === undefined ? 404 : 200,
      number === undefined ? '<h1>no</h1>' : { ...done, zulip_feature_level: number },
    );

/** A purge of lunch with three messages that is confirmed; what follows the first look is planned by the test. */
function beginning(): FakeService {
  const service = fakeService();
  survey(service, [{ id: 1 }, { id: 2 }, { id: 3 }]);
  newest(service, 3);
  return service;
}

const line = 'topic delete 5 lunch --confirm lunch --no-archive';
const complete = { ...done, complete: true };
const partial = { ...done, complete: false };
const timedOut = { result: 'partially_completed', code: 'REQUEST_TIMEOUT', msg: '' };
const gateway = '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head></html>';

describe('it is repeated until the topic is empty', () => {
  test.each<[string, readonly (readonly [status: number, body: unknown])[]]>([
    ['complete at once', [[200, complete]]],
    [
      'complete false, twice',
      [
        [200, partial],
        [200, partial],
        [200, complete],
      ],
    ],
    [
      'partially completed (levels 154 to 210), then a success that says nothing more',
      [
        [200, timedOut],
        [200, done],
      ],
    ],
    [
      'an HTML 502 after some progress',
      [
        [502, gateway],
        [200, complete],
      ],
    ],
    [
      '503 and 504',
      [
        [503, ''],
        [504, gateway],
        [200, complete],
      ],
    ],
    [
      'a JSON 500',
      [
        [500, { result: 'error', msg: 'Internal server error' }],
        [200, complete],
      ],
    ],
    [
      'an error REQUEST_TIMEOUT',
      [
        [400, { result: 'error', code: 'REQUEST_TIMEOUT', msg: 'late' }],
        [200, complete],
      ],
    ],
  ])('%s', async (_what, answers) => {
    const service = beginning();
    answers.forEach(([status, body], index) => {
      post(service).reply(status, body);
      if (index < answers.length - 1) newest(service, 2 - index);
    });
    newest(service, undefined);

    const { exitCode, stdout } = await run(service, `${line} -o json`);

    service.done();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      {
        stream_id: 5,
        topic_name: 'lunch',
        messages: 3,
        first_timestamp: 1_772_000_001,
        last_timestamp: 1_772_000_003,
        spellings: ['lunch'],
        status: 'deleted',
      },
    ]);
  });

  test.each(['ECONNRESET', 'UND_ERR_SOCKET', 'ETIMEDOUT'])('%s, and the topic turns out to be empty', async (code) => {
    const service = beginning();
    post(service).fail(code);
    newest(service, undefined);

    expect(await run(service, line)).toMatchObject({ exitCode: 0 });
    service.done();
  });

  test.each([146, 147, 153])('level %d: any error may be a time-out that kept what it deleted', async (number) => {
    const service = beginning();
    post(service).reply(400, { result: 'error', msg: 'Request timed out' });
    level(service, number);
    newest(service, 1);
    post(service).reply(200, done);
    newest(service, undefined);

    expect(await run(service, line)).toMatchObject({ exitCode: 0 });
    service.done();
  });

  test.each([154, 210, 211, 489, undefined])('level %s: a refusal is a refusal', async (number) => {
    const service = beginning();
    post(service).reply(400, { result: 'error', code: 'BAD_REQUEST', msg: 'Invalid channel ID' });
    level(service, number);

    const { exitCode, error } = await run(service, `${line} -o json`);

    service.done();
    expect({ exitCode, msg: error?.server?.msg }).toEqual({ exitCode: 6, msg: 'Invalid channel ID' });
  });

  test.each([
    ['not an administrator', 400, 'UNAUTHORIZED_PRINCIPAL'],
    ['a key that was taken back', 401, 'UNAUTHORIZED'],
  ])('%s is exit 4 at once, at every level', async (_what, status, code) => {
    const service = beginning();
    post(service).reply(status, { result: 'error', code, msg: 'Must be an organization administrator' });

    const { exitCode, error } = await run(service, `${line} -o json`);

    service.done();
    expect({ exitCode, code: error?.server?.code }).toEqual({ exitCode: 4, code });
  });

  test('two rounds in which the newest message does not fall: exit 8 with what is left', async () => {
    const service = beginning();
    post(service).reply(200, partial);
    newest(service, 3);
    post(service).reply(200, partial);
    newest(service, 3);
    survey(service, [{ id: 1 }, { id: 2 }, { id: 3 }]);

    const { exitCode, error } = await run(service, `${line} -o json`);

    service.done();
    expect({ exitCode, retryable: error?.retryable }).toEqual({ exitCode: 8, retryable: true });
    expect(error?.message).toContain('3 messages are left');
  });

  test('an idle round is forgiven by progress', async () => {
    const service = beginning();
    post(service).reply(200, partial);
    newest(service, 3);
    post(service).reply(200, partial);
    newest(service, 2);
    post(service).reply(502, gateway);
    newest(service, 2);
    post(service).reply(200, complete);
    newest(service, undefined);

    expect(await run(service, line)).toMatchObject({ exitCode: 0 });
    service.done();
  });

  test('a message that arrives in between is deleted with the next round', async () => {
    const service = beginning();
    post(service).reply(200, partial);
    newest(service, 10);
    post(service).reply(200, complete);
    newest(service, undefined);

    expect(await run(service, line)).toMatchObject({ exitCode: 0 });
    service.done();
  });

  test('a message that arrives after "complete" is exit 8', async () => {
    const service = beginning();
    post(service).reply(200, complete);
    newest(service, 10);
    survey(service, [{ id: 10 }]);

    const { exitCode, error } = await run(service, `${line} -o json`);

    service.done();
    expect(exitCode).toBe(8);
    expect(error?.message).toContain('1 messages stand');
  });

  test('a server that stays away: exit 8, to be run again', async () => {
    const service = beginning();
    post(service).reply(502, gateway);
    messages(service, { anchor: 'newest', num_before: '1', num_after: '0' }, 'lunch', 6).reply(502, gateway);

    const { exitCode, error } = await run(service, `${line} -o json`);

    service.done();
    expect({ exitCode, retryable: error?.retryable }).toEqual({ exitCode: 8, retryable: true });
  });

  test('a time-out of our own is followed by a look at what is left', async () => {
    const { sandbox, run: runThere } = await openSandbox({
      faults: readFaults('POST /api/v1/streams/1/delete_topic=hang-after#1', 1),
    });

    const { exitCode } = await runThere('topic delete 1 lunch --confirm lunch --no-archive --timeout 300ms');

    expect(exitCode).toBe(0);
    expect(sandbox.state.topic('general', 'lunch')).toEqual([]);
  });

  test('429 is waited out, and is no round', async () => {
    const service = beginning();
    post(service).reply(429, { result: 'error', code: 'RATE_LIMIT_HIT', msg: 'slow', 'retry-after': 1.5 });
    post(service).reply(200, complete);
    newest(service, undefined);

    const { exitCode, slept } = await run(service, line);

    service.done();
    expect(exitCode).toBe(0);
    expect(slept).toEqual([1575]);
  });
});

describe('every level of the sandbox', () => {
  test.each([146, 147, 153, 154, 210, 211, 489])('level %d: a topic of many batches is gone', async (featureLevel) => {
    const { sandbox, run: runThere } = await openSandbox({
      featureLevel,
      deleteBatches: 2,
      extraMessages: { channel: 'general', topic: 'load', count: 730 },
    });

    const { exitCode, error } = await runThere('topic delete general load --confirm load --no-archive -o json');

    expect({ exitCode, left: sandbox.state.topic('general', 'load').length }).toEqual(
      // Below level 147 a topic too large for one request cannot be deleted at all.
      featureLevel < 147 ? { exitCode: 8, left: 730 } : { exitCode: 0, left: 0 },
    );
    if (featureLevel < 147) expect(error?.message).toContain('730 messages are left');
  });
});

describe('what stands under the name', () => {
  test('every spelling that will go is shown before', async () => {
    const service = fakeService();
    survey(service, [{ id: 1 }, { id: 2, subject: 'Lunch' }, { id: 3, subject: 'LUNCH' }]);

    const { exitCode, stderr } = await run(service, 'topic delete 5 lunch --confirm wrong');

    service.done();
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      "topic 'lunch': 3 messages from 2026-02-25 to 2026-02-25; spelled 'lunch', 'Lunch', 'LUNCH'",
    );
  });

  test('a topic without messages is exit 5, and nothing is deleted', async () => {
    const service = fakeService();
    survey(service, [{ id: 1 }]);
    survey(service, [], 'lnch');

    const { exitCode, error } = await run(service, 'topic delete 5 lunch lnch --confirm 2 -o json');

    service.done();
    expect(exitCode).toBe(5);
    expect(error?.message).toContain("'lnch'");
  });

  test('a channel by its name is looked up in one of its messages', async () => {
    const service = fakeService();
    service
      .expect({
        method: 'GET',
        path: '/api/v1/messages',
        query: {
          narrow: '[{"operator":"channel","operand":"kitchen & more"}]',
          anchor: 'newest',
          num_before: '1',
          num_after: '0',
        },
      })
      .reply(200, answer([{ id: 9 }]));
    survey(service, [{ id: 1 }]);

    expect(await run(service, ['topic', 'delete', 'kitchen & more', 'lunch', '--confirm', 'no'])).toMatchObject({
      exitCode: 2,
    });
    service.done();
  });

  test('a channel that has no message is exit 5', async () => {
    const service = fakeService();
    service
      .expect({
        method: 'GET',
        path: '/api/v1/messages',
        query: { narrow: '[{"operator":"channel","operand":"x"}]', anchor: 'newest', num_before: '1', num_after: '0' },
      })
      .reply(200, answer([]));

    expect(await run(service, 'topic delete x lunch --confirm lunch')).toMatchObject({ exitCode: 5 });
    service.done();
  });

  test('the empty topic: from level 334 on, and sent as the empty text', async () => {
    const service = fakeService();
    level(service, 334);
    survey(service, [{ id: 1, subject: '' }], '', { allow_empty_topic_name: 'true' });
    messages(service, { anchor: 'newest', num_before: '1', num_after: '0', allow_empty_topic_name: 'true' }, '').reply(
      200,
      answer([{ id: 1, subject: '' }]),
    );
    post(service, '').reply(200, complete);
    messages(service, { anchor: 'newest', num_before: '1', num_after: '0', allow_empty_topic_name: 'true' }, '').reply(
      200,
      answer([]),
    );

    expect(await run(service, ['topic', 'delete', '5', '', '--confirm', '', '--no-archive'])).toMatchObject({
      exitCode: 0,
    });
    service.done();
  });

  test('the empty topic below level 334 is exit 6, and nothing is looked up', async () => {
    const service = fakeService();
    level(service, 333);

    expect(await run(service, ['topic', 'delete', '5', '', '--confirm', ''])).toMatchObject({ exitCode: 6 });
    service.done();
  });
});

describe('the question', () => {
  const surveyed = (): FakeService => survey(fakeService(), [{ id: 1 }, { id: 2 }]);

  test.each([
    ['missing without a terminal', ['topic', 'delete', '5', 'lunch']],
    ['another name', ['topic', 'delete', '5', 'lunch', '--confirm', 'dinner']],
    ['another spelling', ['topic', 'delete', '5', 'lunch', '--confirm', 'Lunch']],
    ['a blank more', ['topic', 'delete', '5', 'lunch', '--confirm', 'lunch ']],
    ['the empty text', ['topic', 'delete', '5', 'lunch', '--confirm', '']],
    ['a number for one topic', ['topic', 'delete', '5', 'lunch', '--confirm', '1']],
    ['-y is no answer', ['topic', 'delete', '5', 'lunch', '-y']],
  ])('%s: exit 2, nothing deleted', async (_what, args) => {
    const service = surveyed();

    const { exitCode, stdout } = await run(service, args);

    service.done();
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  });

  test('CHATELAINE_CONFIRM and CHATELAINE_YES are no answer', async () => {
    const service = surveyed();

    const { exitCode } = await run(service, 'topic delete 5 lunch', {
      env: { CHATELAINE_CONFIRM: 'lunch', CHATELAINE_YES: '1' },
    });

    service.done();
    expect(exitCode).toBe(2);
  });

  test.each([
    ['2', 0],
    ['lunch', 2],
    ['3', 2],
  ])('several topics want their number: --confirm %s is exit %d', async (confirm, exitCode) => {
    const service = fakeService();
    survey(service, [{ id: 1 }]);
    survey(service, [{ id: 2, subject: 'tea' }], 'tea');
    if (exitCode === 0) {
      for (const topic of ['lunch', 'tea']) {
        newest(service, 1, topic);
        post(service, topic).reply(200, complete);
        newest(service, undefined, topic);
      }
    }

    expect(await run(service, `topic delete 5 lunch tea lunch --confirm ${confirm} --no-archive`)).toMatchObject({
      exitCode,
    });
    service.done();
  });

  test.each([
    ['lunch\n', 0],
    ['Lunch\n', 130],
    ['y\n', 130],
    ['\n', 130],
  ])('on a terminal the name is typed: %j is exit %d, also under -y', async (stdin, exitCode) => {
    const service = surveyed();
    if (exitCode === 0) {
      newest(service, 2);
      post(service).reply(200, complete);
      newest(service, undefined);
    }

    expect(await run(service, 'topic delete 5 lunch -y --no-archive', { tty: true, stdin })).toMatchObject({
      exitCode,
    });
    service.done();
  });

  test('--max-messages refuses more, counted over all topics', async () => {
    for (const [most, exitCode] of [
      ['2', 2],
      ['3', 0],
    ] as const) {
      const service = fakeService();
      survey(service, [{ id: 1 }, { id: 2 }]);
      survey(service, [{ id: 3, subject: 'tea' }], 'tea');
      if (exitCode === 0) {
        for (const topic of ['lunch', 'tea']) {
          newest(service, 1, topic);
          post(service, topic).reply(200, complete);
          newest(service, undefined, topic);
        }
      }

      const ran = await run(service, `topic delete 5 lunch tea --confirm 2 --no-archive --max-messages ${most}`);

      service.done();
      expect({ most, exitCode: ran.exitCode }).toEqual({ most, exitCode });
    }
  });
});

test('a dry run sends no write, wants no answer, and prints the exact requests', async () => {
  const service = fakeService();
  survey(service, [{ id: 1 }]);
  survey(service, [{ id: 2, subject: 'tea & cake' }], 'tea & cake');

  const { exitCode, stdout } = await run(service, ['topic', 'delete', '5', 'lunch', 'tea & cake', '-n', '-o', 'json']);

  service.done();
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual(
    ['topic_name=lunch', 'topic_name=tea+%26+cake'].map((body) => ({
      method: 'POST',
      url: 'https://chat.test/api/v1/streams/5/delete_topic',
      content_type: 'application/x-www-form-urlencoded',
      body,
    })),
  );
});

test('one topic that is refused does not keep the others: exit 8, and it is named', async () => {
  const service = fakeService();
  survey(service, [{ id: 1 }]);
  survey(service, [{ id: 2, subject: 'tea' }], 'tea');
  newest(service, 1);
  post(service).reply(400, { result: 'error', code: 'BAD_REQUEST', msg: 'Not this one' });
  level(service, 489);
  newest(service, 2, 'tea');
  post(service, 'tea').reply(200, complete);
  newest(service, undefined, 'tea');

  const { exitCode, stdout, error } = await run(service, 'topic delete 5 lunch tea --confirm 2 --no-archive -o json');

  service.done();
  expect(exitCode).toBe(8);
  expect(JSON.parse(stdout)).toMatchObject([{ topic_name: 'tea', status: 'deleted' }]);
  expect(error?.message).toContain('lunch: ');
});

test('Ctrl-C in a purge is exit 130', async () => {
  const interrupt = new AbortController();
  const { Failure } = await import('../../../src/core/failure.ts');
  const service = beginning();
  post(service).reply(502, gateway);
  const running = run(service, line, { interrupt: interrupt.signal });
  interrupt.abort(new Failure('cancelled', 'interrupted'));

  expect(await running).toMatchObject({ exitCode: 130, stdout: '' });
});
