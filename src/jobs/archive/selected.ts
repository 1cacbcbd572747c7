import type { MessageHead, MessagePage } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { isSameName } from '../../schema/topic.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import type { MessageSelection, Range } from '../messages/selection.ts';

/**
 * What an archive selects (docs/archive-format.md, Manifest).
 * @throws Failure config where archive.json does not say it
 */
export function selectionIn({ selection }: Pick<ArchiveHead, 'selection'>): MessageSelection {
  if (isSelection(selection)) return selection;
  throw new Failure('config', 'archive.json holds no selection', {
    hint: 'Put archive.json back from a copy, or pull into another folder.',
  });
}

function isSelection(value: unknown): value is MessageSelection {
  if (!isObject(value) || !isObject(value['range'])) return false;
  const { kind } = value['range'];
  return Array.isArray(value['narrow']) && isObject(value['form']) && rangeKinds.some((known) => known === kind);
}

const rangeKinds = ['request', 'ids', 'newest', 'pages', 'times'] as const satisfies readonly Range['kind'][];

/** The channels that a selection names and does not leave out. */
export function channelsIn({ narrow }: MessageSelection): (number | string)[] {
  return narrow.flatMap((term) => {
    const { operator, operand, negated } = isObject(term) ? term : {};
    const isChannel = (operator === 'channel' || operator === 'stream') && negated !== true;
    return isChannel && (typeof operand === 'number' || typeof operand === 'string') ? [operand] : [];
  });
}

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
