import type { MessageRecord } from '../records.ts';
import { addressOf, hasComputablePicture, avatarOf } from './users.ts';
import type { UserCall } from './chat-call.ts';
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
  const { topic_links = [] } = message;
  const sender = state.users.get(message.sender_id);
  const named = (topic: string) => (message.stream_id === undefined ? topic : shownTopic(level, topic, look));
  return {
    id: message.id,
    sender_id: message.sender_id,
    content: look.apply_markdown ? message.rendered : message.content,
    recipient_id: recipientOf(level, message),
    timestamp: message.timestamp,
    client: message.client,
    subject: named(message.subject),
    // Early levels give plain URLs.
    topic_links: level >= levels.topicLinkObjects ? topic_links : topic_links.map(({ url }) => url),
    is_me_message: message.content.startsWith('/me '),
    reactions: message.reactions.map((reaction) => showReaction(call, reaction)),
    submessages: [],
    flags: showFlags(flagsOf(call.user, message, state), level),
    sender_full_name: sender?.full_name ?? '',
    sender_email: sender ? addressOf(sender) : '',
    sender_realm_str: organization.realm_str,
    ...(level < levels.shortNamesEnd ? { sender_short_name: sender?.email.split('@')[0] ?? '' } : {}),
    ...placeOf(call, message),
    avatar_url: sender && !(look.client_gravatar && hasComputablePicture(sender)) ? avatarOf(sender) : null,
    content_type: look.apply_markdown ? 'text/html' : 'text/x-markdown',
    ...(organization.edit_history_visible && message.edit_history
      ? { edit_history: message.edit_history.map((edit) => showEdit(level, edit, named)) }
      : {}),
    ...changeTimes(message, level),
    ...(look.search === undefined
      ? {}
      : {
          match_content: highlight(message.rendered, look.search),
          match_subject: highlight(escapeHtml(message.subject), look.search),
        }),
  };
}

/** Early levels give a message between two people the id of who received it, so that both directions differ. */
function recipientOf(level: number, { recipient_id, people = [], sender_id }: MessageRecord): number {
  const [receiver = sender_id] = people.filter((id) => id !== sender_id);
  return level < levels.sharedRecipients && people.length === 2 ? firstPersonal + receiver : recipient_id;
}

/** Personal recipients come after those of the sample's channels and conversations. */
const firstPersonal = 1000;

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
  const shown = users.map((user) => ({
    ...{ id: user.user_id, email: addressOf(user), full_name: user.full_name },
    is_mirror_dummy: false,
  }));
  return { type: 'private', display_recipient: shown };
}

function showEdit(
  level: number,
  edit: NonNullable<MessageRecord['edit_history']>[number],
  named: (topic: string) => string,
): Record<string, unknown> {
  const { prev_topic, topic, ...others } = edit;
  const hasVersion = level < levels.noRenderedVersion && edit.prev_rendered_content !== undefined;
  const shown = { ...others, ...(hasVersion ? { prev_rendered_content_version: 1 } : {}) };
  if (prev_topic === undefined) return shown;
  if (level < levels.topicsInEditHistory) return { ...shown, prev_subject: named(prev_topic) };
  return { ...shown, prev_topic: named(prev_topic), ...(topic === undefined ? {} : { topic: named(topic) }) };
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
