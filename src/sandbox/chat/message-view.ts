import type { MessageRecord, User } from '../records.ts';
import { addressOf, showsAddress, avatarOf } from './users.ts';
import type { UserCall } from './call.ts';
import { flagsOf } from './access.ts';
import { shownTopic } from './topic-names.ts';
import { escapeHtml } from './render.ts';
import { highlight } from './search.ts';
import { levels } from './levels.ts';

/** How the caller wants messages to be shown. */
export interface MessageLook {
  readonly apply_markdown: boolean;
  readonly client_gravatar: boolean;
  readonly allow_empty_topic_name: boolean;
  /** The words that were searched for. */
  readonly search: string | undefined;
}

/** A message as GET /messages gives it (docs/apis.md, Messages). */
export function showMessage(call: UserCall, message: MessageRecord, look: MessageLook): Record<string, unknown> {
  const { level, organization, state } = call;
  const sender = state.users.get(message.sender_id);
  return {
    id: message.id,
    sender_id: message.sender_id,
    content: look.apply_markdown ? message.rendered : message.content,
    recipient_id: message.recipient_id,
    timestamp: message.timestamp,
    client: message.client,
    subject: topicFor(call, message, look),
    topic_links: topicLinks(message, level),
    is_me_message: message.content.startsWith('/me '),
    reactions: message.reactions.map((reaction) => showReaction(call, reaction)),
    submessages: [],
    flags: showFlags(flagsOf(call.user, message, state), level),
    sender_full_name: sender?.full_name ?? '',
    sender_email: sender ? addressOf(sender) : '',
    sender_realm_str: organization.realm_str,
    ...(level < levels.shortNamesEnd ? { sender_short_name: sender?.email.split('@')[0] ?? '' } : {}),
    ...placeOf(call, message),
    avatar_url: sender && !canCompute(sender, look) ? avatarOf(sender) : null,
    content_type: look.apply_markdown ? 'text/html' : 'text/x-markdown',
    ...(organization.edit_history_visible ? historyOf(call, message, look) : {}),
    ...changeTimes(message, level),
    ...matches(message, look),
  };
}

/** Whether a client that asked for it can compute the picture's URL itself. */
function canCompute(sender: User, { client_gravatar }: MessageLook): boolean {
  return client_gravatar && sender.avatar_url === undefined && showsAddress(sender);
}

function topicFor({ level }: UserCall, { stream_id, subject }: MessageRecord, look: MessageLook): string {
  return stream_id === undefined ? subject : shownTopic(level, subject, look);
}

/** Early levels give plain URLs. */
function topicLinks({ topic_links = [] }: MessageRecord, level: number): readonly unknown[] {
  return level >= levels.topicLinkObjects ? topic_links : topic_links.map(({ url }) => url);
}

/** Early levels give the user who reacted as an object. */
function showReaction(
  { level, state }: UserCall,
  reaction: MessageRecord['reactions'][number],
): Record<string, unknown> {
  const user = state.users.get(reaction.user_id);
  if (level >= levels.noReactionUser || !user) return { ...reaction };
  return { ...reaction, user: { id: user.user_id, email: addressOf(user), full_name: user.full_name } };
}

const wildcards = ['stream_wildcard_mentioned', 'topic_wildcard_mentioned'];

/** Adds the flag of early clients to the two that replaced it. */
function showFlags(flags: readonly string[], level: number): readonly string[] {
  if (!flags.some((flag) => wildcards.includes(flag))) return flags;
  const own = level >= levels.splitWildcardMentions ? flags : flags.filter((flag) => !wildcards.includes(flag));
  return [...own, 'wildcard_mentioned'];
}

function placeOf({ state }: UserCall, { stream_id, people = [] }: MessageRecord): Record<string, unknown> {
  if (stream_id !== undefined) {
    return { type: 'stream', stream_id, display_recipient: state.channels.get(stream_id)?.name ?? '' };
  }
  const users = people.map((id) => state.users.get(id)).filter((user) => user !== undefined);
  return { type: 'private', display_recipient: users.map(showPerson) };
}

function showPerson(user: User) {
  const { user_id, full_name } = user;
  return { id: user_id, email: addressOf(user), full_name, is_mirror_dummy: false };
}

function historyOf(call: UserCall, message: MessageRecord, look: MessageLook): { edit_history?: readonly unknown[] } {
  return message.edit_history
    ? { edit_history: message.edit_history.map((edit) => showEdit(call, message, edit, look)) }
    : {};
}

function showEdit(
  call: UserCall,
  message: MessageRecord,
  edit: NonNullable<MessageRecord['edit_history']>[number],
  look: MessageLook,
): Record<string, unknown> {
  const named = (topic: string) => topicFor(call, { ...message, subject: topic }, look);
  const { prev_topic, topic, ...others } = edit;
  const version =
    call.level < levels.noRenderedVersion && edit.prev_rendered_content !== undefined
      ? { prev_rendered_content_version: 1 }
      : {};
  if (prev_topic === undefined) return { ...others, ...version };
  if (call.level < levels.topicsInEditHistory) return { ...others, ...version, prev_subject: named(prev_topic) };
  return {
    ...others,
    ...version,
    prev_topic: named(prev_topic),
    ...(topic === undefined ? {} : { topic: named(topic) }),
  };
}

/** Early levels have one time for edits and moves. */
function changeTimes({ last_edit_timestamp: edited, last_moved_timestamp: moved }: MessageRecord, level: number) {
  if (level >= levels.moveTimes) {
    return {
      ...(edited === undefined ? {} : { last_edit_timestamp: edited }),
      ...(moved === undefined ? {} : { last_moved_timestamp: moved }),
    };
  }
  const last = Math.max(edited ?? 0, moved ?? 0);
  return last > 0 ? { last_edit_timestamp: last } : {};
}

function matches(message: MessageRecord, { search }: MessageLook): Record<string, string> {
  if (search === undefined) return {};
  return {
    match_content: highlight(message.rendered, search),
    match_subject: highlight(escapeHtml(message.subject), search),
  };
}
