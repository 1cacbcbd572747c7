import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isWhole } from '../helpers/extent.ts';
import { started, type Running } from './start.ts';

interface Shown {
  readonly id: number;
  readonly subject: string;
  readonly flags: readonly string[];
  readonly [field: string]: unknown;
}

interface Page {
  readonly messages: readonly Shown[];
  readonly anchor?: number;
  readonly found_anchor: boolean;
  readonly found_oldest: boolean;
  readonly found_newest: boolean;
  readonly history_limited: boolean;
}

async function fetched({ chat }: Running, query: Record<string, string>, as = 'mara'): Promise<Page> {
  const answer = await chat('GET', '/messages', { query, as });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as Page;
}

/** Ids 1 to 9 in a channel of their own, except 4 and 5. */
async function small(): Promise<Running> {
  return started({
    seed(state) {
      const pattern = state.messages.rows().find(({ subject }) => subject === 'lunch');
      for (const { id } of state.messages.rows()) state.messages.remove(id);
      for (const id of [1, 2, 3, 6, 7, 8, 9])
        if (pattern) state.messages.put(id, { ...pattern, id, timestamp: id * 100 });
    },
  });
}

const largest = 10_000_000_000_000_000;

test.each([
  // anchor, before, after, include | ids, anchor, found anchor, oldest, newest
  ['newest', 2, 0, true, [8, 9], largest, false, false, true],
  ['newest', 7, 0, true, [1, 2, 3, 6, 7, 8, 9], largest, false, false, true],
  ['newest', 0, 0, true, [], largest, false, false, true],
  ['oldest', 0, 2, true, [1, 2], 0, false, true, false],
  ['oldest', 0, 8, true, [1, 2, 3, 6, 7, 8, 9], 0, false, true, true],
  ['6', 1, 1, true, [3, 6, 7], 6, true, false, false],
  ['6', 2, 0, true, [2, 3, 6], 6, true, false, false],
  ['6', 2, 0, false, [2, 3], 6, false, false, false],
  ['6', 0, 0, true, [6], 6, true, false, false],
  ['6', 0, 0, false, [6], 6, true, false, false],
  ['4', 0, 0, true, [], 4, false, false, false],
  ['4', 1, 1, true, [3, 6], 4, false, false, false],
  ['-5', 0, 1, true, [1], 0, false, true, false],
  ['99999999999999999999', 1, 0, true, [9], largest, false, false, true],
] as const)(
  'anchor %s, %i before, %i after, anchor included: %s',
  async (anchor, before, after, include, ids, resolved, found_anchor, found_oldest, found_newest) => {
    const page = await fetched(await small(), {
      ...{ anchor, num_before: String(before), num_after: String(after), include_anchor: String(include) },
    });

    expect({ ...page, messages: page.messages.map(({ id }) => id) }).toEqual({
      ...{ result: 'success', msg: '', messages: ids, anchor: resolved },
      ...{ found_anchor, found_oldest, found_newest, history_limited: false },
    });
  },
);

test.each([
  ['1970-01-01T00:10:00Z', 6],
  ['1970-01-01T02:10:00.5+0200', 7],
  ['1970-01-01', 1],
  ['1970-01-02', 9],
])('the anchor of the date %s is the first message from then on, or the last one', async (anchor_date, id) => {
  const { anchor, messages } = await fetched(await small(), { anchor: 'date', anchor_date, num_before: '0' });
  expect([anchor, messages[0]?.id]).toEqual([id, id]);
});

const incompatible =
  'Unsupported parameter combination: num_before, num_after, anchor, message_ids, include_anchor, use_first_unread_anchor';

test.each([
  [489, { anchor: '12x' }, 'Invalid anchor'],
  [489, { anchor: '1', num_before: '2500', num_after: '2501' }, 'Too many messages requested (maximum 5000).'],
  [489, { message_ids: JSON.stringify(Array.from({ length: 1001 }, () => 1)), num_before: '1' }, incompatible],
  [489, { message_ids: '[1]', use_first_unread_anchor: 'true' }, incompatible],
  [489, { message_ids: '5' }, 'message_ids is not a list'],
  [489, { anchor: 'newest', apply_markdown: 'True' }, 'apply_markdown is not valid JSON'],
])('level %i refuses %j: %s', async (featureLevel, query, msg) => {
  const { chat } = await started({ featureLevel });

  const { status, body } = await chat('GET', '/messages', { query });

  expect({ status, body }).toMatchObject({ status: 400, body: { result: 'error', msg, code: 'BAD_REQUEST' } });
});

test('paging forward and backward by any page size meets every message once, whatever the narrow', async () => {
  const running = await started({ rateLimit: { perMinute: 1_000_000 } });
  const narrows = [
    '[]',
    '[["stream","general"]]',
    '[["topic","lunch"]]',
    '[["is","private"]]',
    '[["search","sensors"]]',
    'null',
  ];
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 90 }),
    fc.constantFrom(...narrows),
    async (size, narrow) => {
      const whole = await fetched(running, { anchor: 'newest', num_before: '5000', narrow });
      const ids = whole.messages.map(({ id }) => id);
      expect(await paged(running, narrow, size, 'forward')).toEqual(ids);
      expect(await paged(running, narrow, size, 'backward')).toEqual(ids);
    },
  );

  await fc.assert(property, { seed: 7, numRuns: isWhole ? 12 : 6 });
});

