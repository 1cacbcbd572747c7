import type { Edit, MessageRecord } from '../records.ts';
import { canRead } from './access.ts';
import type { UserCall } from './call.ts';
import { accessChannel } from './channels.ts';
import { ignoredField, ignoredSince } from './ignored.ts';
import { userNamedInFull } from './new-message.ts';
import { accessMessage } from './one-message.ts';
import { among, boolean, integer, plain, readParameters } from './parameters.ts';
import { Refusal } from './refusal.ts';
import { render } from './render.ts';
import { sameTopic, storedTopic } from './topic-names.ts';

const signature = {
  stream_id: integer,
  topic: plain,
  propagate_mode: among(plain, ['change_later', 'change_one', 'change_all']),
  send_notification_to_old_thread: boolean,
  send_notification_to_new_thread: boolean,
  content: plain,
  prev_content_sha256: plain,
};

interface MessagePlace {
  readonly stream_id: number;
  readonly subject: string;
}

/**
 * PATCH /messages/{message_id}: edits the text, or moves the message, and with `propagate_mode` the rest of its topic. The notices
 * that the real server posts about a move or a resolved topic are not posted.
 * @throws Refusal
 */
export function editMessage(call: UserCall) {
  const { values, ignored } = readParameters(call.request, signature);
  const message = accessMessage(call);
  const { content, topic, stream_id, propagate_mode = 'change_one' } = values;
  if (content === undefined && topic === undefined && stream_id === undefined) throw new Refusal('Nothing to change');
  if (content !== undefined && stream_id !== undefined) {
    throw new Refusal('Cannot change message content while changing channel');
  }
  if (propagate_mode !== 'change_one' && topic === undefined && stream_id === undefined) {
    throw new Refusal('Invalid propagate_mode without topic edit');
  }
  const place = topic === undefined && stream_id === undefined ? undefined : newPlace(call, message, topic, stream_id);
  if (content !== undefined) changeText(call, message, content);
  if (place) move(call, message, place, propagate_mode);
  return { detached_uploads: [], ...ignoredField(call.level, ignoredSince.others, ignored) };
}

/** @throws Refusal where the message cannot go there */
function newPlace(
  call: UserCall,
  message: MessageRecord,
  topic: string | undefined,
  stream_id: number | undefined,
): MessagePlace {
  if (message.stream_id === undefined) throw new Refusal('Direct messages cannot have topics.');
  if (call.user.role === 'guest') throw new Refusal("You don't have permission to edit this message");
  const channel = stream_id === undefined ? message.stream_id : accessChannel(call, stream_id).stream_id;
  const subject = topic === undefined ? message.subject : storedTopic(call.level, cut(topic.trim()));
  if (channel === message.stream_id && subject === message.subject) throw new Refusal('Nothing to change');
  return { stream_id: channel, subject };
}

/** Topics longer than 60 characters are cut. */
function cut(topic: string): string {
  const letters = Array.from(topic);
  return letters.length > 60 ? `${letters.slice(0, 57).join('')}...` : topic;
}

function changeText(call: UserCall, message: MessageRecord, content: string): void {
  const { state, user } = call;
  if (message.sender_id !== user.user_id) throw new Refusal("You don't have permission to edit this message");
  if (content.trim() === '') throw new Refusal('Message must not be empty');
  if (content === message.content) return;
  const timestamp = nowOf(call);
  const edit = { prev_content: message.content, prev_rendered_content: message.rendered };
  const rendered = render(content, userNamedInFull(state));
  state.messages.put(message.id, {
    ...withEdit(message, { user_id: user.user_id, timestamp, ...edit }),
    ...{ content, rendered, last_edit_timestamp: timestamp },
  });
}

function move(call: UserCall, from: MessageRecord, place: MessagePlace, mode: string): void {
  const { state, user } = call;
  const timestamp = nowOf(call);
  for (const { id } of moving(call, from, mode)) {
    const message = state.messages.get(id);
    if (!message) continue;
    const channel = state.channels.get(place.stream_id);
    state.messages.put(id, {
      ...withEdit(message, { user_id: user.user_id, timestamp, ...changes(message, place) }),
      ...place,
      recipient_id: channel?.recipient_id ?? message.recipient_id,
      last_moved_timestamp: timestamp,
    });
  }
}

function moving({ state, user }: UserCall, from: MessageRecord, mode: string): readonly MessageRecord[] {
  if (mode === 'change_one') return [from];
  return state.messages
    .rows()
    .filter(({ stream_id, subject }) => stream_id === from.stream_id && sameTopic(subject, from.subject))
    .filter((message) => (mode === 'change_all' || message.id >= from.id) && canRead(user, message, state));
}

function changes({ stream_id, subject }: MessageRecord, place: MessagePlace) {
  return {
    ...(subject === place.subject ? {} : { prev_topic: subject, topic: place.subject }),
    ...(stream_id === undefined || stream_id === place.stream_id
      ? {}
      : { prev_stream: stream_id, stream: place.stream_id }),
  };
}

function withEdit(message: MessageRecord, edit: Edit): MessageRecord {
  return { ...message, edit_history: [edit, ...(message.edit_history ?? [])] };
}

/** UNIX seconds. */
function nowOf({ clock }: UserCall): number {
  return Math.floor(clock.now() / 1000);
}
