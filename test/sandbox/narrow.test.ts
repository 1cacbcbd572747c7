import { expect, test } from 'vitest';
import { started } from './start.ts';

interface Found {
  readonly messages: readonly {
    readonly id: number;
    readonly subject: string;
    readonly match_content?: string;
    readonly match_subject?: string;
  }[];
}

async function search(narrow: unknown, { as = 'mara', featureLevel = 489 } = {}) {
  const { chat, sandbox } = await started({ featureLevel });
  const query = { anchor: 'oldest', num_before: '0', num_after: '5000', narrow: JSON.stringify(narrow) };
  const answer = await chat('GET', '/messages', { as, query });
  return { ...answer, sandbox, found: answer.body as Found };
}

const term = (operator: string, operand: unknown, negated?: boolean) => ({
  operator,
  operand,
  ...(negated ? { negated } : {}),
});

/** Every narrow, and how many messages it finds for the administrator unless another is named. */
test.each([
  ['the pair form', [['topic', 'lunch']], 8],
  ['a topic without regard to case', [term('topic', 'LUNCH')], 8],
  ['the empty topic by its display name', [term('topic', 'general chat')], 3],
  ['a channel by name', [term('channel', 'General'), term('topic', 'onboarding')], 8],
  ['a channel by id', [term('stream', 1), term('topic', 'onboarding')], 8],
  ['a negated topic', [term('channel', 'releases'), term('topic', '2.9.0', true)], 2],
  ['public channels', [term('channels', 'public'), term('search', 'stride')], 1],
  ['web-public channels', [term('channels', 'web-public')], 6],
  ['archived channels', [term('channels', 'archived')], 1],
  ['a sender by address', [term('sender', 'priya@harbour.example')], 3],
  ['a sender by id', [term('sender', 12)], 3],
  ['a negated sender', [term('is', 'dm'), term('sender', 8, true)], 3],
  ['a direct conversation by ids', [term('dm', [9])], 3],
  ['the same with the own id', [term('dm', [8, 9])], 3],
  ['by addresses', [term('pm-with', 'tomas@harbour.example')], 3],
  ['a group', [term('dm', [9, 10])], 3],
  ['nobody like that', [term('dm', [11])], 0],
  ['with one person among others', [term('dm-including', 10)], 3],
  ['groups with a person', [term('group-pm-with', 9)], 3],
  ['is:dm', [term('is', 'dm')], 6],
  ['is:private', [term('is', 'private')], 6],
  ['is:starred', [term('is', 'starred')], 1],
  ['is:unread', [term('is', 'unread')], 3],
  ['is:mentioned', [term('is', 'mentioned')], 2],
  ['is:resolved', [term('is', 'resolved')], 6],
  ['is:followed', [term('is', 'followed')], 6],
  ['is:muted', [term('is', 'muted')], 10],
  ['is:alerted', [term('is', 'alerted')], 0],
  ['has:reaction', [term('has', 'reaction'), term('topic', 'lunch')], 1],
  ['has:link', [term('has', 'link'), term('channel', 'general')], 4],
  ['has:image', [term('has', 'image')], 1],
  ['has:attachment', [term('has', 'attachment')], 1],
  ['in:home', [term('in', 'home'), term('topic', 'lunch')], 0],
  ['in:all', [term('in', 'all'), term('topic', 'lunch')], 8],
  ['an id', [term('id', 1003)], 1],
  ['an id as text', [term('id', '1003')], 1],
  ['the largest id', [term('id', '2147483647')], 0],
  ['near, which changes nothing', [term('near', '1'), term('topic', 'lunch')], 8],
  ['a word in another form', [term('search', 'docks')], 6],
  ['a short word in no other form', [term('search', 'cakes')], 0],
  ['a phrase in quotes', [term('search', 'cabinet "blue cabinet"')], 1],
  ['a phrase that is not there', [term('search', '"blue cabinet" "cabinet blue"')], 0],
  ['several searches together', [term('search', 'falafel'), term('search', 'truck')], 1],
  ['a negated search, whose negation is dropped', [term('search', 'falafel', true)], 3],
  ['mentions of oneself', [term('mentions', 8)], 1],
  ['unknown keys', [{ ...term('topic', 'lunch'), colour: 'red' }], 8],
  ['a private channel of the administrator', [term('channel', 'leads')], 2],
])('%s', async (_name, narrow, count) => {
  const { status, found } = await search(narrow);

  expect({ status, count: found.messages.length }).toEqual({ status: 200, count });
});

test.each([
  [459, [term('channel', 'clinic-pilot')], 0],
  [460, [term('channel', 'clinic-pilot')], 10_000_000_000_000_000],
  [460, [term('channel', 1), term('channel', 2)], 10_000_000_000_000_000],
])(
  'level %i: nothing is found where one may not read, or in two channels: %j',
  async (featureLevel, narrow, anchor) => {
    expect((await search(narrow, { featureLevel })).body).toMatchObject({ messages: [], anchor, found_newest: true });
  },
);

