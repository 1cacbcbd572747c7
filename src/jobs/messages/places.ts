import type { ChatApi } from '../../api/chat/chat.ts';
import type { CallLimits, MessageHead, MessagePage, MessageQuery } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import { isObject, writeJson } from '../../core/json.ts';
import { isSameName, isSameTopic } from '../../schema/topic.ts';
import { idsShown, type MessageChat } from './messages-by-ids.ts';
import { channelsIn, operandsIn } from './selection.ts';

/**
 * Proves where messages are that name another place (docs/apis.md, Old copies). `found` gets each old copy;
 * a page of a server that ignored the narrow is Failure unavailable.
 */
export function provingPlaces(chat: ChatApi, found: (id: number) => void): ChatApi {
  const { level } = chat;
  const raw = { messages: proving({ ...chat.raw, level }, found) };
  return { ...chat, messages: proving({ messages: chat.messages, level }, found), raw };
}

/** Whether a message that was read names a place which it left: the one that it was asked for in is its own. */
export function isOldCopy(message: MessageHead): boolean {
  return oldCopies.has(message);
}

/** The narrow in which an old copy was found; undefined for any other message. */
export function narrowOf(message: MessageHead): readonly unknown[] | undefined {
  return oldCopies.get(message);
}

/** The narrow in which each was found. */
const oldCopies = new WeakMap<MessageHead, MessageQuery['narrow']>();

/** Readings of one page whose messages are renamed or moved each time. */
const maxReadings = 5;

function proving<M extends MessageHead>(chat: MessageChat<M>, found: (id: number) => void) {
  return async (query: MessageQuery, limits?: CallLimits): Promise<MessagePage<M>> => {
    const tests = testsOf(query);
    /** What the reading before this one had, although it was in the place that it named. */
    let before: ReadonlySet<number> = new Set();
    for (let reading = 1; ; reading += 1) {
      const page = await chat.messages(query, limits);
      const strays = page.messages.filter((message) => !tests.every((isOf) => isOf(message)));
      const [stray] = strays;
      // A server that says that it ignored the narrow is refused by whoever asked.
      if (!stray || page.ignored.includes('narrow')) return page;
      const { named, areOldCopies } = await placesOf(chat, query, strays).catch((cause: unknown) => {
        if (reading > 1 || !(cause instanceof Failure) || cause.isInterruption) throw cause;
        return noProof;
      });
      if (areOldCopies) {
        for (const message of strays) {
          oldCopies.set(message, query.narrow);
          found(message.id);
        }
        return page;
      }
      // A page that is read again has nothing that was renamed before: what it has all the same was not selected.
      const ignoring = strays.find(({ id }) => before.has(id));
      if (ignoring || (named.size === 0 && reading > 1)) throw strayed(ignoring ?? stray);
      if (reading === maxReadings) throw restless(stray);
      before = named;
    }
  };
}

const noProof = { named: new Set<number>(), areOldCopies: false };

/**
 * Of messages that name another place than the query the ids of those that are there; all others are old copies where
 * the place of the query has all of them, and the other places none.
 */
async function placesOf(
  chat: MessageChat,
  { narrow, allow_empty_topic_name }: MessageQuery,
  strays: readonly MessageHead[],
): Promise<typeof noProof> {
  const idsIn = (place: MessageQuery['narrow'], messages: readonly MessageHead[]) =>
    idsShown(chat, { narrow: place, allow_empty_topic_name }, [...new Set(messages.map(({ id }) => id))]);
  if (strays.some(({ stream_id }) => typeof stream_id !== 'number')) return noProof;
  const isByName = channelsIn(narrow).some((channel) => typeof channel === 'string');
  const named = new Set<number>();
  for (const [place, messages] of byNamedPlace(strays, isByName ? 'display_recipient' : 'stream_id'))
    for (const id of await idsIn(place, messages)) named.add(id);
  return { named, areOldCopies: named.size === 0 && (await idsIn(narrow, strays)).size === strays.length };
}

