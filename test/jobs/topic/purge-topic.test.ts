import { expect, test } from 'vitest';
import type { MessageQuery } from '../../../src/api/chat/chat-messages.ts';
import { Failure } from '../../../src/core/failure.ts';
import { purgeTopic } from '../../../src/jobs/topic/purge-topic.ts';
import { surveyTopic } from '../../../src/jobs/topic/survey-topic.ts';

const topic = { channel: { stream_id: 5, name: 'kitchen' }, topic_name: 'lunch' };

/** A topic in memory: each call deletes two messages, and one message arrives with each of the first two calls. */
function openTopic(steps: string[]) {
  let ids = [1, 2, 3, 4];
  let next = 10;
  return {
    level: () => Promise.resolve(372),
    messages({ anchor, num_before = 0, include_anchor, message_ids }: MessageQuery) {
      const at = anchor === 'newest' ? Infinity : anchor === 'oldest' ? 0 : Number(anchor);
      const isFound = (id: number): boolean => {
        if (message_ids) return message_ids.includes(id);
        if (num_before > 0) return id <= at;
        return include_anchor === false ? id > at : id >= at;
      };
      const found = ids.filter(isFound).slice(num_before > 0 ? -1 : 0);
      return Promise.resolve({
        ...{ found_newest: true, found_oldest: true, history_limited: false, ignored: [] },
        messages: found.map((id) => ({ id, stream_id: 5, display_recipient: 'kitchen', subject: 'lunch' })),
      });
    },
    deleteTopic() {
      steps.push('delete');
      ids = ids.slice(0, -2);
      if (next < 12) ids.push(next++);
      return Promise.resolve({ complete: ids.length === 0 });
    },
  };
}

const quiet = { sleep: () => Promise.resolve(), note: () => undefined };

test('messages are kept before the first delete call, and those that arrive before every later one', async () => {
  const steps: string[] = [];
  const chat = openTopic(steps);
  const kept = new Set<number>();
  const keeper = {
    lacks: ({ id }: { readonly id: number }) => !kept.has(id),
    begin: ({ ids }: { readonly ids: readonly number[] }) => {
      for (const id of ids) kept.add(id);
      steps.push(`begin ${ids.join()}`);
      return Promise.resolve(ids);
    },
    add: (messages: readonly { readonly id: number }[]) =>
      Promise.resolve(void steps.push(`add ${messages.map(({ id }) => id).join()}`)),
  };

  const purged = await purgeTopic(chat, await surveyTopic(chat, topic), { ...quiet, keeper });

  expect(steps).toEqual(['begin 1,2,3,4', 'add ', 'delete', 'add 10', 'delete', 'add 11', 'delete']);
  expect(purged).toEqual({ deleted: 6, now: 6 });
});

test.each(['begin', 'add'] as const)('a failure of %s ends the purge before anything is deleted', async (step) => {
  const steps: string[] = [];
  const chat = openTopic(steps);
  const full = new Failure('unavailable', 'the disk is full');
  const keeper = {
    lacks: () => false,
    begin: () => Promise.resolve([]),
    add: () => Promise.resolve(),
    [step]: () => Promise.reject(full),
  };

  await expect(purgeTopic(chat, await surveyTopic(chat, topic), { ...quiet, keeper })).rejects.toBe(full);
  expect(steps).toEqual([]);
});
