import { dirname } from 'node:path';
import { incompleteWith } from '../../api/http/answer.ts';
import { usage } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import {
  archivedLines,
  archivedMessages,
  type ChosenArchive,
  chosenArchive,
  withoutRepeated,
} from '../../jobs/archive/archived-messages.ts';
import { documentForm, documentFormats, type DocumentFormat } from '../../output/messages/documents.ts';
import { recipientsOf } from '../../output/messages/message-parts.ts';
import type { PageHead } from '../../output/messages/page-shell.ts';
import { messageFields } from '../../schema/messages.ts';
import { archivesIn, readArchive, type Archive } from '../../store/archive/archive.ts';
import type { ArchiveForm } from '../../store/archive/part.ts';
import { isFolder, writeTextFile } from '../../store/archive/archive-folder.ts';
import { exists } from '../../store/disk/files.ts';
import { flagField, textField } from '../../schema/field.ts';
import { command } from '../command.ts';
import type { Invocation } from '../context.ts';
import { choiceOptions, readChoice } from './choice.ts';
import { besideArchive, besidePages, countOf, headOf } from './document-head.ts';
import { foldersArgument } from './folder.ts';
import { writePages, type CopiedFile } from './write-pages.ts';

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
    to: textField('PATH', 'File to write instead of standard output; html also takes a folder'),
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
    const { options, note, warn, signal, isShown } = context;
    if (to === undefined && /^(html|markdown)$/.test(output) && isShown())
      throw usage(
        `a terminal does not show ${output}`,
        `Give --to FILE: ${context.again({ to: `messages.${output === 'html' ? 'html' : 'md'}` })}`,
      );
    if (options.fields !== undefined && output !== 'csv')
      throw usage(`--fields does not apply to -o ${output}`, 'Leave it out, or use -o csv.');
    const archives = await readArchives(folder, warn);
    const form = formFor(output, raw_content, archives);
    const [{ head }] = archives;
    async function* messages() {
      for (const archive of archives) yield* archivedMessages(archive, form, signal);
    }
    const { isChosen, words } = await readChoice(typed, head, messages, context);
    const found: ChosenArchive[] = [];
    for (const archive of archives)
      found.push(isChosen ? await chosenArchive(archive, form, isChosen, signal) : archive);
    const chosen = withoutRepeated(found, form);
    const count = countOf(chosen);
    const repeated = countOf(found) - count;
    if (repeated > 0) note(`messages that several archives hold, exported once: ${repeated}`);
    if (count === 0) warn('no archived message is chosen');
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

  fields: messageFields,

  result: 'text',
});

/** @throws Failure usage where there is none, or they are of several servers */
async function readArchives(folder: string, warn: (text: string) => void): Promise<[Archive, ...Archive[]]> {
  const [first, ...others] = await archivesIn(folder);
  const archives: [Archive, ...Archive[]] = [await readArchive(first)];
  for (const own of others) archives.push(await readArchive(own));
  for (const { folder: own, head, damage, unfinished } of archives) {
    for (const { file, problem } of [...damage, ...unfinished])
      warn(`${own === folder ? '' : `${own}: `}${file}: ${problem}; archive verify says how to repair it`);
    if (head.site !== archives[0].head.site)
      throw usage(`${folder} holds archives of ${archives[0].head.site} and of ${head.site}`, 'Export each by itself.');
  }
  return archives;
}

/** A browser takes a minute for a page of 100,000 messages, and a second for each of several. */
const maxOnOnePage = 5000;

/** Whether a document becomes pages: the path is a folder, or one page would be too long. @throws Failure usage */
async function takesPages(
  to: string,
  output: DocumentFormat,
  pages: 'one' | 'several' | undefined,
  count: number,
): Promise<boolean> {
  const isThere = await isFolder(to);
  if (output !== 'html') {
    if (isThere) throw usage(`--to ${to} is a folder: only html is written as several files`);
    return false;
  }
  if (pages === 'one') {
    if (isThere) throw usage(`--to ${to} is a folder, and --pages one makes a file`);
    return false;
  }
  const isLong = pages === 'several' || count > maxOnOnePage;
  if (!isThere && isLong && (await exists(to)))
    throw usage(
      `${count} messages become pages in a folder, and ${to} is a file`,
      'Name a folder, or give --pages one.',
    );
  return isThere || isLong;
}

/** @throws Failure usage where an archive does not hold the form, with the command that fetches it */
function formFor(output: DocumentFormat, source: boolean | undefined, archives: readonly Archive[]): ArchiveForm {
  if (output === 'html' && source) throw usage('-o html shows the rendered form: leave out --raw-content');
  const lacking = (form: ArchiveForm) => archives.find(({ head }) => !head.forms.includes(form));
  const plain = lacking('rendered') && !lacking('source') ? 'source' : 'rendered';
  const form = output === 'markdown' || source ? 'source' : output === 'html' ? 'rendered' : plain;
  const other = lacking(form);
  if (!other) return form;
  throw usage(
    `-o ${output}${source ? ' --raw-content' : ''} needs the ${form} form, which ${other === archives[0] ? 'the archive' : other.folder} does not hold`,
    `Fetch it: ${commandLine('archive pull', [other.folder], { both: true })}`,
  );
}

const columns = ['id', 'timestamp', 'sender_id', 'sender_full_name', 'display_recipient', 'subject', 'content'];

async function* documentOf(
  archives: readonly ChosenArchive[],
  output: DocumentFormat,
  form: ArchiveForm,
  { options, signal, head }: Pick<Invocation, 'options' | 'signal'> & { readonly head: PageHead },
): AsyncGenerator<string> {
  if (output === 'ndjson') {
    for (const archive of archives) yield* archivedLines(archive, form, signal);
    return;
  }
  const writer = await documentForm(output, head, options, {
    columns,
    cell: (message, column) =>
      column === 'display_recipient' && isObject(message) ? recipientsOf(message) : undefined,
  });
  let isBegun = false;
  try {
    for (const archive of archives)
      for await (const message of archivedMessages(archive, form, signal)) {
        isBegun = true;
        yield writer.row(output === 'text' ? { ...message, url: head.urlOf(message) } : message);
      }
  } catch (cause) {
    // What comes before a damaged part, or before an interruption, is a whole document too.
    if (isBegun) yield writer.end();
    throw cause;
  }
  yield writer.end();
}

/** The same text; what ends it after its beginning, such as the deadline, leaves a part on standard output. */
async function* streamed(text: AsyncIterable<string>): AsyncGenerator<string> {
  let isBegun = false;
  try {
    for await (const piece of text) {
      isBegun = true;
      yield piece;
    }
  } catch (cause) {
    throw isBegun ? incompleteWith('the export on standard output is not whole', cause) : cause;
  }
}
