import { expect, test } from 'vitest';
import { chatApi } from '../../../src/api/chat/chat.ts';
import type { Answer } from '../../../src/api/http/call.ts';

const page = {
  result: 'success',
  msg: '',
  messages: [{ id: 7, content: 'seven' }, { id: 8 }],
  found_newest: true,
};

/** What a server answered, and how often its body was parsed whole. */
function answerOf(status: number, value: unknown): { readonly answer: Answer; readonly parses: () => number } {
  let parses = 0;
  const text = JSON.stringify(value);
  return {
    parses: () => parses,
    answer: {
      ...{ status, headers: {}, text, bytes: Buffer.from(text), afterUnconfirmed: false },
      http: { method: 'GET', url: 'https://chat.test/api/v1/messages', status },
      get body() {
        parses += 1;
        return value;
      },
    },
  };
}

const narrow = [{ operator: 'channel', operand: 'general' }];

test.each([
  ['of all messages', {}],
  ['of a selection', { narrow }],
])('a raw page %s is read without parsing its messages', async (_name, query) => {
  const { answer, parses } = answerOf(200, page);
  const { raw } = chatApi(
    () => Promise.resolve(answer),
    () => Promise.reject(new Error('the level was asked for')),
  );

  const { messages, found_newest } = await raw.messages(query);

  expect(messages.map(({ id, text }) => [id, text.parse()])).toEqual([
    [7, { id: 7, content: 'seven' }],
    [8, { id: 8 }],
  ]);
  expect(found_newest).toBe(true);
  expect(parses()).toBe(0);
});
