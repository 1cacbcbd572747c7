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
  ['newest', 2, 5, true, [8, 9], largest, false, false, true],
  ['newest', 7, 0, true, [1, 2, 3, 6, 7, 8, 9], largest, false, false, true],
  ['newest', 8, 0, true, [1, 2, 3, 6, 7, 8, 9], largest, false, true, true],
  ['newest', 0, 0, true, [], largest, false, false, true],
  ['oldest', 0, 2, true, [1, 2], 0, false, true, false],
  ['oldest', 3, 2, true, [1, 2], 0, false, true, false],
  ['oldest', 0, 8, true, [1, 2, 3, 6, 7, 8, 9], 0, false, true, true],
  ['6', 1, 1, true, [3, 6, 7], 6, true, false, false],
  ['6', 2, 0, true, [2, 3, 6], 6, true, false, false],
  ['6', 0, 2, true, [6, 7, 8], 6, true, false, false],
  ['6', 2, 0, false, [2, 3], 6, false, false, false],
  ['6', 0, 2, false, [7, 8], 6, false, false, false],
  ['6', 0, 0, true, [6], 6, true, false, false],
  ['6', 0, 0, false, [6], 6, true, false, false],
  ['4', 0, 0, true, [], 4, false, false, false],
  ['4', 1, 1, true, [3, 6], 4, false, false, false],
  ['6', 3, 4, true, [1, 2, 3, 6, 7, 8, 9], 6, true, false, true],
  ['9', 0, 3, false, [], 9, false, false, true],
  ['1', 3, 0, false, [], 1, false, true, false],
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
  ['1970-01-01T00:05:00Z', 3, [3, 6]],
  ['1970-01-01T00:10:00Z', 6, [6, 7]],
  ['1970-01-01T01:10:00.5+01:00', 7, [7, 8]],
  ['1970-01-01T00:10', 6, [6, 7]],
  ['1970-01-01', 1, [1, 2]],
  ['2026-01-01', 9, [9]],
])('anchor_date %s begins at message %i', async (anchor_date, anchor, ids) => {
  const page = await fetched(await small(), { anchor: 'date', anchor_date, num_after: '1' });

  expect(page).toMatchObject({ anchor, found_anchor: true, messages: ids.map((id) => ({ id })) });
});

test.each([
  [489, { anchor: 'date' }, "Missing 'anchor_date' argument."],
  [489, { anchor: 'date', anchor_date: 'yesterday' }, 'Invalid anchor_date'],
  [444, { anchor: 'date', anchor_date: '2026-01-01' }, 'Invalid anchor'],
  [489, { anchor: '' }, 'Invalid anchor'],
  [489, { anchor: '12x' }, 'Invalid anchor'],
  [489, { anchor: '1', num_before: '2500', num_after: '2501' }, 'Too many messages requested (maximum 5000).'],
  [489, { message_ids: JSON.stringify(Array.from({ length: 1001 }, () => 1)), num_before: '1' }, incompatibleMessage()],
  [489, { message_ids: '[1]', use_first_unread_anchor: 'true' }, incompatibleMessage()],
  [489, { message_ids: '5' }, 'message_ids is not a list'],
  [489, { message_ids: '["5"]' }, 'message_ids[0] is not an integer'],
  [489, { message_ids: '[1,-1]' }, 'message_ids[1] is too small'],
  [489, { anchor: 'newest', apply_markdown: 'True' }, 'apply_markdown is not valid JSON'],
])('level %i refuses %j: %s', async (featureLevel, query, msg) => {
  const { chat } = await started({ featureLevel });

  const { status, body } = await chat('GET', '/messages', { query });

  expect({ status, body }).toMatchObject({ status: 400, body: { result: 'error', msg, code: 'BAD_REQUEST' } });
});

function incompatibleMessage(): string {
  return 'Unsupported parameter combination: num_before, num_after, anchor, message_ids, include_anchor, use_first_unread_anchor';
}

test('5000 ids are allowed, 5001 are not', async () => {
  const { chat } = await started();
  const ask = (length: number) => {
    const message_ids = JSON.stringify(Array.from({ length }, (_, index) => index));
    return chat('POST', '/messages', { form: { method: 'GET', message_ids } });
  };

  expect((await ask(5000)).status).toBe(200);
  expect((await ask(5001)).body).toMatchObject({ msg: 'Too many messages requested (maximum 5000).' });
});

test('zero counts and include_anchor are tolerated beside message_ids', async () => {
  const { messages } = await fetched(await small(), {
    ...{ message_ids: '[2,9,5,2]', num_before: '0', num_after: '0', include_anchor: 'false' },
  });

  expect(messages.map(({ id }) => id)).toEqual([9, 2]);
});

test('message_ids may be filtered by a narrow', async () => {
  const narrow = '[{"operator":"id","operand":9}]';

  const { messages } = await fetched(await small(), { message_ids: '[2,9]', narrow });

  expect(messages.map(({ id }) => id)).toEqual([9]);
});

