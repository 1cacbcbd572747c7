import type { ChannelRecord, MessageRecord } from '../records.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { unless } from '../../core/failure.ts';
import type { State } from '../state.ts';
import { userOfAddress } from './users.ts';
import { mayEnter } from './access.ts';
import type { UserCall } from './chat-call.ts';
import { invalid, plain, readParameters, required } from './parameters.ts';
import { Refusal } from './refusal.ts';
import { storedTopic } from './topic-names.ts';
import { render } from './render.ts';

const signature = {
  type: plain,
  to: plain,
  topic: plain,
  content: plain,
  queue_id: plain,
  local_id: plain,
  read_by_sender: plain,
};

/**
 * POST /messages. It is no part of the specification: it is here so that scripts which archive or purge can be tried
 * against a topic that grows meanwhile. As on the real server the message is unread for everybody, its sender included.
 * @throws Refusal
 */
export function postMessage(call: UserCall) {
  const { user, state, clock } = call;
  const values = readParameters(call, signature);
  const type = required('type', values.type);
  const to = required('to', values.to);
  const content = required('content', values.content);
  const place = Object.hasOwn(placeOf, type) ? placeOf[type] : undefined;
  if (!place) throw invalid('type', 'Not in the list of possible values');
  if (content.trim() === '') throw new Refusal('Message must not be empty');
  const { readers, ...where } = place(call, to, values.topic ?? '');
  const flags = Object.fromEntries(readers.map((id) => [id, []]));
  const id = addMessage(
    state,
    { ...where, flags, sender_id: user.user_id, content: content.trimEnd() },
    clock.now(),
    call.level,
  );
  return { id };
}

type PostPlace = Pick<MessageRecord, 'stream_id' | 'people' | 'subject'> & { readonly readers: readonly number[] };

const placeOf: Readonly<Record<string, (call: UserCall, to: string, topic: string) => PostPlace>> = {
  stream: inChannel,
  channel: inChannel,
  direct: toPeople,
  private: toPeople,
};

function inChannel(call: UserCall, to: string, topic: string): PostPlace {
  const { stream_id, subscribers } = channelOf(call, to);
  const subject = storedTopic(call.level, topic === '(no topic)' ? '' : topic);
  return { stream_id, subject, readers: subscribers.map(({ user_id }) => user_id) };
}

/** Channels are named by name, plain or as JSON, or by id. */
function channelOf({ state, user }: UserCall, to: string): ChannelRecord {
  const name = to.replace(/^"(.*)"$/s, '$1');
  const isId = /^\d+$/.test(to);
  const channel = state.channels
    .rows()
    .find((row) => (isId ? row.stream_id === Number(to) : row.name.toLowerCase() === name.toLowerCase()));
  if (channel && mayEnter(user, channel) && !channel.archived) return channel;
  const text = isId ? `Channel with ID '${to}' does not exist` : `Channel '${name}' does not exist`;
  throw new Refusal(text, {
    code: 'STREAM_DOES_NOT_EXIST',
    extra: isId ? { stream_id: Number(to) } : { stream: name },
  });
}

/** Users are named by addresses, comma-separated or as a JSON list, or by a JSON list of ids. */
function toPeople({ state, user }: UserCall, to: string): PostPlace {
  const named = namesOf(to).map((name) =>
    typeof name === 'number' ? state.users.get(name) : userOfAddress(state.users.rows(), String(name)),
  );
  const known = named.filter((row) => row !== undefined);
  if (known.length < named.length) throw new Refusal(`Invalid email '${to}'`);
  const people = [...new Set([...known.map(({ user_id }) => user_id), user.user_id])].sort((one, other) => one - other);
  return { people, subject: '', readers: people };
}

function namesOf(to: string): readonly unknown[] {
  return unless(SyntaxError, (): readonly unknown[] => [JSON.parse(to)].flat()) ?? to.split(',');
}

/** Adds a message after all others and gives its id. Ids are never given out again, whatever is deleted. */
export function addMessage(
  state: State,
  draft: Pick<MessageRecord, 'subject' | 'sender_id' | 'content'> & Partial<MessageRecord>,
  now: Milliseconds,
  level?: number,
): number {
  const id = (state.counters.get('message') ?? state.messages.rows().at(-1)?.id ?? 0) + 1;
  const findUser = (name: string) => state.users.rows().find((row) => row.full_name === name)?.user_id;
  const channel = draft.stream_id === undefined ? undefined : state.channels.get(draft.stream_id);
  state.counters.put('message', id);
  state.messages.put(id, {
    timestamp: Math.floor(now / 1000),
    rendered: draft.rendered ?? render(draft.content, { findUser, ...(level === undefined ? {} : { level }) }),
    client: 'sandbox',
    recipient_id: channel?.recipient_id ?? 0,
    flags: {},
    reactions: [],
    ...draft,
    id,
  });
  return id;
}
