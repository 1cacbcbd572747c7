import type { ChatApi } from '../../api/chat/chat.ts';
import type { CallLimits, RawMessage, MessagePage, MessageQuery } from '../../api/chat/chat-messages.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { JsonObject } from '../../core/json.ts';
import { isSameName, isSameTopic } from '../../schema/topic.ts';
import { channelsIn, operandsIn, partsOf } from '../../schema/selection.ts';

/** Waits before a page that has messages of another place is requested again: someone may be moving them. */
const waits: readonly Milliseconds[] = [2000, 7000];

/**
 * The same API, but each page has messages of the requested place only (docs/apis.md, Messages of another place).
 * @throws Failure unavailable where the server returns others three times, or says that it ignored the selection
 */
export function checkingPlaces(chat: ChatApi, sleep: (span: Milliseconds) => Promise<void>): ChatApi {
  const messages = async (query: MessageQuery, limits?: CallLimits): Promise<MessagePage> => {
    const isThere = placeTest(query);
    const strayIn = ({ messages: all }: MessagePage): RawMessage | undefined => all.find((one) => !isThere(one));
    const read = async (): Promise<MessagePage> => refuseIgnored(await chat.messages(query, limits));
    let page = await read();
    for (const wait of limits?.repeat === 'never' ? [] : waits) {
      if (!strayIn(page)) return page;
      await sleep(wait);
      const again = await read();
      page = { ...again, waited: (page.waited ?? 0) + wait + (again.waited ?? 0) };
    }
    const stray = strayIn(page);
    if (stray) throw strayFailure(stray);
    return page;
  };
  return { ...chat, messages };
}

export function placeNarrow(channel: unknown, topic: unknown) {
  return [
    { operator: 'channel', operand: channel },
    { operator: 'topic', operand: topic },
  ];
}

export function placeOf({ display_recipient: channel, subject }: JsonObject): string {
  return `#${String(channel)} > ${String(subject)}`;
}

function strayFailure(message: RawMessage): Failure {
  const place = typeof message.read('display_recipient') === 'string' ? placeOf(message.parse()) : 'another place';
  return new Failure('unavailable', `the server ignored the narrow: it returned message ${message.id} of ${place}`, {
    hint: 'Run the same command again if someone is moving messages. Otherwise check the site URL of the profile, and any proxy or cache in front of the server.',
  });
}

/** The warning of every command for which the plan hid messages between two pages. */
export const changedView = 'the plan of the organization hid messages while they were read: some are missing';

/** Returns the page, unless the server says that it ignored the selection. @throws Failure unavailable */
export function refuseIgnored(page: MessagePage): MessagePage {
  const names = ['narrow', 'message_ids'].filter((name) => page.ignored.includes(name));
  if (names.length > 0) throw untrusted(`the server ignored ${names.join(' and ')}`);
  return page;
}

export function untrusted(message: string): Failure {
  return new Failure('unavailable', `${message}: this response is not used`, {
    hint: 'Check the site URL of the profile, and any proxy between it and this machine.',
    retryable: false,
  });
}

/** The test for messages in the place of their query; `with` moves that place, so every message passes. */
function placeTest({ narrow = [], allow_empty_topic_name }: MessageQuery): (message: RawMessage) => boolean {
  if (narrow.some((term) => partsOf(term)[0] === 'with')) return () => true;
  const isOfChannel = (message: RawMessage, channel: number | string): boolean => {
    const [id, name] = [message.read('stream_id'), message.read('display_recipient')];
    if (typeof channel === 'number') return id === channel || (id === undefined && name === undefined);
    return name === undefined || (typeof name === 'string' && isSameName(name, channel.trim()));
  };
  const isOfTopic = (message: RawMessage, topic: unknown): boolean => {
    if (typeof topic !== 'string') return true;
    const name = message.read('subject');
    // The empty topic is shown under a name of the server's own, or as ''.
    if (topic.trim() === '') return !allow_empty_topic_name || name === '';
    return typeof name !== 'string' || isSameTopic(name.trim(), topic.trim());
  };
  const [channels, topics] = [channelsIn(narrow), operandsIn(narrow, 'topic')];
  return (message) =>
    channels.every((channel) => isOfChannel(message, channel)) && topics.every((topic) => isOfTopic(message, topic));
}