test('below level 155 include_anchor is unknown and silently dropped', async () => {
  const running = await started({ featureLevel: 154 });
  const { body } = await running.chat('GET', '/messages', {
    query: { anchor: '1001', num_before: '0', num_after: '0', include_anchor: 'false' },
  });

  expect(body).toMatchObject({ found_anchor: true, messages: [{ id: 1001 }] });
  expect(body).not.toHaveProperty('ignored_parameters_unsupported');
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

test('a channel message has the fields of the specification', async () => {
  const running = await started();
  const [first] = running.sandbox.state.topic('general', '✔ dropped samples at 120 Hz');

  const { messages } = await fetched(running, { anchor: String(first?.id) });

  expect(messages).toEqual([
    {
      id: first?.id,
      type: 'stream',
      content: '<p>The gait lab lost about 2% of the samples with all 17 sensors at 120 Hz. At 60 Hz it is fine.</p>',
      content_type: 'text/html',
      display_recipient: 'general',
      recipient_id: 101,
      sender_id: 10,
      sender_email: 'user10@harbour.example',
      sender_full_name: 'Ines Okafor',
      sender_realm_str: 'harbour',
      stream_id: 1,
      avatar_url: 'https://secure.gravatar.com/avatar/10df787190f21e052816dc81471f5544?d=identicon&version=1',
      subject: '✔ dropped samples at 120 Hz',
      timestamp: Date.parse('2026-01-19T09:10:00Z') / 1000,

      client: 'website',
      flags: ['read'],
      is_me_message: false,
      last_edit_timestamp: Date.parse('2026-01-19T09:14:00Z') / 1000,
      edit_history: [
        {
          user_id: 10,
          timestamp: Date.parse('2026-01-19T09:14:00Z') / 1000,
          prev_content:
            'The gait lab lost about 20% of the samples with all 17 sensors at 120 Hz. At 60 Hz it is fine.',
          prev_rendered_content:
            '<p>The gait lab lost about 20% of the samples with all 17 sensors at 120 Hz. At 60 Hz it is fine.</p>',
        },
      ],
      reactions: [],
      submessages: [],
      topic_links: [],
    },
  ]);
});

test('a direct message names everybody, and has no channel', async () => {
  const { messages } = await fetched(await started(), {
    anchor: 'oldest',
    num_after: '1',
    narrow: '[{"operator":"dm","operand":[9]}]',
  });
  const person = (id: number, email: string, full_name: string) => ({ id, email, full_name, is_mirror_dummy: false });

  expect(messages[0]).toMatchObject({
    type: 'private',
    subject: '',
    recipient_id: 201,
    display_recipient: [
      person(8, 'user8@harbour.example', 'Mara Lindqvist'),
      person(9, 'tomas@harbour.example', 'Tomás Ferreira'),
    ],
  });
  expect(messages[0]).not.toHaveProperty('stream_id');
});

test.each([
  [326, [1009, 1008]],
  [327, [201, 201]],
])('at level %i the recipient ids of what two people sent each other are %j', async (featureLevel, ids) => {
  const { messages } = await fetched(await started({ featureLevel }), {
    ...{ anchor: 'oldest', num_after: '10', narrow: '[{"operator":"dm","operand":[9]}]' },
  });

  const sentBy = (sender: number) => messages.find(({ sender_id }) => sender_id === sender)?.['recipient_id'];
  expect([sentBy(8), sentBy(9)]).toEqual(ids);
});

test('apply_markdown=false gives the source', async () => {
  const { messages } = await fetched(await started(), {
    ...{ anchor: 'oldest', num_after: '1', apply_markdown: 'false', narrow: '[["topic","onboarding"]]' },
  });

  expect(messages[0]).toMatchObject({
    content: 'Welcome to **Harbour Motion**! Sensors are in the blue cabinet, charging docks next to the window.',
    content_type: 'text/x-markdown',
  });
});

test.each([
  [489, {}, null],
  [489, { client_gravatar: 'false' }, 'https://secure.gravatar.com/'],
  [92, {}, null],
  [91, {}, 'https://secure.gravatar.com/'],
  [91, { client_gravatar: 'true' }, null],
] as const)(
  'level %i, %j: avatar_url of an address that everybody sees begins with %s',
  async (featureLevel, query, start) => {
    const counts = { num_before: '1', num_after: '0' };
    const { messages } = await fetched(await started({ featureLevel }), {
      ...{ anchor: 'newest', narrow: '[["sender","tomas@harbour.example"]]', ...counts, ...query },
    });

    const avatar = messages[0]?.['avatar_url'];
    expect(typeof avatar === 'string' ? avatar.slice(0, 28) : avatar).toBe(start);
  },
);

test.each([
  [489, {}, 'general chat'],
  [489, { allow_empty_topic_name: 'true' }, ''],
])('level %i, %j: the empty topic is shown as "%s"', async (featureLevel, query, subject) => {
  const { messages } = await fetched(await started({ featureLevel }), {
    ...{ anchor: 'oldest', num_after: '1', narrow: '[["channel","general"],["topic",""]]', ...query },
  });

  expect(messages[0]?.subject).toBe(subject);
});

test('below level 334 there is no message without a topic', async () => {
  const { messages } = await fetched(await started({ featureLevel: 333 }), {
    ...{ anchor: 'oldest', num_after: '1', narrow: '[["channel","general"],["topic",""]]' },
  });

  expect(messages).toEqual([]);
});

test.each([
  [365, 'edited', ['last_edit_timestamp']],
  [365, 'moved', ['last_moved_timestamp']],
  [364, 'moved', ['last_edit_timestamp']],
])('level %i: a message that was %s has %j', async (featureLevel, what, names) => {
  const topic = what === 'edited' ? '✔ dropped samples at 120 Hz' : 'sync of two groups';
  const { messages } = await fetched(await started({ featureLevel }), {
    ...{ anchor: 'oldest', num_after: '5000', narrow: JSON.stringify([['topic', topic]]) },
  });

  const changed = messages.find((message) => 'edit_history' in message) ?? {};
  expect(Object.keys(changed).filter((name) => name.startsWith('last_'))).toEqual(names);
});

test.each([
  [328, {}],
  [327, { user: { id: 9, email: 'tomas@harbour.example', full_name: 'Tomás Ferreira' } }],
])('level %i: shape of a reaction', async (featureLevel, old) => {
  const { messages } = await fetched(await started({ featureLevel }), {
    ...{ anchor: 'oldest', num_after: '5000', narrow: '[["topic","lunch"]]' },
  });

  const reaction = { emoji_name: 'thumbs_up', emoji_code: '1f44d', reaction_type: 'unicode_emoji', user_id: 9 };
  expect(messages.flatMap((message) => message['reactions'])).toEqual([{ ...reaction, ...old }]);
});

test.each([
  [489, ['read', 'stream_wildcard_mentioned', 'wildcard_mentioned']],
  [223, ['read', 'wildcard_mentioned']],
])('level %i: flags of a wildcard mention', async (featureLevel, flags) => {
  const counts = { num_before: '0', num_after: '1' };
  const { messages } = await fetched(await started({ featureLevel }), {
    ...{ anchor: 'oldest', ...counts, narrow: '[["is","mentioned"]]' },
  });

  expect(messages[0]?.flags).toEqual(flags);
});

test('an organization may hide the history of edits', async () => {
  const running = await started();
  running.sandbox.state.organize({ edit_history_visible: false });

  const { messages } = await fetched(running, { anchor: 'oldest', num_after: '5000' });

  expect(messages.filter((message) => 'edit_history' in message)).toEqual([]);
  expect(messages.filter((message) => 'last_edit_timestamp' in message)).toHaveLength(1);
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

test('deleting a topic takes the hidden messages too', async () => {
  const { chat, sandbox } = await started({ historyLimit: 1, deleteBatches: 10 });

  const form = { topic_name: 'calibration log' };
  expect((await chat('POST', '/streams/1/delete_topic', { form })).body).toMatchObject({ complete: true });

  expect(sandbox.state.topic('general', 'calibration log')).toEqual([]);
});

function term(operator: string, operand: string) {
  return { operator, operand };
}

test.each([
  [404, 'voice.mp3', '<p>!<a href="U">voice.mp3</a></p>'],
  [405, 'voice.mp3', '<p><audio controls preload="metadata" src="U" title="voice.mp3"></audio></p>'],
  [441, 'plan.jpeg', '<p>!<a href="U">plan.jpeg</a></p>'],
  [442, 'a.svg', '<p>![a.svg](U)</p>'],
  [
    442,
    'plan.jpeg',
    /^<p><img alt="plan.jpeg" class="inline-image" .*data-original-src="U" src="\/user_uploads\/thumbnail\/2\/x\/plan.jpeg\/840x560.webp"><\/p>$/,
  ],
])(
  'at level %i a file that is posted as a picture is rendered as the server does: %s',
  async (featureLevel, name, html) => {
    const running = await started({ featureLevel });
    const form = { type: 'stream', to: 'general', topic: 'files', content: `![${name}](/user_uploads/2/x/${name})` };
    const { body } = await running.chat('POST', '/messages', { form, as: 'mara' });

    const query = {
      narrow: `[["id","${String((body as { id: number }).id)}"]]`,
      anchor: 'newest',
      num_before: '1',
      num_after: '0',
    };
    const { messages } = await fetched(running, query);

    const content = String(messages[0]?.['content']).replace(`"/user_uploads/2/x/${name}"`, '"U"');
    expect(content.replace(`(/user_uploads/2/x/${name})`, '(U)')).toEqual(
      typeof html === 'string' ? html : expect.stringMatching(html),
    );
  },
);
