import { resolvedPrefix } from '../../schema/topic.ts';
import type { ChannelRecord, MessageRecord, User } from '../records.ts';
import { userOfAddress } from './users.ts';
import { badNarrow, serverError } from './refusal.ts';
import type { UserCall } from './chat-call.ts';
import { flagsOf, isMuted, policyOf } from './access.ts';
import { searchTest } from './search.ts';
import { sameTopic, storedTopic } from './topic-names.ts';
import { levels } from './levels.ts';

export type Predicate = (message: MessageRecord) => boolean;

/** The server counts a boolean as an integer, and writes it as Python does. */
export type Id = number | boolean;
export type Operand = string | Id | readonly Id[];

export interface Term {
  readonly operator: string;
  readonly operand: Operand;
  readonly negated: boolean;
}

interface Operator {
  readonly since?: number;
  /** Default: a string. */
  readonly takes?: 'a string or integer' | 'a string or an integer list';
  /** The server silently drops the negation (docs/apis.md, Narrow operators). */
  readonly ignoresNegation?: (operand: Operand) => boolean;
  /** @throws Refusal BAD_NARROW */
  readonly test: (call: UserCall, operand: Operand) => Predicate;
}

const always = () => true;

/** Every operator of a narrow (docs/apis.md, Narrow operators). */
const operators: Readonly<Record<string, Operator>> = {
  channel: { since: levels.channelOperators, takes: 'a string or integer', test: byChannel },
  stream: { takes: 'a string or integer', test: byChannel },
  channels: { since: levels.channelOperators, test: byChannels },
  streams: { test: byChannels },
  topic: {
    test({ level }, operand) {
      const topic = storedTopic(level, String(operand));
      return ({ stream_id, subject }) => stream_id !== undefined && sameTopic(subject, topic);
    },
  },
  sender: { takes: 'a string or integer', test: byUser(({ sender_id }, id) => sender_id === id) },
  dm: { since: levels.dmOperators, takes: 'a string or an integer list', test: byConversation },
  'pm-with': { takes: 'a string or an integer list', test: byConversation },
  pm_with: { test: byConversation },
  'dm-including': {
    since: levels.dmOperators,
    takes: 'a string or integer',
    test: byUser(({ people }, id) => people?.includes(id) ?? false),
  },
  'group-pm-with': { takes: 'a string or integer', test: byUser(inGroup) },
  group_pm_with: { test: byUser(inGroup) },
  mentions: {
    since: levels.mentionsOperator,
    takes: 'a string or integer',
    test(call, operand) {
      const user = userNamed(call, operand);
      return (message) => flagsOf(user, message, call.state).includes('mentioned');
    },
  },
  is: { test: byState },
  has: { test: byContent },
  in: {
    ignoresNegation: (operand) => operand === 'all',
    test({ user, state }, operand) {
      if (operand === 'all') return always;
      if (operand === 'home') return (message) => !isMuted(user, message, state);
      throw badNarrow(`unknown 'in' operand ${String(operand)}`);
    },
  },
  id: { takes: 'a string or integer', test: byId },
  // `resolveWith` of narrow.ts has replaced this operator before.
  with: { since: levels.withOperator, takes: 'a string or integer', test: () => always },
  near: { ignoresNegation: always, test: () => always },
  search: { ignoresNegation: always, test: (_call, operand) => searchTest(String(operand)) },
};

/** The operator of that name, where a server of that level knows it. */
export function operatorAt(level: number, name: string): Operator | undefined {
  const operator = own(operators, name);
  return operator && (operator.since ?? 0) <= level ? operator : undefined;
}

/** An operand in the words of an error. */
function showOperand(operand: Operand): string {
  if (typeof operand === 'boolean') return operand ? 'True' : 'False';
  return typeof operand === 'object' ? `[${operand.map(showOperand).join(', ')}]` : String(operand);
}

/** The channel of that id or name, whether the caller may read it or not. @throws Refusal BAD_NARROW */
export function channelNamed({ state, level }: UserCall, operand: Operand): ChannelRecord {
  if (isOddBoolean(level, operand)) throw badNarrow(`unknown channel ${showOperand(operand)}`);
  const channel =
    typeof operand !== 'string'
      ? state.channels.get(Number(operand))
      : state.channels.rows().find(({ name }) => name.toLowerCase() === operand.toLowerCase());
  if (!channel) throw badNarrow(`unknown channel ${showOperand(operand)}`);
  return channel;
}

function byChannel(call: UserCall, operand: Operand): Predicate {
  const { stream_id } = channelNamed(call, operand);
  return (message) => message.stream_id === stream_id;
}

