import { mayEnter } from './access.ts';
import type { UserCall } from './routes.ts';
import { ignoredField, ignoredSince } from './ignored.ts';
import { plain, readParameters, required } from './parameters.ts';
import type { Channel } from '../records.ts';
import { Refusal } from './refusal.ts';
import { addMessage } from './new-message.ts';
import { emptyTopicName } from './organization.ts';

/**
 * POST /messages to a channel. It is no part of the specification: it is here so that scripts which archive or purge can be tried
 * against a topic that grows meanwhile. Direct messages are refused.
 * @throws Refusal
 */
export function postMessage(call: UserCall) {
  const { request, user, level, state, clock } = call;
  const { values, ignored } = readParameters(request, { type: plain, to: plain, topic: plain, content: plain });
  const type = required('type', values.type);
  if (type !== 'stream' && type !== 'channel') throw new Refusal('The sandbox takes messages to channels only.');
  const channel = channelOf(call, required('to', values.to));
  const content = required('content', values.content);
  if (content.trim() === '') throw new Refusal('Message must not be empty');
  const topic = values.topic ?? '';
  const subject = topic === emptyTopicName ? '' : topic;
  const id = addMessage(
    state,
    { stream_id: channel.stream_id, subject, sender_id: user.user_id, content },
    clock.now(),
  );
  return { id, ...ignoredField(level, ignoredSince.others, ignored) };
}

function channelOf({ state, user }: UserCall, to: string): Channel {
  const name = to.replace(/^"(.*)"$/, '$1');
  const channel = state.channels.rows().find((row) => row.name === name || String(row.stream_id) === name);
  if (channel && mayEnter(user, channel) && !channel.archived) return channel;
  throw new Refusal(`Channel '${name}' does not exist`, { code: 'STREAM_DOES_NOT_EXIST', extra: { stream: name } });
}