/** Messages by the place that they name, as a narrow. */
export function byNamedPlace<M extends MessageHead>(
  messages: readonly M[],
  channel: 'stream_id' | 'display_recipient' = 'stream_id',
) {
  const places = new Map<string, readonly [place: ReturnType<typeof placeNarrow>, messages: M[]]>();
  for (const message of messages) {
    const place = placeNarrow(message[channel], message.subject);
    const known = places.get(writeJson(place)) ?? [place, []];
    known[1].push(message);
    places.set(writeJson(place), known);
  }
  return places.values();
}

export function placeNarrow(channel: unknown, topic: unknown) {
  return [
    { operator: 'channel', operand: channel },
    { operator: 'topic', operand: topic },
  ];
}

function strayed({ id, display_recipient, subject }: MessageHead): Failure {
  const place = typeof display_recipient === 'string' ? `#${display_recipient} > ${String(subject)}` : 'elsewhere';
  return untrusted(`the server ignored the narrow: it answered with message ${id} of ${place}`);
}

function restless({ id }: MessageHead): Failure {
  const what = `messages were renamed or moved each time they were read, such as message ${id}`;
  return new Failure('incomplete', what, { hint: 'Run the same command again.', retryable: true });
}

/** The warning of every command that reads pages of two views. */
export const changedView = 'the plan of the organization hid messages while they were read: some are missing';

/** Refuses a page of a server that says that it ignored what selects. @throws Failure unavailable */
export function refuseIgnored(page: Pick<MessagePage, 'ignored'>): void {
  const ignored = ignoredSelection(page);
  if (ignored.length > 0) throw untrusted(`the server ignored ${ignored.join(' and ')}`);
}

/** The ignored parameters without which an answer holds other messages than those that were asked for. */
export function ignoredSelection({ ignored }: Pick<MessagePage, 'ignored'>): string[] {
  return ['narrow', 'message_ids'].filter((name) => ignored.includes(name));
}

export function untrusted(message: string): Failure {
  return new Failure('unavailable', `${message}: such an answer is not used`, {
    hint: 'Check the site URL of the profile, and any proxy between it and this machine.',
    retryable: false,
  });
}

/** Whether a narrow is a place and nothing else, and the message names it. */
export function namesPlace(narrow: readonly unknown[], message: MessageHead): boolean {
  const tests = testsOf({ narrow });
  return tests.length > 0 && tests.length === narrow.length && tests.every((isOf) => isOf(message));
}

type Test = (message: MessageHead) => boolean;

/** What the messages of a query show of its place; `with` moves the place that the other terms name. */
function testsOf({ narrow = [], allow_empty_topic_name }: MessageQuery): readonly Test[] {
  if (narrow.some((term) => isObject(term) && term['operator'] === 'with')) return [];
  const topics = operandsIn(narrow, 'topic').filter((operand) => typeof operand === 'string');
  return [
    ...channelsIn(narrow).map(channelTest),
    ...topics.flatMap((topic) => topicTest(topic.trim(), allow_empty_topic_name) ?? []),
  ];
}

function channelTest(channel: number | string): Test {
  if (typeof channel === 'number')
    return ({ stream_id, display_recipient }) =>
      stream_id === channel || (stream_id === undefined && display_recipient === undefined);
  const name = channel.trim();
  return ({ display_recipient }) =>
    display_recipient === undefined || (typeof display_recipient === 'string' && isSameName(display_recipient, name));
}

function topicTest(topic: string, allowsEmpty: boolean | undefined): Test | undefined {
  // The empty topic is shown under a name of the server's own, or as ''.
  if (topic === '') return allowsEmpty ? ({ subject }) => subject === '' : undefined;
  return ({ subject }) => typeof subject !== 'string' || isSameTopic(subject.trim(), topic);
}