async function paged(running: Running, narrow: string, size: number, way: 'forward' | 'backward'): Promise<number[]> {
  const count = way === 'forward' ? { num_after: String(size) } : { num_before: String(size) };
  let ids: number[] = [];
  let query: Record<string, string> = { anchor: way === 'forward' ? 'oldest' : 'newest' };
  for (;;) {
    const page = await fetched(running, { ...query, ...count, narrow });
    const found = page.messages.map(({ id }) => id);
    ids = way === 'forward' ? [...ids, ...found] : [...found, ...ids];
    if (way === 'forward' ? page.found_newest : page.found_oldest) return ids;
    query = { anchor: String(way === 'forward' ? ids.at(-1) : ids[0]), include_anchor: 'false' };
  }
}

test('first_unread is the oldest unread message outside muted topics and channels', async () => {
  const running = await started();
  const unread = running.sandbox.state.topic('general', 'who has dock 4?')[0]?.id;

  const page = await fetched(running, { anchor: 'first_unread', num_after: '1' });
  const old = await fetched(running, { use_first_unread_anchor: 'true', anchor: 'oldest', num_after: '1' });

  expect(page).toMatchObject({
    anchor: unread,
    found_anchor: true,
    messages: [{ id: unread, flags: [] }, { flags: [] }],
  });
  expect(old.anchor).toBe(unread);
});

test.each([
  [489, {}, 'general chat'],
  [489, { allow_empty_topic_name: 'true' }, ''],
])('level %i, %j: the empty topic is shown as "%s"', async (featureLevel, query, subject) => {
  const { messages } = await fetched(await started({ featureLevel }), {
    ...{ anchor: 'oldest', num_after: '1', narrow: '[["channel","general"],["topic",""]]', ...query },
  });

  expect(messages[0]?.subject).toBe(subject);
});

test('who joined later finds earlier messages of a public channel through a channel term, as historical', async () => {
  const running = await started();
  const narrow = '[["channel","general"],["topic","onboarding"]]';

  const shared = await fetched(running, { anchor: 'oldest', num_after: '50', narrow }, 'jonas');
  const own = await fetched(
    running,
    { anchor: 'oldest', num_after: '50', narrow: '[["topic","onboarding"]]' },
    'jonas',
  );

  expect(shared.messages.map(({ flags }) => flags.join())).toEqual([
    ...Array.from({ length: 6 }, () => 'read,historical'),
    'read,mentioned',
    'read',
  ]);
  expect(own.messages).toHaveLength(2);
});

test('a limited history hides all but the newest messages, and found_newest is wrong forward from the oldest', async () => {
  const running = await started({ historyLimit: 300 });
  const all = running.sandbox.state.topic('general', 'calibration log');
  const visible = running.sandbox.state.messages().at(-300)?.id ?? 0;
  const narrow = JSON.stringify([term('channel', 'general'), term('topic', 'calibration log')]);
  const page = (query: Record<string, string>) =>
    fetched(running, { num_before: '0', num_after: '0', ...query, narrow });
  const shown = all.filter(({ id }) => id >= visible).length;
  expect(shown).toBeGreaterThan(100);
  expect(shown).toBeLessThan(all.length);
  const edge = all.length - shown;

  const fromOldest = await page({ anchor: 'oldest', num_after: String(edge + 10) });
  const fromFirst = await page({ anchor: '1', num_after: '20' });
  const backward = await page({ anchor: 'newest', num_before: '1000' });

  expect(fromOldest).toMatchObject({ found_oldest: true, found_newest: true, history_limited: true });
  expect(fromOldest.messages.length).toBe(11);
  expect(fromFirst).toMatchObject({ found_oldest: false, found_newest: false, history_limited: false });
  expect([fromFirst.messages.length, fromFirst.messages[0]?.id]).toEqual([20, all[edge]?.id]);
  expect(backward).toMatchObject({ found_oldest: true, found_newest: true, history_limited: true });
  expect(backward.messages.length).toBe(shown);
});

function term(operator: string, operand: string) {
  return { operator, operand };
}

test('an address of an attached file is for who can read a message that names it, and good for a minute', async () => {
  const { chat, clock, sandbox } = await started();
  const file =
    sandbox.state.messages().flatMap(({ content }) => /\/user_uploads\/2\/bud[^)]*/.exec(content) ?? [])[0] ?? '';
  const { body } = await chat('GET', file);
  const { url } = body as { readonly url: string };
  const fetched = async () => (await fetch(`${sandbox.chat.site}${url}`)).status;

  expect((await chat('GET', file, { as: 'priya' })).status).toBe(403);
  expect((await chat('GET', '/user_uploads/2/nosuch.pdf')).status).toBe(404);
  expect(url).toMatch(/^\/user_uploads\/temporary\/[\w-]+:\d+:[\w-]{20}\/bud/);
  clock.advance(60_000 - (clock.now() % 1000));
  expect(await fetched()).toBe(200);
  clock.advance(1);
  expect(await fetched()).toBe(403);
});

test.each([
  ['mara', 1439, 200],
  ['priya', 1439, 400],
  ['mara', 1439_000, 400],
  ['mara', 1020, 400],
  ['mara', 1021, 200],
])('one message to %s, where earlier ones than 1021 are hidden: %i: %i', async (as, id, status) => {
  const { chat, sandbox } = await started();
  sandbox.state.organize({ first_visible_message_id: 1021 });

  expect((await chat('GET', `/messages/${id}`, { as })).status).toBe(status);
});
