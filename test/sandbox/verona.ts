import { createHash } from 'node:crypto';
import type { MessageRecord, User } from '../../src/sandbox/records.ts';
import type { State } from '../../src/sandbox/state.ts';

/** The little world of test/examples: three people, one channel, two messages. */
export function verona(state: State): void {
  empty(state);
  for (const user of people) state.users.put(user.user_id, user);
  state.channels.put(1, channel(1, 'kitchen', 30));
  state.channels.put(5, channel(5, 'Verona', 20));
  state.channels.put(7, { ...channel(7, 'secret', 40), privacy: 'private', subscribers: [] });
  state.messages.put(16, monologue);
  state.messages.put(21, question);
  state.messages.put(30, { ...question, id: 30, stream_id: 1, recipient_id: 30, subject: 'new coffee machine' });
  const organization = state.organization.get('chat');
  if (organization) state.organization.put('chat', { ...organization, realm_str: 'zulip' });
  const alerted = { user_id: 5, fragment: 'narrow/is/alerted', is_pinned: false, name: 'Alert Words' };
  state.views.put('5/narrow/is/alerted', alerted);
  const snippet = {
    id: 1,
    user_id: 5,
    title: 'Example',
    content: 'Welcome to the organization.',
    date_created: 1681662420,
  };
  state.snippets.put(1, snippet);
}

/** Only the two messages that the examples of GET /messages show. */
export function twoMessages(state: State): void {
  verona(state);
  state.messages.remove(30);
}

export function secondSnippet(state: State): void {
  verona(state);
  state.snippets.put(2, { id: 2, user_id: 5, title: 'Other', content: 'Thanks.', date_created: 1681662421 });
}

/** The view has the name of the example already. */
export function renamedView(state: State): void {
  verona(state);
  state.views.put('5/narrow/is/alerted', {
    user_id: 5,
    fragment: 'narrow/is/alerted',
    is_pinned: true,
    name: 'Watched Phrases',
  });
}

/** Messages below 17 are hidden by the plan. */
export function limitedPlan(state: State): void {
  twoMessages(state);
  const organization = state.organization.get('chat');
  if (organization) state.organization.put('chat', { ...organization, first_visible_message_id: 17 });
}

/** A topic that one call does not finish. */
export function longTopic(state: State): void {
  verona(state);
  for (let id = 31; id <= 260; id += 1)
    state.messages.put(id, { ...question, id, stream_id: 1, subject: 'new coffee machine' });
}

function empty(state: State): void {
  for (const { id } of state.messages.rows()) state.messages.remove(id);
  for (const { user_id } of state.users.rows()) state.users.remove(user_id);
  for (const { stream_id } of state.channels.rows()) state.channels.remove(stream_id);
  for (const { user_id, fragment } of state.views.rows()) state.views.remove(`${user_id}/${fragment}`);
  for (const { id } of state.snippets.rows()) state.snippets.remove(id);
}

function person(user_id: number, email: string, full_name: string, traits: Partial<User> = {}): User {
  return {
    user_id,
    email,
    full_name,
    role: 'member',
    bot: 'none',
    active: true,
    api_key: `ExampleKeyOfUser${user_id}`.padEnd(32, '0'),
    password: 'correct horse battery staple',
    settings: {},
    avatar_url: `https://secure.gravatar.com/avatar/${createHash('md5').update(email).digest('hex')}?d=identicon&version=1`,
    pending_email: null,
    joined: 1527900000,
    ...traits,
  };
}

const people = [
  person(4, 'hamlet@zulip.com', 'King Hamlet'),
  person(5, 'iago@zulip.com', 'Iago', { role: 'administrator' }),
  person(6, 'bot@zulip.com', 'Bot', { bot: 'generic' }),
  person(8, 'prospero@zulip.com', 'Prospero from The Tempest'),
];

function channel(stream_id: number, name: string, recipient_id: number) {
  return {
    ...{ stream_id, name, recipient_id, privacy: 'public' as const, shared_history: true, archived: false },
    subscribers: [4, 5].map((user_id) => ({ user_id, since: 0 })),
    muted_by: [],
  };
}

const common = { sender_id: 4, client: 'populate_db', flags: {}, reactions: [] };

const monologue: MessageRecord = {
  ...common,
  id: 16,
  timestamp: 1527921326,
  content:
    'Security experts agree that relational algorithms are an interesting new topic in the field of networking, and scholars concur.',
  rendered:
    '<p>Security experts agree that relational algorithms are an interesting new topic in the field of networking, and scholars concur.</p>',
  subject: '',
  people: [4, 5, 8],
  recipient_id: 27,
};

const question: MessageRecord = {
  ...common,
  id: 21,
  timestamp: 1527939746,
  content: 'Wait, is this from the frontend js code or backend python code',
  rendered: '<p>Wait, is this from the frontend js code or backend python code</p>',
  subject: 'Verona3',
  stream_id: 5,
  recipient_id: 20,
};
