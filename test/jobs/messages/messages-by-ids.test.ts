import { expect, test } from 'vitest';
import type { MessageQuery } from '../../../src/api/chat/chat-messages.ts';
import { Failure } from '../../../src/core/failure.ts';
import { messagesOfIds, portions } from '../../../src/jobs/messages/messages-by-ids.ts';

/** The number of ids in each request. */
function portionsOf(ids: readonly number[], query: MessageQuery = {}): number[] {
  return portions(ids, query).map(({ length }) => length);
}

async function idsShown(chat: object): Promise<number[]> {
  const shown: number[] = [];
  for await (const { id } of messagesOfIds(chat as Parameters<typeof messagesOfIds>[0], {}, [7])) shown.push(id);
  return shown;
}

/** Ids that take 8 bytes of a URL each. */
function sevenDigits(count: number): number[] {
  return Array.from({ length: count }, (_, index) => 1_000_000 + index);
}

test.each([
  ['no id is no request', [], []],
  ['749 ids are 6,998 bytes with 1,006 for the rest of the URL', sevenDigits(749), [749]],
  ['750 ids are more than 7,000', sevenDigits(750), [749, 1]],
  ['the URL stays below 7,000 bytes: at 7,000 another request begins', [1, ...sevenDigits(749)], [749, 1]],
  ['the ids of a second request start again', sevenDigits(1500), [749, 749, 2]],
])('%s', (_what, ids, sizes) => {
  expect(portionsOf(ids)).toEqual(sizes);
});

test('a long narrow leaves less room for ids', () => {
  const narrow = [{ operator: 'topic', operand: 'x'.repeat(3000) }];
  const [first = 0, ...others] = portionsOf(sevenDigits(599), { narrow });

  expect(first).toBeLessThan(400);
  expect(others.reduce((sum, size) => sum + size, first)).toBe(599);
});

test.each([
  [undefined, { message_ids: [7] }],
  [300, { message_ids: [7] }],
  [299, { anchor: '7', num_before: 0, num_after: 0 }],
])('a server of level %s that shows neighbours too is asked for %j', async (level, query) => {
  const asked: MessageQuery[] = [];
  const chat = {
    messages: async (one: MessageQuery) => (asked.push(one), { messages: [{ id: 6 }, { id: 7 }, { id: 8 }] }),
    level: async () => level,
  };

  expect([await idsShown(chat), ...asked]).toEqual([[7], query]);
});

test.each([400, 200])(
  'level %d: a channel that the account does not see shows none, and any other refusal is thrown',
  async (level) => {
    const idsAfter = (code: string) => {
      const refused = new Failure('rejected', 'refused', { server: { code, msg: 'refused' } });
      const chat = { messages: () => Promise.reject(refused), level: async () => level };
      return idsShown(chat);
    };

    expect(await idsAfter('BAD_NARROW')).toEqual([]);
    await expect(idsAfter('BAD_REQUEST')).rejects.toThrow('refused');
  },
);
