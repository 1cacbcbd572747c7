import { badNarrow } from './bad-narrow.ts';
import type { UserCall } from './routes.ts';
import { flagsOf } from './flags.ts';
import { isMuted, policyOf } from './muted.ts';
import type { Operand } from './narrow-terms.ts';
import { emptyTopicName } from './organization.ts';
import type { Channel, Message, User } from '../records.ts';
import { searchTest } from './search.ts';
import { sameTopic } from './topic-names.ts';

export type Predicate = (message: Message) => boolean;

interface Operator {
  readonly since?: number;
  /** The server drops the negation without a word (facts page, section 4). */
  readonly ignoresNegation?: true;
  /** @throws Refusal BAD_NARROW */
  readonly test: (call: UserCall, operand: Operand) => Predicate;
}

/** Every operator of a narrow (facts page, section 4). */
export const operators: Readonly<Record<string, Operator>> = {
  channel: { since: 250, test: byChannel },
  stream: { test: byChannel },
  channels: { since: 250, test: byChannels },
  streams: { test: byChannels },
  topic: { test: byTopic },
  sender: { test: bySender },
  dm: { since: 177, test: byConversation },
  'pm-with': { test: byConversation },
  pm_with: { test: byConversation },
  'dm-including': { since: 177, test: byParticipant },
  'group-pm-with': { test: byGroup },
  group_pm_with: { test: byGroup },
  mentions: { since: 446, test: byMention },
  is: { test: byState },
  has: { test: byContent },
  in: { test: byHome },
  id: { test: byId },
  near: { ignoresNegation: true, test: () => () => true },
  search: { ignoresNegation: true, test: (_call, operand) => searchTest(String(operand)) },
};

/** The channel of that id or name, whether the caller may read it or not. @throws Refusal BAD_NARROW */
export function channelNamed({ state }: UserCall, operand: Operand): Channel {
  const channel =
    typeof operand === 'number'
      ? state.channels.get(operand)
      : state.channels.rows().find(({ name }) => name.toLowerCase() === String(operand).toLowerCase());
  if (!channel) throw badNarrow(`unknown channel ${String(operand)}`);
  return channel;
}

function byChannel(call: UserCall, operand: Operand): Predicate {
  const { stream_id } = channelNamed(call, operand);
  return (message) => message.stream_id === stream_id;
}

function byChannels({ state, level }: UserCall, operand: Operand): Predicate {
  const tests: Readonly<Record<string, (channel: Channel) => boolean>> = {
    public: ({ privacy }) => privacy !== 'private',
    'web-public': ({ privacy }) => privacy === 'web-public',
    ...(level >= 489 ? { archived: ({ archived }: Channel) => archived } : {}),
  };
  const test = tests[String(operand)];
  if (!test) throw badNarrow(`unknown channels operand ${String(operand)}`);
  return ({ stream_id }) => {
    const channel = stream_id === undefined ? undefined : state.channels.get(stream_id);
    return channel !== undefined && test(channel);
  };
}

function byTopic({ level }: UserCall, operand: Operand): Predicate {
  const topic = level >= 334 && operand === emptyTopicName ? '' : String(operand);
  return ({ stream_id, subject }) => stream_id !== undefined && sameTopic(subject, topic);
}

function userNamed({ state }: UserCall, operand: Operand): User {
  const user =
    typeof operand === 'number' ? state.users.get(operand) : userOfEmail(state.users.rows(), String(operand));
  if (!user) throw badNarrow(`unknown user ${String(operand)}`);
  return user;
}

function userOfEmail(users: readonly User[], email: string): User | undefined {
  return users.find((row) => row.email.toLowerCase() === email.trim().toLowerCase());
}

function bySender(call: UserCall, operand: Operand): Predicate {
  const { user_id } = userNamed(call, operand);
  return ({ sender_id }) => sender_id === user_id;
}

