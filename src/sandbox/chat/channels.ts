import type { ChannelRecord } from '../records.ts';
import { topicLevels } from '../../schema/topic.ts';
import { proxyPage } from '../answer.ts';
import { canRead, isSubscribed, mayEnter } from './access.ts';
import type { UserCall, CallOutcome } from './chat-call.ts';
import { shownTopic, policyKey, sameTopic, storedTopic } from './topic-names.ts';
import { boolean, plain, readParameters, required } from './parameters.ts';
import { Refusal } from './refusal.ts';

/** The channel of that id, as far as the caller may know of it. @throws Refusal */
function accessChannel({ state, user }: UserCall, id: number): ChannelRecord {
  const channel = state.channels.get(id);
  if (!channel || channel.archived || !mayEnter(user, channel)) throw new Refusal('Invalid channel ID');
  return channel;
}

/** GET /streams: the channels that the caller may enter, and those with a subscription. */
export function listChannels(call: UserCall) {
  const { state, user } = call;
  const {
    include_public = true,
    include_subscribed = true,
    exclude_archived = true,
  } = readParameters(call, {
    include_public: boolean,
    include_subscribed: boolean,
    exclude_archived: boolean,
    include_all_active: boolean,
    include_default: boolean,
  });
  const wanted = (channel: ChannelRecord) =>
    (!channel.archived || !exclude_archived) &&
    ((include_public && mayEnter(user, channel)) || (include_subscribed && isSubscribed(user, channel)));
  const streams = state.channels.rows().filter(wanted);
  return { streams: streams.map((channel) => showChannel(call, channel)) };
}

/** GET /users/me/subscriptions. */
export function listSubscriptions(call: UserCall) {
  const { state, user } = call;
  const own = state.channels.rows().filter((channel) => !channel.archived && isSubscribed(user, channel));
  return {
    subscriptions: own.map((channel) => ({
      ...showChannel(call, channel),
      color: '#76ce90',
      is_muted: channel.muted_by.includes(user.user_id),
      pin_to_top: false,
      audible_notifications: null,
      desktop_notifications: null,
      email_notifications: null,
      push_notifications: null,
      wildcard_mentions_notify: null,
    })),
  };
}

/** GET /get_stream_id. @throws Refusal */
export function findChannel(call: UserCall) {
  const { state, user } = call;
  const name = required('stream', readParameters(call, { stream: plain }).stream);
  const channel = state.channels.rows().find((row) => row.name.toLowerCase() === name.toLowerCase());
  if (!channel || channel.archived || !mayEnter(user, channel)) throw new Refusal(`Invalid channel name '${name}'`);
  return { stream_id: channel.stream_id };
}

/** GET /users/me/{stream_id}/topics: the topic that was written to last is the first. @throws Refusal */
export function listTopics(call: UserCall) {
  const { state, user, segment, level } = call;
  const values = readParameters(call, { allow_empty_topic_name: boolean });
  const { stream_id } = accessChannel(call, Number(segment));
  const visible = call.organization.first_visible_message_id;
  const newest = new Map<string, { name: string; max_id: number }>();
  for (const message of state.messages.rows()) {
    if (message.stream_id !== stream_id || message.id < visible || !canRead(user, message, state)) continue;
    const name = shownTopic(level, message.subject, values);
    newest.set(message.subject.toLowerCase(), { name, max_id: message.id });
  }
  return { topics: [...newest.values()].sort((one, other) => other.max_id - one.max_id) };
}

function showChannel({ state }: UserCall, channel: ChannelRecord): Readonly<Record<string, unknown>> {
  const { stream_id, name, privacy, shared_history, archived } = channel;
  return {
    stream_id,
    name,
    description: '',
    rendered_description: '',
    date_created: 1_767_600_000,
    creator_id: null,
    invite_only: privacy === 'private',
    is_web_public: privacy === 'web-public',
    history_public_to_subscribers: privacy !== 'private' || shared_history,
    is_archived: archived,
    stream_post_policy: 1,
    is_announcement_only: false,
    message_retention_days: null,
    first_message_id: state.messages.rows().find((message) => message.stream_id === stream_id)?.id ?? null,
    stream_weekly_traffic: null,
    is_recently_active: true,
  };
}

/** Messages that one transaction deletes, the newest first (docs/apis.md, Deleting a topic). */
export const batchSize = 100;

/**
 * POST /streams/{stream_id}/delete_topic (docs/apis.md, Deleting a topic). The 50 seconds of the real server are
 * counted in messages: a batch takes its share of them, and `deleteBatches` full ones take them all.
 * @throws Refusal
 */
export function deleteTopic(call: UserCall): CallOutcome {
  const { state, user, segment, level, deleteBatches } = call;
  const topic = storedTopic(level, required('topic_name', readParameters(call, { topic_name: plain }).topic_name));
  const channel = accessChannel(call, Number(segment));
  const doomed = state.messages
    .rows()
    .filter((message) => message.stream_id === channel.stream_id && sameTopic(message.subject, topic))
    .filter((message) => canRead(user, message, state));
  const affordable = deleteBatches * batchSize;
  const timesOut = doomed.length >= affordable;
  const isOneTransaction = level < topicLevels.batches;
  if (isOneTransaction && doomed.length > affordable) return proxyPage(502);
  for (const { id } of isOneTransaction ? doomed : doomed.slice(Math.max(0, doomed.length - affordable)))
    state.messages.remove(id);
  // A server of that level answers this when its time is up; the finished batches are kept.
  if (timesOut && !isOneTransaction) {
    if (level >= topicLevels.complete) return { complete: false };
    if (level >= topicLevels.partial) return { result: 'partially_completed', code: 'REQUEST_TIMEOUT' };
    throw new Refusal('Request timed out.', { code: 'REQUEST_TIMEOUT' });
  }
  // Nobody follows or mutes a topic that is deleted.
  for (const row of state.topicPolicies.rows())
    if (row.stream_id === channel.stream_id && sameTopic(row.topic, topic)) state.topicPolicies.remove(policyKey(row));
  return level >= topicLevels.complete ? { complete: true } : {};
}
