import { isObject } from '../../core/json.ts';
import type { MessageHead, MessagePage } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import type { MessageSelection } from '../messages/selection.ts';
import { isSameName } from '../../schema/topic.ts';

/** Parameters without which an answer holds other messages than those that were asked for. */
const selecting = ['narrow', 'message_ids'];

/**
 * Refuses a page of a server that ignored the narrow, with or without saying so: channel and topic of every message are compared.
 * @throws Failure unavailable
 */
export function refuseOtherMessages({ narrow }: MessageSelection, page: MessagePage<MessageHead>): void {
  const ignored = selecting.filter((name) => page.ignored.includes(name));
  if (ignored.length > 0) throw untrusted(`the server ignored ${ignored.join(' and ')}`);
  for (const term of narrow) {
    const isOf = testOf(term);
    const other = isOf && page.messages.find((message) => !isOf(message));
    if (!other) continue;
    const { id, display_recipient, subject } = other;
    const place = typeof display_recipient === 'string' ? `#${display_recipient} > ${String(subject)}` : 'elsewhere';
    throw untrusted(`the server ignored the narrow: it answered with message ${id} of ${place}`);
  }
}

/** What the messages of a term have in common; undefined where a message does not show it. */
function testOf(term: unknown): ((message: MessageHead) => boolean) | undefined {
  if (!isObject(term) || term['negated'] === true) return undefined;
  const { operator, operand } = term;
  if (operator === 'channel' || operator === 'stream') {
    if (typeof operand === 'number') return ({ stream_id }) => stream_id === operand;
    return ({ display_recipient }) =>
      typeof display_recipient === 'string' && isSameName(display_recipient, String(operand).trim());
  }
  // The empty topic is shown under a name of the server's own, or as ''.
  if (operator === 'topic' && typeof operand === 'string' && operand.trim() !== '')
    return ({ subject }) => subject === '' || isSameName(String(subject), operand.trim());
  return undefined;
}

function untrusted(message: string): Failure {
  return new Failure('unavailable', `${message}: such an answer is not archived`, {
    hint: 'Check the site URL of the profile, and any proxy between it and this machine.',
    retryable: false,
  });
}
