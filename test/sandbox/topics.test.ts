import { expect, test } from 'vitest';
import { shownTopic, storedTopic } from '../../src/sandbox/chat/topic-names.ts';
import { started, type Running } from './start.ts';

const remove = ({ chat }: Running, channel: number, topic_name: string, as = 'mara') =>
  chat('POST', `/streams/${channel}/delete_topic`, { as, form: { topic_name } });

const success = (more: object = {}) => ({ result: 'success', msg: '', ...more });

test('a long topic goes in batches of 100, the newest first, until complete', async () => {
  const running = await started();
  const left = () => running.sandbox.state.topic('general', 'calibration log');
  const ids = left().map(({ id }) => id);
  expect(ids).toHaveLength(320);

  expect((await remove(running, 1, 'calibration log')).body).toEqual(success({ complete: false }));
  expect(left().map(({ id }) => id)).toEqual(ids.slice(0, 120));
  expect((await remove(running, 1, 'calibration log')).body).toEqual(success({ complete: true }));
  expect(left()).toEqual([]);
  expect((await remove(running, 1, 'calibration log')).body).toEqual(success({ complete: true }));
  expect(running.log.map(({ committed }) => committed)).toEqual([true, true, false]);
});

test.each([
  [146, 502, undefined, 320],
  [147, 400, { result: 'error', msg: 'Request timed out.', code: 'REQUEST_TIMEOUT' }, 120],
  [153, 400, { result: 'error', msg: 'Request timed out.', code: 'REQUEST_TIMEOUT' }, 120],
  [154, 200, { result: 'partially_completed', msg: '', code: 'REQUEST_TIMEOUT' }, 120],
  [210, 200, { result: 'partially_completed', msg: '', code: 'REQUEST_TIMEOUT' }, 120],
  [211, 200, { result: 'success', msg: '', complete: false }, 120],
])('level %i: a time-out answers %i and leaves messages', async (featureLevel, status, body, left) => {
  const running = await started({ featureLevel });

  const answer = await remove(running, 1, 'calibration log');

  expect(answer.status).toBe(status);
  if (body) expect(answer.body).toEqual(body);
  else expect(answer.headers['content-type']).toBe('text/html');
  expect(running.sandbox.state.topic('general', 'calibration log')).toHaveLength(left);
});

test.each([
  [146, 4, success()],
  [211, 4, success({ complete: false })],
  [211, 5, success({ complete: true })],
])('level %i: four batches of messages go in a call of %i: %j', async (featureLevel, deleteBatches, body) => {
  const running = await started({ featureLevel, deleteBatches });
  for (let more = 320; more < 400; more += 1)
    running.sandbox.state.post({ channel: 'general', topic: 'calibration log', content: 'x' });

  expect((await remove(running, 1, 'calibration log')).body).toEqual(body);
  expect(running.sandbox.state.topic('general', 'calibration log')).toEqual([]);
});

test('the name is compared without regard to case, whole and untrimmed, and its end takes away who mutes it', async () => {
  const running = await started();
  const count = () => running.sandbox.state.messages().length;
  const before = count();

  expect((await remove(running, 1, 'lunch ')).body).toEqual(success({ complete: true }));
  expect((await remove(running, 1, 'lun')).body).toEqual(success({ complete: true }));
  expect((await remove(running, 1, 'dropped samples at 120 Hz')).body).toEqual(success({ complete: true }));
  expect(count()).toBe(before);
  await remove(running, 1, 'LUNCH');
  expect(count()).toBe(before - 8);
  await remove(running, 1, '✔ DROPPED samples at 120 Hz');
  expect(count()).toBe(before - 14);
  running.sandbox.state.change(({ topicPolicies }) => {
    expect(topicPolicies.rows().map(({ topic }) => topic)).toEqual(['license audit', 'nightly builds']);
  });
});

test.each([
  ['', 0],
  ['general chat', 0],
  ['(no topic)', 3],
])('the empty topic: "%s" leaves %i of its messages', async (name, left) => {
  const running = await started();

  expect((await remove(running, 1, name)).body).toEqual(success({ complete: true }));

  expect(running.sandbox.state.topic('general', '')).toHaveLength(left);
});

test.each([
  ['that is not there', 99],
  ['with a number beyond any', 99999999999999999999n],
  ['that is archived', 6],
  ['that is private and not entered', 4],
])('a channel %s is invalid, for an administrator too', async (_name, channel) => {
  const running = await started();

  expect(await running.chat('POST', `/streams/${channel}/delete_topic`, { form: { topic_name: 'x' } })).toMatchObject({
    status: 400,
    body: { result: 'error', msg: 'Invalid channel ID', code: 'BAD_REQUEST' },
  });
});

test('messages can be sent to a channel, so that a topic grows while it is purged', async () => {
  const running = await started();

  const sent = await running.chat('POST', '/messages', {
    as: 'tomas',
    form: { type: 'stream', to: 'general', topic: 'lunch', content: 'Soup **again**?' },
  });

  const [last] = running.sandbox.state.topic('general', 'lunch').slice(-1);
  expect(sent.body).toEqual(success({ id: last?.id }));
  expect(last).toMatchObject({
    sender_id: 9,
    rendered: '<p>Soup <strong>again</strong>?</p>',
    timestamp: running.clock.now() / 1000,
  });
});

test.each([
  [333, 'general chat', '(no topic)'],
  [334, '', 'general chat'],
])('at level %i general chat is the topic %j, and the empty topic is shown as %j', (level, stored, shown) => {
  expect([storedTopic(level, 'general chat'), shownTopic(level, '', {})]).toEqual([stored, shown]);
});
