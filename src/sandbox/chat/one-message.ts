import type { MessageRecord } from '../records.ts';
import { canRead } from './access.ts';
import type { UserCall } from './call.ts';
import { ignoredField, ignoredSince } from './ignored.ts';
import { showMessage } from './message-view.ts';
import { boolean, readParameters } from './parameters.ts';
import { Refusal } from './refusal.ts';

/** The message of the URL, if the caller may read it. @throws Refusal */
export function accessMessage({ state, user, segment, organization }: UserCall): MessageRecord {
  const message = state.messages.get(Number(segment));
  const isVisible = message !== undefined && message.id >= organization.first_visible_message_id;
  if (!isVisible || !canRead(user, message, state)) throw new Refusal('Invalid message(s)');
  return message;
}

/** GET /messages/{message_id}. @throws Refusal */
export function oneMessage(call: UserCall) {
  const { values, ignored } = readParameters(call.request, {
    apply_markdown: boolean,
    allow_empty_topic_name: boolean,
  });
  const message = accessMessage(call);
  const { apply_markdown = true, allow_empty_topic_name = false } = values;
  const look = { apply_markdown, allow_empty_topic_name, client_gravatar: true, search: undefined };
  return {
    message: showMessage(call, message, look),
    raw_content: message.content,
    ...ignoredField(call.level, ignoredSince.others, ignored),
  };
}
