import { expect, test } from 'vitest';
import { Answer, isSuccess } from '../../../src/api/http/answer.ts';

test('a success has a status from 200 to 299', () => {
  const answerOf = (status: number) => new Answer({ method: 'GET', url: 'https://a.test/', status }, {}, Buffer.of());
  expect([199, 200, 299, 300].map((status) => isSuccess(answerOf(status)))).toEqual([false, true, true, false]);
});
