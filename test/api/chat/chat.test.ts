import { expect, test } from 'vitest';
import { chatApi } from '../../../src/api/chat/chat.ts';
import type { Answer } from '../../../src/api/http/call.ts';

const page = {
  result: 'success',
  msg: '',
  messages: [{ id: 7, content: 'seven' }, { id: 8 }],
  found_newest: true,
};

/** What a server answered, and what was done with its body: how often it was parsed whole, and given up. */
function answerOf(status: number, value: unknown) {
  const done = { parses: 0, releases: 0 };
  const text = JSON.stringify(value);
  const answer: Answer = {
    ...{ status, headers: {}, text, bytes: Buffer.from(text), afterUnconfirmed: false },
    http: { method: 'GET', url: 'https://chat.test/api/v1/messages', status },
    release: () => void (done.releases += 1),
    get body() {
      done.parses += 1;
      return value;
    },
  };
  return { answer, done };
}

const narrow = [{ operator: 'channel', operand: 'general' }];

test.each([
  ['of all messages', {}],
  ['of a selection', { narrow }],
])('a raw page %s is read without parsing its messages, and its answer gives up the body', async (_name, query) => {
  const { answer, done } = answerOf(200, page);
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
  expect(done).toEqual({ parses: 0, releases: 1 });
});
