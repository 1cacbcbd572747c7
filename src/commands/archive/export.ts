import { dirname } from 'node:path';
import { quantity } from '../../core/duration.ts';
import { usage } from '../../core/failure.ts';
import type { JsonObject } from '../../core/json.ts';
import {
  allMessages,
  chooseMessages,
  matches,
  recordedPlaces,
  type ChosenArchive,
} from '../../jobs/archive/archived-messages.ts';
import { countPlaces } from '../../jobs/archive/visibility.ts';
import {
  besideArchive,
  countOf,
  documentFormats,
  documentOf,
  formFor,
  headOf,
  readArchives,
  streamToOutput,
  takesPages,
} from '../../jobs/archive/export-document.ts';
import { writePages } from '../../jobs/archive/write-pages.ts';
import { idsOf } from '../../jobs/topic/near.ts';
import { alternatives, flagField, outputField, type Fields, type Values } from '../../schema/field.ts';
import { readLink } from '../../schema/link.ts';
import { messageFields } from '../../schema/messages.ts';
import { narrowOperators, narrowTerm, readName } from '../../schema/narrow.ts';
import { writeTextFile } from '../../store/archive/archive-folder.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import { hasId } from '../../store/archive/part.ts';
import { command } from '../command.ts';
import { rangeOptions } from '../messages/selection.ts';
import { spanOf, type TimeParts } from '../typed-time.ts';
import { foldersArgument } from './folder.ts';

const { channel, topic, sender } = narrowOperators;
const { since, until } = rangeOptions;

/** The options that select a part of an archive: those of messages fetch that need no server to decide. */
const choiceOptions = {
  channel: { ...channel, help: `${channel.help}; any of several` },
  topic: { ...topic, help: `${topic.help}; any of several` },
  sender: { ...sender, help: `${sender.help}; any of several` },
  since,
  until,
} as const satisfies Fields;

export default command({
  about: [
    'Writes to standard output, or with --to to a file, which appears only when it is complete. The umask decides who can read what is written. Works offline. Messages are shown as they were archived; what archive pull --recheck recorded is a warning in HTML.',
    'DIR may contain several archives of one server, as archive pull --all-channels creates them: they are exported as one, channel by channel. A message that is in several of them is exported once, in the version of the last one.',
    '--channel, --topic, --sender, --since and --until select the messages that match all of them; only the files of these are copied.',
  ],
  args: { folder: foldersArgument },
  options: {
    output: {
      kind: 'string',
      short: 'o',
      required: true,
      choices: documentFormats,
      placeholder: 'FORMAT',
      help: `${alternatives(documentFormats)}; CHATELAINE_OUTPUT does not apply`,
    },
    ...choiceOptions,
    to: outputField(
      'PATH',
      'Write to this file instead of standard output; for html also a folder (a PATH without a suffix)',
    ),
    pages: {
      kind: 'string',
      choices: ['one'],
      help: 'html with --to: one file, even above 5,000 messages (default: pages in a folder)',
    },
    files: {
      kind: 'boolean',
      negatable: true,
      help: 'Copy attached files beside the pages of a folder (default: yes); --no-files links to those in the archive',
    },
    raw_content: flagField('ndjson, csv and text: the Markdown source'),
  },
  examples: [
    'chatelaine archive export kitchen -o html --to kitchen.html',
    'chatelaine archive export everything -o html --to site/',
    'chatelaine archive export kitchen -o text --sender 10 --since 2026-01-01',
    'chatelaine archive export kitchen -o ndjson --raw-content',
  ],

  dryRun: ['rows'],

  async *run({ folder, output, to, raw_content, pages, files: copies, ...typed }, context) {
    const { options, say, warn, signal } = context;
    if (options.typed.has('fields') && output !== 'csv')
      throw usage(`--fields does not apply to -o ${output}`, 'Leave it out, or use -o csv.');
    const archives = await readArchives(folder, warn);
    const [{ head }] = archives;
    const form = formFor(output, raw_content, archives);
    const isChosen = await readChoice(typed, head, allMessages(archives, form, signal), context);
    const chosen = await chooseMessages(archives, form, isChosen, signal);
    const count = countOf(chosen);
    if (typed.channel ?? typed.topic) warnOfMoves(chosen, warn);
    if (count === 0) warn('no archived message matches');
    const isSite = to !== undefined && (await takesPages(to, output, pages, count));
    if (to !== undefined && options.dry_run) {
      say(`${to} would be written`);
      return;
    }
    const exported = { form, signal };
    if (isSite) {
      const attached = copies === false ? 'in the archives' : 'copied';
      const written = await writePages(to, chosen, head, exported, attached);
      const files = written.files === 0 ? '' : `, attached files: ${written.files}`;
      say(`${to} is written: index.html and ${quantity(written.pages, 'page')}${files}`);
      return;
    }
    const page = headOf(head, chosen, besideArchive(to === undefined ? '.' : dirname(to)));
    const text = documentOf(chosen, exported, output, page, options);
    if (to === undefined) {
      yield* streamToOutput(text);
      return;
    }
    await writeTextFile(to, text);
    say(`${to} is written`);
  },

  fields: [...messageFields, 'time', 'url'],

  result: 'text',
});

