import { dirname } from 'node:path';
import { usage } from '../../core/failure.ts';
import {
  archivedMessages,
  channelNames,
  type ChosenArchive,
  chosenArchive,
  withoutRepeated,
} from '../../jobs/archive/archived-messages.ts';
import { besideArchive, besidePages, countOf, headOf } from '../../jobs/archive/document-head.ts';
import { documentOf, formFor, readArchives, streamed, takesPages } from '../../jobs/archive/export-document.ts';
import { writePages, type CopiedFile } from '../../jobs/archive/write-pages.ts';
import { documentFormats } from '../../output/messages/documents.ts';
import { messageFields } from '../../schema/messages.ts';
import { writeTextFile } from '../../store/archive/archive-folder.ts';
import { flagField, textField } from '../../schema/field.ts';
import { command } from '../command.ts';
import { choiceOptions, readChoice, whyNone } from './choice.ts';
import { foldersArgument } from './folder.ts';

export default command({
  about: [
    'Writes to standard output, or with --to to a file, which appears only when it is complete. The umask decides who can read what is written. No server is asked. Messages are shown as they were archived; what archive pull --recheck recorded is a warning in HTML and Markdown.',
    'DIR may hold archives of one server in its folders, as archive pull --all-channels leaves them: they are exported as one, channel after channel. A message that several of them hold is exported once, as the last one has it.',
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
      help: 'ndjson, csv, markdown, text or html; CHATELAINE_OUTPUT does not apply',
    },
    ...choiceOptions,
    to: textField(
      'PATH',
      'File to write instead of standard output; html also takes a folder, as a PATH without a suffix is',
    ),
    pages: {
      kind: 'string',
      choices: ['one', 'several'],
      help: 'html with --to: one (file) or several (pages in a folder) (default: several above 5,000 messages)',
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
    const { options, note, warn, signal, terminal } = context;
    if (to === undefined && /^(html|markdown)$/.test(output) && terminal.isShown())
      throw usage(
        `a terminal does not show ${output}`,
        `Give --to FILE: ${context.again({ to: `messages.${output === 'html' ? 'html' : 'md'}` })}`,
      );
    const strange = (['fields', 'csv_safe'] as const).find((look) => options.typed?.has(look));
    if (strange && output !== 'csv')
      throw usage(`--${strange.replace('_', '-')} does not apply to -o ${output}`, 'Leave it out, or use -o csv.');
    const archives = await readArchives(folder, warn);
    const form = formFor(output, raw_content, archives);
    const [{ head }] = archives;
    async function* messages() {
      for (const archive of archives) yield* archivedMessages(archive, form, signal);
    }
    const isForPeople = /^(html|markdown|text)$/.test(output);
    const which = typed.channel ? 'all' : 'last';
    const names =
      isForPeople || typed.channel ? await channelNames(archives, form, which, signal) : new Map<never, never>();
    const { isChosen, words } = await readChoice(typed, head, messages, names, context);
    const found: ChosenArchive[] = [];
    for (const archive of archives.map((one) => (isForPeople ? { ...one, names } : one)))
      found.push(isChosen ? await chosenArchive(archive, form, isChosen, signal) : archive);
    const chosen = withoutRepeated(found, form);
    const count = countOf(chosen);
    const repeated = countOf(found) - count;
    if (repeated > 0) note(`messages that several archives hold, exported once: ${repeated}`);
    if (count === 0) warn((await whyNone(typed.channel, messages())) ?? 'no archived message is chosen');
    const isSite = to !== undefined && (await takesPages(to, output, pages, count));
    if (to !== undefined && options.dry_run) {
      note(`${to} would be written`);
      return;
    }
    if (isSite) {
      const copied = new Map<string, CopiedFile>();
      const fileAt = copies === false ? besideArchive(to) : besidePages(copied);
      const headWith = (placeOf: (id: number) => string) => headOf(head, chosen, { fileAt, placeOf, chosen: words });
      const written = await writePages(to, chosen, headWith, copied, signal);
      const files = copied.size === 0 ? '' : `, attached files: ${copied.size}`;
      note(`${to} is written: index.html and ${written} page${written === 1 ? '' : 's'}${files}`);
      return;
    }
    const fileAt = besideArchive(to === undefined ? '.' : dirname(to));
    const page = headOf(head, chosen, { fileAt, chosen: words });
    const text = documentOf(chosen, output, form, { options, signal, head: page });
    if (to === undefined) {
      yield* streamed(text);
      return;
    }
    await writeTextFile(to, text);
    note(`${to} is written`);
  },

  fields: [...messageFields, 'time', 'url'],

  result: 'text',
});
