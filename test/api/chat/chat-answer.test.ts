import { expect, test } from 'vitest';
import { accept, acceptOnce, refusal } from '../../../src/api/chat/chat-answer.ts';
import { Answer } from '../../../src/api/http/answer.ts';
import { Failure } from '../../../src/core/failure.ts';

function answer(status: number, body: unknown, headers = {}): Answer {
  const http = { method: 'PATCH', url: 'https://chat.test/api/v1/settings', status };
  return new Answer(http, headers, Buffer.from(JSON.stringify(body)));
}

function kindOf(work: () => unknown): string {
  try {
    work();
  } catch (cause) {
    if (cause instanceof Failure) return cause.kind;
    throw cause;
  }
  return 'accepted';
}

const success = { result: 'success', msg: '' };

test('a success is taken with the parameters that the server ignored', () => {
  expect(accept(answer(200, success))).toEqual({ ignored: [] });
  expect(accept(answer(200, { ...success, ignored_parameters_unsupported: ['a'] }))).toEqual({ ignored: ['a'] });
});

test.each([
  [299, success, 'accepted'],
  [302, success, 'rejected'],
  [401, { result: 'error', msg: 'no', code: 'UNAUTHORIZED' }, 'auth'],
  [200, { result: 'error', msg: 'no' }, 'rejected'],
  [200, ['success'], 'unavailable'],
  [200, { result: 1 }, 'unavailable'],
])('%d with %j is %s', (status, body, kind) => {
  expect(kindOf(() => accept(answer(status, body, { location: 'https://chat.test/login/' })))).toBe(kind);
});

test.each([
  [400, undefined],
  [404, undefined],
  [
    401,
    'Check that the key belongs to this account and URL. To try every key that is set or stored: chatelaine doctor',
  ],
  [500, 'Run the command again later.'],
])('the hint of an error with %d', (status, hint) => {
  expect(refusal(answer(status, { result: 'error', msg: 'no' })).details.hint).toBe(hint);
});

test.each([
  [400, { msg: 'no' }, 'the chat server refused the request: no'],
  [400, { msg: 'no', stream: 's', count: 3, names: ['a'] }, 'the chat server refused the request: no (stream: s)'],
  [401, { msg: 'no' }, 'the chat server refused the credential or the permission: no'],
  [404, { msg: 'no' }, 'not found: no'],
  [500, { msg: 'no' }, 'the chat server failed: no'],
  [400, {}, 'the chat server refused the request: status 400'],
  [200, {}, "the chat server refused the request: result 'error' (200)"],
])('the message of an error with %d and %j', (status, words, message) => {
  expect(refusal(answer(status, { result: 'error', ...words })).message).toBe(message);
});

test.each([
  [400, 'the chat server refused the request (400): "a page"', undefined],
  [404, 'the chat server refused the request (404): "a page"', 'Check the site URL of the profile.'],
  [502, 'the chat server is not available (502): "a page"', 'Run the command again later.'],
])('the message and the hint of a page with %d', (status, message, hint) => {
  expect(() => accept(answer(status, 'a page'))).toThrow(
    expect.objectContaining({ message, details: expect.objectContaining({ hint }) as object }),
  );
});

test('of a call that must not be sent twice, a success that cannot be read leaves open what was done', () => {
  const unknown = expect.objectContaining({ kind: 'unknown', retryable: false }) as Failure;
  expect(() => acceptOnce(answer(200, 'a page'))).toThrow(unknown);
  expect(kindOf(() => acceptOnce(answer(500, 'a page')))).toBe('unavailable');
  expect(kindOf(() => acceptOnce(answer(200, { result: 'error', msg: 'no' })))).toBe('rejected');
  expect(kindOf(() => acceptOnce(answer(200, success)))).toBe('accepted');
});