/** Options match where a recheck last found a message, but the export shows it where it was archived. */
function warnOfMoves(archives: readonly ChosenArchive[], warn: (text: string) => void): void {
  const places = archives.flatMap(({ ids, changes }) =>
    [...recordedPlaces(changes)].flatMap(([id, place]) => (hasId(ids, id) ? [place] : [])),
  );
  if (places.length > 0)
    warn(`moved on the server since they were archived, shown where they were: ${countPlaces(places)}`);
}

/** The test for messages that the options select; undefined where they select all. @throws Failure usage */
async function readChoice(
  typed: Values<typeof choiceOptions>,
  { site, account, account_id }: Pick<ArchiveHead, 'site' | 'account' | 'account_id'>,
  messages: AsyncIterable<JsonObject>,
  context: TimeParts,
): Promise<((message: JsonObject) => boolean) | undefined> {
  const own = String(account_id ?? account);
  const people = (typed.sender ?? []).map((text) => (text === 'me' || text === account ? own : text));
  const called = people.filter((text) => typeof readName(text) === 'string');
  // A user matches by every name and address in the messages, and a channel by every name that it had.
  const senders = new Map<string, JsonObject>();
  const channels = new Map<unknown, Set<unknown>>();
  if ((typed.channel ?? called).length > 0)
    for await (const { sender_id: user_id, stream_id, display_recipient, ...sender } of messages) {
      const { sender_full_name: full_name, sender_email: email } = sender;
      senders.set(`${String(user_id)} ${String(full_name)} ${String(email)}`, { user_id, full_name, email });
      channels.set(stream_id, (channels.get(stream_id) ?? new Set()).add(display_recipient));
    }
  const users = idsOf(called, [...senders.values()], context.note);
  const { since: from = -Infinity, until: to = Infinity } = spanOf(typed, context);
  const groups = [
    (typed.channel ?? []).map((text) => readLink(text, site)?.terms ?? [narrowTerm('channel', text)]),
    (typed.topic ?? []).map((text) => [narrowTerm('topic', text)]),
    people.map((text) => [narrowTerm('sender', String(users.get(text) ?? text))]),
  ].filter((group) => group.length > 0);
  if (groups.length === 0 && from === -Infinity && to === Infinity) return undefined;
  return (message) => {
    const time = Number(message['timestamp']) * 1000;
    const isOf = (group: (typeof groups)[number]): boolean =>
      group.some((terms) => terms.every((term) => matches(message, term, channels)));
    return time >= from && time < to && groups.every(isOf);
  };
}
