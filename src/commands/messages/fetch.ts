import { utcText } from '../../core/moment.ts';
import { messageLink } from '../../schema/link.ts';
import { usage } from '../../core/failure.ts';
import { fetchEnvelope, fetchMessages } from '../../jobs/messages/fetch-messages.ts';
import { refuseHiddenChannels } from '../../jobs/topic/find-channel.ts';
import { withNearNames } from '../../jobs/topic/near.ts';
import { messageFields } from '../../schema/messages.ts';
import { JsonRows } from '../../output/json-rows.ts';
import { recipientsOf } from '../../output/messages/message-parts.ts';
import { flagField, textField } from '../../schema/field.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import type { Accounts, Disk, Invocation, Services } from '../context.ts';
import type { TimeParts } from '../typed-time.ts';
import { factsFor, selectionOf, selectionOptions, selectionRules, type SelectionValues } from './selection.ts';

export default command({
  about: [
    'Fetches the messages that match all options. Without --channel or --channels, only messages that the account itself received are searched. ' +
      'Digits are the id of a channel or user, anything else is a name or an address; id:7 and name:2024 say which. Standard error says which ' +
      'user a name means. Some organizations hide addresses: name users by their id there. ' +
      'An option from feature level N needs a chat server of that level; chatelaine doctor shows yours.',
    'A terminal shows a conversation in local time (-o text); -o table shows each message on a line. --fields time,url,content adds ' +
      'the time as RFC 3339 and the link of the message to any other format.',
    'Fetches the newest 100; with --limit N the newest N, or with --anchor the N from there on; with --all every one. --num-before and ' +
      '--num-after are sent as given, in one request. Messages are sorted by id, unless you give --sort.',
  ],
  args: {
    link: textField(
      'LINK',
      'A link of the web app, complete or from # on: its conversation, from the linked message on',
    ),
  },
  options: {
    ...selectionOptions,
    envelope: {
      ...flagField('With -o json: the complete response of one request, with anchor and found_newest'),
      rare: 'fetching',
    },
  },
  examples: [
    "chatelaine messages fetch '#narrow/channel/1-general/topic/Lunch'",
    'chatelaine messages fetch --channel general --topic lunch --raw-content',
    'chatelaine messages fetch --channel general --all -o ndjson',
    'chatelaine messages fetch --channel general --since 2026-01-26 --until 2026-01-27',
    'chatelaine messages fetch --search battery --not sender=11 --limit 5',
    'chatelaine messages fetch --anchor first_unread --num-before 10 --num-after 20 -o json',
  ],

  rules: selectionRules,

  run: ({ envelope, ...values }, context) => (envelope ? envelopeOf(values, context) : messagesOf(values, context)),

  result: 'one or rows',
  fields: [...messageFields, 'time', 'url'],

  show: {
    data: ({ message }) => message,
    columns: [
      { name: 'id', keep: -2 },
      { name: 'timestamp', as: 'seconds', keep: 1 },
      ...whole('sender_full_name'),
      { name: 'display_recipient', keep: -1, width: 60, isWords: true, of: ({ message }) => recipientsOf(message) },
      { name: 'subject', width: 60, empty: '(empty topic)' },
      { name: 'content', as: 'message', keep: 2, width: 24 },
      { name: 'time', when: 'asked', of: ({ message: { timestamp } }) => utcText(timestamp) ?? undefined },
      { name: 'url', when: 'asked', keep: 'whole', of: ({ message, site }) => messageLink(message, site) },
    ],
    none: 'no messages match',
  },
});

type FetchParts = Services & Accounts & TimeParts & Invocation & Disk;

async function* messagesOf(values: SelectionValues, context: FetchParts) {
  const selection = selectionOf(values, await factsFor(values, context), context);
  const chat = context.chat();
  const { site } = await context.chatAccount();
  let count = 0;
  const pages = fetchMessages(chat, selection, context);
  try {
    for await (const messages of pages) {
      if (messages.length === 0) continue;
      count += messages.length;
      yield new JsonRows(
        messages.map(({ text }) => text),
        (text) => ({ message: text.parse(), site }),
      );
    }
  } catch (cause) {
    throw await withNearNames(cause, selection.narrow, chat);
  }
  if (count === 0) await refuseHiddenChannels(chat, selection.narrow);
  const { range } = selection;
  if (range.kind === 'newest' && values.limit === undefined && count === range.limit)
    context.conclude(`only the newest ${range.limit} messages are shown; --limit N or --all shows more`);
}

/** The whole response in the place of a message; -o json is the only format. */
async function envelopeOf(values: SelectionValues, context: FetchParts) {
  const { output, fields } = context.options;
  if (output !== 'json') throw usage('--envelope is one JSON document', 'Add -o json.');
  if (fields !== undefined)
    throw usage('--fields selects fields of messages, and --envelope prints the complete response', 'Use --jq.');
  const selection = selectionOf(values, await factsFor(values, context), context);
  const chat = context.chat();
  const { body, end } = await fetchEnvelope(chat, selection, context.warn).catch(async (cause: unknown) => {
    throw await withNearNames(cause, selection.narrow, chat);
  });
  context.record.untilWritten(end);
  return { message: body, site: '' };
}