const is = (value: string) => [term('is', value)];

test.each([
  [[term('colour', 'red')], 'unknown operator colour'],
  [[term('channel', 99)], 'unknown channel 99'],
  [[term('sender', 'x@y.example')], 'unknown user x@y.example'],
  [[term('dm', 'x@y.example,mara@harbour.example')], 'unknown user in x@y.example,mara@harbour.example'],
  [[term('dm', [99])], 'unknown user in [99]'],
  [is('odd'), "unknown 'is' operand odd"],
  [[term('has', 'odd')], "unknown 'has' operand odd"],
  [[term('id', 'x')], 'Invalid message ID'],
  [[term('with', 999999)], "Invalid 'with' operator"],
  [[term('topic', 'x'), term('dm', [9])], 'No message can be both a channel message and direct message'],
  [[term('channel', 1), ...is('dm')], 'No message can be both a channel message and direct message'],
])('%j is BAD_NARROW: %s', async (narrow, desc) => {
  const { status, body } = await search(narrow);

  expect({ status, body }).toEqual({
    status: 400,
    body: { result: 'error', msg: `Invalid narrow operator: ${desc}`, desc, code: 'BAD_NARROW' },
  });
});

test.each([
  [{}, 'narrow is not a list'],
  [['topic'], 'Invalid narrow[0]: Value error, dict or list required'],
  [[['a', 'b', 'c']], 'Invalid narrow[0]: Value error, element is not a string pair'],
  [[['topic', 'lunch'], { operator: 'topic' }], 'Invalid narrow[1]: Value error, operand is missing'],
  [[term('topic', 5)], 'operand is not a string'],
  [[term('dm', 9)], 'operand is not a string or an integer list'],
  [[term('search', ' ')], 'operand cannot be blank.'],
  [[{ ...term('topic', 'x'), negated: 'true' }], 'narrow[0]["negated"] is not a boolean'],
])('%j is refused: %s', async (narrow, msg) => {
  const { status, body } = await search(narrow);

  expect({ status, body }).toEqual({ status: 400, body: { result: 'error', msg, code: 'BAD_REQUEST' } });
});

test('with names the conversation in which the message is now', async () => {
  const running = await search([]);
  const [first] = running.sandbox.state.topic('general', 'license audit');

  const { found } = await search([term('channel', 'releases'), term('topic', 'gone'), term('with', first?.id)]);

  expect(new Set(found.messages.map(({ subject }) => subject))).toEqual(new Set(['license audit']));
  expect(found.messages).toHaveLength(6);
});

test('with a message that cannot be read, the rest counts if it names a conversation', async () => {
  const { found } = await search([term('channel', 'general'), term('topic', 'lunch'), term('with', 999999)]);

  expect(found.messages).toHaveLength(8);
});

test('search marks what matched, in text and topic, and leaves tags alone', async () => {
  const { found } = await search([term('search', 'sensors strong roster')]);
  const audit = await search([term('search', 'licenses')]);

  expect(found.messages).toEqual([]);
  expect(audit.found.messages.map(({ match_content, match_subject }) => [match_content, match_subject])).toEqual([
    [
      '<p>Every user of an app gets a <span class="highlight">license</span> key of their own. Never put one into the app itself, never hand the same one to two people.</p>',
      'onboarding',
    ],
    [
      '<p>Then <span class="highlight">licenses</span> for the ski team must be larger before: 12 is tight.</p>',
      'budget 2026',
    ],
    ...audit.found.messages
      .slice(2)
      .map(({ match_content }) => [match_content, '<span class="highlight">license</span> audit']),
  ]);
});

test('direct messages and private channels of others are never found', async () => {
  const everything = await search([], { as: 'jonas' });
  const pilot = await search([term('search', 'pilot')], { as: 'mara' });

  expect(everything.found.messages.filter(({ subject }) => subject === 'consent forms')).toEqual([]);
  expect(pilot.found.messages).toEqual([]);
});

test.each([
  ['release-bot', 489, [], 0],
  ['release-bot', 489, [term('channel', 'releases')], 6],
  ['release-bot', 489, [term('channel', 'general'), ...is('resolved')], 6],
  ['mara', 0, is('private'), 6],
  ['release-bot', 489, [term('streams', 'public')], 440],
  ['release-bot', 489, [term('channels', 'public', true)], 0],
  ['release-bot', 459, [term('channels', 'web-public')], 0],
  ['release-bot', 460, [term('channels', 'web-public')], 6],
  ['priya', 489, [term('channels', 'public')], 364],
  ['tomas', 489, [term('channel', 'clinic-pilot')], 2],
])('%s, who has joined little, finds at level %i by %j as many as %i', async (as, featureLevel, narrow, count) => {
  expect((await search(narrow, { as, featureLevel })).found.messages).toHaveLength(count);
});
