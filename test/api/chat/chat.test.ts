import { expect, test, vi } from 'vitest';
import { chatApi, fetchKey } from '../../../src/api/chat/chat.ts';
import { Answer } from '../../../src/api/http/answer.ts';
import { Secret } from '../../../src/core/secret.ts';

const page = { result: 'success', msg: '', messages: [{ id: 7, content: 'seven' }, { id: 8 }], found_newest: true };

/** What a server answered, and what was done with its body: how often its whole text was read, and it was given up. */
function answerOf(status: number, value: unknown) {
  const http = { method: 'GET', url: 'https://chat.test/api/v1/messages', status };
  const answer = new Answer(http, {}, Buffer.from(JSON.stringify(value)));
  const [text, release] = [vi.spyOn(answer, 'text', 'get'), vi.spyOn(answer, 'release')];
  return { answer, done: () => ({ reads: text.mock.calls.length, releases: release.mock.calls.length }) };
}

const narrow = [{ operator: 'channel', operand: 'general' }];

test.each([
  ['of all messages', {}],
  ['of a selection', { narrow }],
])('a page %s is read without parsing its messages, and its answer gives up the body', async (_name, query) => {
  const { answer, done } = answerOf(200, page);
  const api = chatApi(
    () => Promise.resolve(answer),
    () => Promise.reject(new Error('the level was asked for')),
  );

  const { messages, found_newest } = await api.messages(query);

  expect(messages.map(({ id, text }) => [id, text.parse()])).toEqual([
    [7, { id: 7, content: 'seven' }],
    [8, { id: 8 }],
  ]);
  expect(found_newest).toBe(true);
  expect(done()).toEqual({ reads: 0, releases: 1 });
});

const noKey = 'the chat server accepted the password, but its response has no key';
const wrong = { result: 'error', msg: 'Your password is incorrect', code: 'AUTHENTICATION_FAILED' };

test.each([
  [200, { result: 'success', api_key: 'k-1' }, { key: 'k-1' }],
  [200, { result: 'success', api_key: '' }, { kind: 'unavailable', message: noKey }],
  [200, { result: 'success', api_key: 7 }, { kind: 'unavailable', message: noKey }],
  [401, wrong, { kind: 'auth', details: { hint: expect.stringMatching(/^Check address and password\./) as string } }],
  [400, { ...wrong, code: 'BAD_REQUEST' }, { kind: 'rejected', details: { hint: undefined } }],
])('a password that is answered with %i %j gives %j', async (status, body, expected) => {
  const fetched = fetchKey(() => Promise.resolve(answerOf(status, body).answer), 'ada@chat.test', new Secret('p'));
  const given = fetched.then(
    (key) => ({ key: key.reveal() }),
    (cause: unknown) => cause,
  );
  expect(await given).toMatchObject(expected);
});
