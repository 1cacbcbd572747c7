import { dirname } from 'node:path';
import { messageLink } from '../../api/chat/chat-messages.ts';
import { incompleteWith } from '../../api/http/answer.ts';
import { usage } from '../../core/failure.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { archivedLines, archivedMessages } from '../../jobs/archive/archived-messages.ts';
import { documentForm, documentFormats, type DocumentFormat } from '../../output/messages/documents.ts';
import { recipientsOf } from '../../output/messages/message-parts.ts';
import { messageFields } from '../../schema/messages.ts';
import { readArchive, type Archive } from '../../store/archive/archive.ts';
import type { ArchiveForm } from '../../store/archive/part.ts';
import { isFolder, writeTextFile } from '../../store/archive/archive-folder.ts';
import { exists } from '../../store/disk/files.ts';
import { flagField, textField } from '../../schema/field.ts';
import { command } from '../command.ts';
import type { Invocation } from '../context.ts';
import { headOf, type DocumentPlace } from './document-head.ts';
import { folderArgument } from './folder.ts';
import { writePages } from './write-pages.ts';

export default command({
  about: [
    'Writes to standard output, or with --to to a file that appears whole or not at all. Where --to names a folder (it exists, or its ' +
      'name ends with a slash), and above 5,000 messages without --pages one, html becomes pages of 2,000 messages with links between them, and index.html; the folder is new, empty, or of an earlier export. Whom the umask allows can read what is written. Nothing is asked of a server. Messages are shown as ' +
      'they were archived; what archive pull --recheck recorded is a warning in HTML and Markdown.',
    'html is one page with search, readable without a network: nothing in it runs or loads anything from elsewhere. Links between messages ' +
      'stay inside the page where it holds the target, and lead to the server otherwise. markdown needs the source form, html the rendered one; ' +
      'ndjson and csv take the rendered form where the archive has it, and --raw-content the source.',
    'Other programs can read the files of the archive themselves: jq, DuckDB and sqlite-utils read its *.ndjson files.',
  ],
  args: { folder: folderArgument },
  options: {
    output: {
      kind: 'string',
      short: 'o',
      required: true,
      choices: documentFormats,
      placeholder: 'FORMAT',
      help: 'ndjson, csv, markdown or html; CHATELAINE_OUTPUT does not apply',
    },
    to: textField('PATH', 'File to write, in place of standard output; html: or a folder'),
    pages: {
      kind: 'string',
      choices: ['one', 'several'],
      help: 'html with --to: one file, or a folder of pages (default: several above 5,000 messages)',
    },
    raw_content: flagField('ndjson and csv: the Markdown source'),
  },
  examples: [
    'chatelaine archive export kitchen -o html --to kitchen.html',
    'chatelaine archive export kitchen -o html --to kitchen-pages/',
    'chatelaine archive export kitchen -o ndjson --raw-content',
  ],

  dryRun: ['rows'],

  async *run({ folder, output, to, raw_content, pages }, { options, note, warn, signal, isShown }) {
    if (to === undefined && /^(html|markdown)$/.test(output) && isShown())
      throw usage(
        `a terminal does not show ${output}`,
        `Give --to FILE: ${commandLine('archive export', [folder], { output, to: `messages.${output === 'html' ? 'html' : 'md'}` })}`,
      );
    if (options.fields !== undefined && output !== 'csv')
      throw usage(`--fields does not apply to -o ${output}`, 'Leave it out, or use -o csv.');
    const archive = await readArchive(folder);
    for (const { file, problem } of [...archive.damage, ...archive.unfinished])
      warn(`${file}: ${problem}; archive verify says what mends it`);
    const form = formFor(output, raw_content, archive);
    const isPages = to !== undefined && (await takesPages(to, output, pages, archive));
    if (to !== undefined && options.dry_run) {
      note(`${to} would be written`);
      return;
    }
    if (isPages) {
      const place = { folder: to, urlOf: urlIn(archive) };
      const written = await writePages(to, archive, (placeOf) => headOf(archive, { ...place, placeOf }), signal);
      note(`${to} is written: index.html and ${written.length} page${written.length === 1 ? '' : 's'}`);
      return;
    }
    const folderOfText = to === undefined ? '.' : dirname(to);
    const text = documentOf(archive, output, form, { options, signal, folder: folderOfText });
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

/** A browser takes a minute for a page of 100,000 messages, and a second for each of several. */
const maxOnOnePage = 5000;

/**
 * Whether a document becomes pages in a folder: the path names one, or one page would be too long.
 * @throws Failure usage where that is not possible
 */
async function takesPages(
  to: string,
  output: DocumentFormat,
  pages: 'one' | 'several' | undefined,
  { parts }: Archive,
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
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const isLong = pages === 'several' || count > maxOnOnePage;
  if (!isThere && isLong && (await exists(to)))
    throw usage(
      `${count} messages become pages in a folder, and ${to} is a file`,
      'Name a folder, or give --pages one.',
    );
  return isThere || isLong;
}

/** @throws Failure usage where the archive does not hold the form, with the command that fetches it */
function formFor(output: DocumentFormat, source: boolean | undefined, { head, folder }: Archive): ArchiveForm {
  if (output === 'html' && source) throw usage('-o html shows the rendered form: leave out --raw-content');
  const [first = 'rendered'] = head.forms;
  const form = output === 'markdown' || source ? 'source' : output === 'html' ? 'rendered' : first;
  if (head.forms.includes(form)) return form;
  throw usage(
    `-o ${output}${source ? ' --raw-content' : ''} needs the ${form} form, which the archive does not hold`,
    `Fetch it: ${commandLine('archive pull', [folder], { both: true })}`,
  );
}

const columns = ['id', 'timestamp', 'sender_id', 'sender_full_name', 'display_recipient', 'subject', 'content'];

async function* documentOf(
  archive: Archive,
  output: DocumentFormat,
  form: ArchiveForm,
  { options, signal, folder }: Pick<Invocation, 'options' | 'signal'> & Pick<DocumentPlace, 'folder'>,
): AsyncGenerator<string> {
  if (output === 'ndjson') {
    yield* archivedLines(archive, form, signal);
    return;
  }
  const head = headOf(archive, { folder, urlOf: urlIn(archive) });
  const writer = await documentForm(output, head, options, {
    columns,
    cell: (message, column) =>
      column === 'display_recipient' && isObject(message) ? recipientsOf(message) : undefined,
  });
  let isBegun = false;
  try {
    for await (const message of archivedMessages(archive, form, signal)) {
      isBegun = true;
      yield writer.row(message);
    }
  } catch (cause) {
    // What comes before a damaged part, or before an interruption, is a whole document too.
    if (isBegun) yield writer.end();
    throw cause;
  }
  yield writer.end();
}

/** The same text; what ends it after its beginning, such as the deadline, leaves a part of the export on standard output. */
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

/** The address of a message in the chat. */
function urlIn({ head }: Archive) {
  return (message: JsonObject): string | undefined => messageLink(message, head.site);
}
