import type { MessageRecord, User } from '../records.ts';
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

/** A message as GET /messages gives it (docs/apis.md, Messages). What is undefined is not in the answer. */
export function showMessage(call: UserCall, given: MessageRecord, look: MessageLook): Record<string, unknown> {
  // A message of a channel is shown as the cache has it.
  const message = { ...given, ...given.cached };
  const { level, organization, state } = call;
  const { topic_links = [], last_edit_timestamp: edited, last_moved_timestamp: moved } = message;
  const sender = state.users.get(message.sender_id);
  const named = (topic: string) => (message.stream_id === undefined ? topic : shownTopic(level, topic, look));
  const marked = (text: string) => (look.search === undefined ? undefined : highlight(text, look.search));
  const hasMoveTimes = level >= levels.moveTimes;
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
    reactions: message.reactions.map((reaction) => {
      // Early levels give the user who reacted as an object.
      const user = level < levels.noReactionUser ? state.users.get(reaction.user_id) : undefined;
      return { ...reaction, user: user && personOf(user) };
    }),
    submessages: [],
    flags: showFlags(flagsOf(call.user, message, state), level),
    sender_full_name: sender?.full_name ?? '',
    sender_email: sender ? addressOf(sender) : '',
    sender_realm_str: organization.realm_str,
    sender_short_name: level < levels.shortNamesEnd ? (sender?.email.split('@')[0] ?? '') : undefined,
    ...placeOf(call, message),
    avatar_url: sender && !(look.client_gravatar && hasComputablePicture(sender)) ? avatarOf(sender) : null,
    content_type: look.apply_markdown ? 'text/html' : 'text/x-markdown',
    edit_history: organization.edit_history_visible
      ? message.edit_history?.map((edit) => showEdit(level, edit, named))
      : undefined,
    // Early levels have one time for edits and moves.
    last_edit_timestamp: hasMoveTimes ? edited : Math.max(edited ?? 0, moved ?? 0) || undefined,
    last_moved_timestamp: hasMoveTimes ? moved : undefined,
    match_content: marked(message.rendered),
    match_subject: marked(escapeHtml(message.subject)),
  };
}

/** Early levels give a message between two people the id of who received it, so that both directions differ. */
function recipientOf(level: number, { recipient_id, people = [], sender_id }: MessageRecord): number {
  const [receiver = sender_id] = people.filter((id) => id !== sender_id);
  return level < levels.sharedRecipients && people.length === 2 ? firstPersonal + receiver : recipient_id;
}

/** Personal recipients come after those of the sample's channels and conversations. */
const firstPersonal = 1000;

function personOf(user: User) {
  return { id: user.user_id, email: addressOf(user), full_name: user.full_name };
}

const wildcards = ['stream_wildcard_mentioned', 'topic_wildcard_mentioned'];

/** Adds the flag of early clients to the two that replaced it. */
function showFlags(flags: readonly string[], level: number): readonly string[] {
  if (!flags.some((flag) => wildcards.includes(flag))) return flags;
  const own = level >= levels.splitWildcardMentions ? flags : flags.filter((flag) => !wildcards.includes(flag));
  return [...own, 'wildcard_mentioned'];
}

function placeOf({ state }: UserCall, { stream_id, people = [] }: MessageRecord): Record<string, unknown> {
  if (stream_id !== undefined)
    return { type: 'stream', stream_id, display_recipient: state.channels.get(stream_id)?.name ?? '' };
  const users = people.map((id) => state.users.get(id)).filter((user) => user !== undefined);
  return {
    type: 'private',
    display_recipient: users.map((user) => ({ ...personOf(user), is_mirror_dummy: false })),
  };
}

function showEdit(
  level: number,
  { prev_topic, topic, ...others }: NonNullable<MessageRecord['edit_history']>[number],
  named: (topic: string) => string,
) {
  const hasVersion = level < levels.noRenderedVersion && others.prev_rendered_content !== undefined;
  const before = prev_topic === undefined ? undefined : named(prev_topic);
  const isEarly = level < levels.topicsInEditHistory;
  return {
    ...others,
    prev_rendered_content_version: hasVersion ? 1 : undefined,
    prev_subject: isEarly ? before : undefined,
    prev_topic: isEarly ? undefined : before,
    topic: isEarly || before === undefined || topic === undefined ? undefined : named(topic),
  };
}