/** The one conversation with exactly these people; the caller may be left out. */
function byConversation(call: UserCall, operand: Operand): Predicate {
  const ids = typeof operand === 'string' ? idsOfEmails(call, operand) : idsOfUsers(call, operand);
  const wanted = new Set([...ids, call.user.user_id]);
  return ({ people }) => people?.length === wanted.size && people.every((id) => wanted.has(id));
}

function idsOfEmails({ state }: UserCall, operand: string): number[] {
  return operand.split(',').map((email) => {
    const user = userOfEmail(state.users.rows(), email);
    if (!user) throw badNarrow(`unknown user in ${operand}`);
    return user.user_id;
  });
}

function idsOfUsers({ state }: UserCall, operand: Operand): readonly number[] {
  const ids = Array.isArray(operand) ? (operand as readonly number[]) : [];
  if (ids.some((id) => !state.users.get(id))) throw badNarrow(`unknown user in [${ids.join(', ')}]`);
  return ids;
}

function byParticipant(call: UserCall, operand: Operand): Predicate {
  const { user_id } = userNamed(call, operand);
  return ({ people }) => people?.includes(user_id) ?? false;
}

function byGroup(call: UserCall, operand: Operand): Predicate {
  const { user_id } = userNamed(call, operand);
  return ({ people }) => people !== undefined && people.length > 2 && people.includes(user_id);
}

function byMention(call: UserCall, operand: Operand): Predicate {
  const user = userNamed(call, operand);
  return (message) => flagsOf(user, message, call.state).includes('mentioned');
}

function byState(call: UserCall, operand: Operand): Predicate {
  const { user, state, level } = call;
  const flag = (name: string) => (message: Message) => flagsOf(user, message, state).includes(name);
  const direct: Predicate = ({ stream_id }) => stream_id === undefined;
  const tests: Readonly<Record<string, { since?: number; test: Predicate }>> = {
    dm: { since: 177, test: direct },
    private: { test: direct },
    starred: { test: flag('starred') },
    unread: { test: (message) => !flag('read')(message) },
    mentioned: {
      test: (message) =>
        ['mentioned', 'stream_wildcard_mentioned', 'topic_wildcard_mentioned'].some((name) => flag(name)(message)),
    },
    alerted: { test: flag('has_alert_word') },
    resolved: { test: ({ stream_id, subject }) => stream_id !== undefined && subject.startsWith('✔ ') },
    followed: { since: 265, test: (message) => policyOf(user, message, state) === 'followed' },
    muted: { since: 366, test: (message) => isMuted(user, message, state) },
  };
  const known = tests[String(operand)];
  if (!known || (known.since ?? 0) > level) throw badNarrow(`unknown 'is' operand ${String(operand)}`);
  return known.test;
}

function byContent({ level }: UserCall, operand: Operand): Predicate {
  const tests: Readonly<Record<string, Predicate>> = {
    attachment: ({ rendered }) => rendered.includes('/user_uploads/'),
    image: ({ rendered }) => rendered.includes('<img'),
    link: ({ rendered }) => rendered.includes('<a href='),
    ...(level >= 249 ? { reaction: ({ reactions }: Message) => reactions.length > 0 } : {}),
  };
  const test = tests[String(operand)];
  if (!test) throw badNarrow(`unknown 'has' operand ${String(operand)}`);
  return test;
}

function byHome({ user, state }: UserCall, operand: Operand): Predicate {
  if (operand === 'all') return () => true;
  if (operand === 'home') return (message) => !isMuted(user, message, state);
  throw badNarrow(`unknown 'in' operand ${String(operand)}`);
}

function byId({ level }: UserCall, operand: Operand): Predicate {
  if (typeof operand === 'number' && level < 194) throw badNarrow('Invalid message ID');
  if (!/^\d+$/.test(String(operand)) || Number(operand) > 2_147_483_647) throw badNarrow('Invalid message ID');
  return ({ id }) => id === Number(operand);
}
