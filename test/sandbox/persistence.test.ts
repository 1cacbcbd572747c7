import { expect, test } from 'vitest';
import type { Persistence } from '../../src/sandbox/state.ts';
import { started } from './start.ts';

interface SharedData {
  readonly records: unknown[];
  /** A handle of its own for each sandbox, as the store gives to each process. */
  open(): Persistence;
  failing: boolean;
}

/** The log of the store without a disk: one worker at a time, records as JSON text. */
function sharedData(): SharedData {
  let last: Promise<unknown> = Promise.resolve();
  const data: SharedData = {
    records: [],
    failing: false,
    open() {
      let seen = 0;
      const log = () => ({
        records: data.records.slice(seen, (seen = data.records.length)),
        append: async (record: unknown) => {
          await Promise.resolve();
          if (data.failing) throw new Error('no space left on device');
          data.records.push(JSON.parse(JSON.stringify(record)));
          seen = data.records.length;
        },
      });
      return {
        exclusively(work) {
          const turn = last.then(() => work(log()));
          last = turn.catch(() => undefined);
          return turn;
        },
      };
    },
  };
  return data;
}

const license = { remote_user: 'shared', app_code: 4711, size_allowance: 2 };

test('sandboxes that share data see what the others did', async () => {
  const data = sharedData();
  const one = await started({ persistence: data.open() });
  const other = await started({ persistence: data.open() });

  const { body } = await one.licensing('POST', '/license/', { json: license });
  await other.chat('POST', '/streams/1/delete_topic', { form: { topic_name: 'lunch' } });
  await one.chat('PATCH', '/settings', { form: { full_name: 'Mara L.' } });
  await other.chat('PATCH', '/navigation_views/inbox', { form: { is_pinned: 'false' } });
  await one.chat('DELETE', '/saved_snippets/1');

  const query = { remote_user: 'shared' };
  expect((await other.licensing('GET', '/license/', { query })).body).toEqual([body]);
  expect(
    (await one.chat('GET', '/messages', { query: { anchor: 'oldest', num_after: '9', narrow: '[["topic","lunch"]]' } }))
      .body,
  ).toMatchObject({ messages: [] });
  expect((await other.chat('GET', '/users/me')).body).toMatchObject({ full_name: 'Mara L.' });
  expect((await one.chat('GET', '/navigation_views')).body).toMatchObject({
    navigation_views: [{ is_pinned: false }, {}, {}, {}],
  });
  expect((await other.chat('GET', '/saved_snippets')).body).toMatchObject({ saved_snippets: [{ id: 2 }] });
});

test('a later sandbox resumes where the last one ended, and gives out no code twice', async () => {
  const data = sharedData();
  const first = await started({ persistence: data.open() });
  const one = await first.licensing('POST', '/license/', { json: license });
  await first.sandbox.close();

  const second = await started({ persistence: data.open() });
  const two = await second.licensing('POST', '/license/', { json: license });

  expect((await second.licensing('GET', '/license/', { query: { remote_user: 'shared' } })).body).toEqual([
    one.body,
    two.body,
  ]);
  expect(one.body).not.toEqual(two.body);
});

test('the log holds changes alone: one record a request, none for reads and refusals, never the sample', async () => {
  const data = sharedData();
  const { licensing, chat } = await started({ persistence: data.open() });

  await licensing('GET', '/license/');
  await licensing('POST', '/license/', { json: {} });
  await chat('DELETE', '/saved_snippets/1');

  expect(data.records).toEqual([[{ table: 'snippets', key: 1, value: null }]]);
});

test('what cannot be written did not happen: 500, and the state as before', async () => {
  const data = sharedData();
  const running = await started({ persistence: data.open() });
  const before = running.sandbox.state.licenses().length;
  data.failing = true;

  const answer = await running.licensing('POST', '/license/', { json: license });
  const topic = await running.chat('POST', '/streams/1/delete_topic', { form: { topic_name: 'lunch' } });
  data.failing = false;

  expect([answer.status, topic.status]).toEqual([500, 500]);
  expect(running.sandbox.state.licenses()).toHaveLength(before);
  expect(running.sandbox.state.topic('general', 'lunch')).toHaveLength(5);
  expect(running.log[0]).toMatchObject({ status: 500, committed: false, error: 'no space left on device' });
  const again = await running.licensing('POST', '/license/', { json: license });
  expect(again.status).toBe(201);
});

test('a log that was begun again takes everything back to the sample', async () => {
  const data = sharedData();
  const running = await started({ persistence: data.open() });
  await running.licensing('POST', '/license/', { json: license });
  await running.chat('DELETE', '/saved_snippets/1');
  data.records.push({ reset: true }, [{ table: 'snippets', key: 2, value: null }]);

  const { body } = await running.licensing('GET', '/license/', { query: { remote_user: 'shared' } });

  expect(body).toEqual([]);
  expect(running.sandbox.state.snippets().map(({ id }) => id)).toEqual([1, 3, 4]);
});
