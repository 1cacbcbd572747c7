import type { JsonObject } from '../../core/json.ts';
import { utcText } from '../../core/moment.ts';
import { matches, type ChannelNames } from '../../jobs/archive/archived-messages.ts';
import { idsOf } from '../../jobs/topic/near.ts';
import type { Fields, Values } from '../../schema/field.ts';
import { readLink } from '../../schema/link.ts';
import { narrowOperators, narrowTerm } from '../../schema/narrow.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import type { Terminal } from '../context.ts';
import { namesAmong, rangeOptions } from '../messages/selection.ts';
import { spanOf, type TimeParts } from '../typed-time.ts';

const { channel, topic, sender } = narrowOperators;
const { since, until } = rangeOptions;

/** The options that take a part of an archive: those of a selection of messages that an archive can tell. */
export const choiceOptions = {
  channel: { ...channel, help: `${channel.help}; any of several` },
  topic: { ...topic, help: `${topic.help}; any of several` },
  sender: { ...sender, help: `${sender.help}; any of several` },
  since,
  until,
} as const satisfies Fields;

/** Digits are an id: why none is chosen where a channel has them for a name. */
export async function whyNone(channels: readonly string[] = [], messages: AsyncIterable<JsonObject>) {
  const digits = channels.find((text) => /^\d+$/.test(text));
  if (digits === undefined) return undefined;
  for await (const { display_recipient: name } of messages)
    if (name === digits)
      return `no channel has the id ${digits}; a channel is named so: write name:${digits} for the channel of that name`;
  return undefined;
}

/** The choice of the values, and its words; nothing is undefined, where all is chosen. @throws Failure usage */
export async function readChoice(
  typed: Values<typeof choiceOptions>,
  { site, account }: Pick<ArchiveHead, 'site' | 'account'>,
  messages: () => AsyncIterable<JsonObject>,
  channels: ChannelNames,
  context: TimeParts & Pick<Terminal, 'note'>,
) {
  const names = namesAmong(typed.sender ?? []);
  const senders = new Map<unknown, JsonObject>();
  if (names.length > 0)
    for await (const { sender_id, sender_full_name } of messages())
      senders.set(sender_id, { user_id: sender_id, full_name: sender_full_name });
  const users = idsOf(names, [...senders.values()], context.note).set('me', account);

  const { since: from = -Infinity, until: to = Infinity } = spanOf(typed, context);
  const groups = (['channel', 'topic', 'sender'] as const).flatMap((name) => {
    const texts = (typed[name] ?? []).map((text) => String((name === 'sender' && users.get(text)) || text));
    const terms = (text: string) => (name === 'channel' ? readLink(text, site)?.terms : undefined);
    const group = texts.map((text) => terms(text) ?? [narrowTerm(name, text)]);
    return texts.length === 0 ? [] : [{ group, word: `${name} ${texts.join(', ')}` }];
  });
  const bounds = Object.entries({ since: from, until: to }).flatMap(([name, time]) =>
    Number.isFinite(time) ? `${name} ${utcText(time / 1000)}` : [],
  );
  const words = [...groups.map(({ word }) => word), ...bounds];
  const isChosen = (message: JsonObject): boolean => {
    const time = Number(message['timestamp']) * 1000;
    const isIn = time >= from && time < to;
    return (
      isIn &&
      groups.every(({ group }) => group.some((terms) => terms.every((term) => matches(message, term, channels))))
    );
  };
  return { isChosen: words.length === 0 ? undefined : isChosen, words };
}