function byChannels({ state, level }: UserCall, operand: Operand): Predicate {
  const tests: Readonly<Record<string, (channel: ChannelRecord) => boolean>> = {
    public: ({ privacy }) => privacy !== 'private',
    'web-public': ({ privacy }) => privacy === 'web-public',
    ...(level >= levels.archivedChannels ? { archived: ({ archived }: ChannelRecord) => archived } : {}),
  };
  const test = own(tests, operand);
  if (!test) throw badNarrow(`unknown channels operand ${String(operand)}`);
  return ({ stream_id }) => {
    const channel = stream_id === undefined ? undefined : state.channels.get(stream_id);
    return channel !== undefined && test(channel);
  };
}

function userNamed({ state }: UserCall, operand: Operand): User {
  const user =
    typeof operand === 'string' ? userOfAddress(state.users.rows(), operand) : state.users.get(Number(operand));
  if (!user) throw badNarrow(`unknown user ${showOperand(operand)}`);
  return user;
}

function byUser(test: (message: MessageRecord, id: number) => boolean): Operator['test'] {
  return (call, operand) => {
    const { user_id } = userNamed(call, operand);
    return (message) => test(message, user_id);
  };
}

function inGroup({ people = [] }: MessageRecord, id: number): boolean {
  return people.length > 2 && people.includes(id);
}

/** The one conversation with exactly these people; the caller may be left out. An empty list names none. */
function byConversation({ state, user }: UserCall, operand: Operand): Predicate {
  const users =
    typeof operand === 'string'
      ? operand.split(',').map((email) => userOfAddress(state.users.rows(), email))
      : typeof operand === 'object'
        ? operand.map((id) => state.users.get(Number(id)))
        : [];
  const ids = users.map((found) => {
    if (!found) throw badNarrow(`unknown user in ${showOperand(operand)}`);
    return found.user_id;
  });
  const wanted = new Set([...ids, user.user_id]);
  return ({ people }) => ids.length > 0 && people?.length === wanted.size && people.every((id) => wanted.has(id));
}

function byState(call: UserCall, operand: Operand): Predicate {
  const { user, state, level } = call;
  const flag = (name: string) => (message: MessageRecord) => flagsOf(user, message, state).includes(name);
  const direct: Predicate = ({ stream_id }) => stream_id === undefined;
  const tests: Readonly<Record<string, { since?: number; test: Predicate }>> = {
    dm: { since: levels.dmOperators, test: direct },
    private: { test: direct },
    starred: { test: flag('starred') },
    unread: { test: (message) => !flag('read')(message) },
    mentioned: {
      test: (message) =>
        ['mentioned', 'stream_wildcard_mentioned', 'topic_wildcard_mentioned'].some((name) => flag(name)(message)),
    },
    alerted: { test: flag('has_alert_word') },
    resolved: { test: ({ stream_id, subject }) => stream_id !== undefined && subject.startsWith(resolvedPrefix) },
    followed: { since: levels.isFollowed, test: (message) => policyOf(user, message, state) === 'followed' },
    muted: { since: levels.isMuted, test: (message) => isMuted(user, message, state) },
  };
  const known = own(tests, operand);
  if (!known || (known.since ?? 0) > level) throw badNarrow(`unknown 'is' operand ${String(operand)}`);
  return known.test;
}

function byContent({ level }: UserCall, operand: Operand): Predicate {
  const tests: Readonly<Record<string, Predicate>> = {
    attachment: ({ rendered }) => rendered.includes('/user_uploads/'),
    image: ({ rendered }) => rendered.includes('<img'),
    link: ({ rendered }) => rendered.includes('<a href='),
    ...(level >= levels.hasReaction ? { reaction: ({ reactions }: MessageRecord) => reactions.length > 0 } : {}),
  };
  const test = own(tests, operand);
  if (!test) throw badNarrow(`unknown 'has' operand ${String(operand)}`);
  return test;
}

/** The table's own entry of that name, and never a member that every object inherits. */
function own<T>(table: Readonly<Record<string, T>>, operand: Operand): T | undefined {
  const name = String(operand);
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** True for a boolean, which later servers do not count as an integer here. */
function isOddBoolean(level: number, operand: Operand): boolean {
  return typeof operand === 'boolean' && level >= levels.booleanOperands;
}

function byId({ level }: UserCall, operand: Operand): Predicate {
  if (isOddBoolean(level, operand)) throw badNarrow('Invalid message ID');
  if (typeof operand !== 'string' && level < levels.integerIds) throw badNarrow('Invalid message ID');
  const text = String(typeof operand === 'string' ? operand : Number(operand));
  if (!/^\p{Nd}+$/u.test(text) || Number(text) > 2_147_483_647) throw badNarrow('Invalid message ID');
  // Digits of other scripts pass the server's check and break its query.
  if (!/^\d+$/.test(text)) throw serverError();
  return ({ id }) => id === Number(text);
}
