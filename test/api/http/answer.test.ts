import { expect, test } from 'vitest';
import {
  Answer,
  bounded,
  incompleteAfter,
  isRedirect,
  isSuccess,
  serverWords,
  wordsOf,
} from '../../../src/api/http/answer.ts';
import { Failure } from '../../../src/core/failure.ts';

test('a success has a status from 200 to 299, a redirect one from 300 to 399', () => {
  const answerOf = (status: number) => new Answer({ method: 'GET', url: 'https://a.test/', status }, {}, Buffer.of());
  expect([199, 200, 299, 300].map((status) => isSuccess(answerOf(status)))).toEqual([false, true, true, false]);
  expect([299, 300, 399, 400].map((status) => isRedirect(answerOf(status)))).toEqual([false, true, true, false]);
});

test('words of a server are cut before the last whole word', () => {
  const long = 'x'.repeat(19_998);
  const texts = ['a b', `${long}y`, `${long} y`, `${long}yz`];
  expect(texts.map(bounded)).toEqual(['a b', `${long}y`, `${long} `, '']);
});

test('a page says its title, or all of its words', () => {
  const body = '<body>\n<p>Sign <b>in</b></p>';
  expect([body, `<title>Access</title>${body}`].map(wordsOf)).toEqual(['Sign in', 'Access']);
});

test('what fails after a part of a list makes it incomplete; an interruption, and a bug, stay themselves', () => {
  const [lost, stopped] = [new Failure('unavailable', 'no answer'), new Failure('cancelled', 'interrupted')];
  const said = { kind: 'incomplete', message: 'the list ends after 2 pages: no answer', details: { retryable: true } };
  expect(incompleteAfter(2, lost)).toMatchObject(said);
  for (const cause of [stopped, new Error('bug')]) expect(incompleteAfter(2, cause)).toBe(cause);
});

test('what a server says beside its message are numbers, other texts, and lists of texts', () => {
  const said = { msg: 'no such user', code: 'X', user: 'user', name: 'ada', count: 2, all: ['a'], ids: [1], is: true };
  const { name, count, all } = said;
  expect(serverWords({ result: 'error', ...said })).toEqual({ code: 'X', msg: 'no such user', name, count, all });
});
