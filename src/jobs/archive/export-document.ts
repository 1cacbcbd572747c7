import { incompleteWith } from '../../api/http/answer.ts';
import { usage } from '../../core/failure.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { utcText } from '../../core/moment.ts';
import { commandLine } from '../../core/shell-word.ts';
import { documentForm, type DocumentFormat } from '../../output/messages/documents.ts';
import { recipientsOf } from '../../output/messages/message-parts.ts';
import type { PageHead } from '../../output/messages/page-shell.ts';
import type { Column } from '../../output/presentation.ts';
import { archivesIn, readArchive, type Archive } from '../../store/archive/archive.ts';
import { isFolder } from '../../store/archive/archive-folder.ts';
import type { ArchiveForm } from '../../store/archive/part.ts';
import { exists } from '../../store/disk/files.ts';
import { archivedLines, archivedMessages, type ChosenArchive } from './archived-messages.ts';

/** @throws Failure usage where there is none, or they are of several servers */
export async function readArchives(folder: string, warn: (text: string) => void): Promise<[Archive, ...Archive[]]> {
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
export async function takesPages(
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
  // A file without a suffix is opened by no browser.
  const isBare = !/\.[a-z]+$/i.test(to) && !(await exists(to));
  if (!isThere && isLong && (await exists(to)))
    throw usage(
      `${count} messages become pages in a folder, and ${to} is a file`,
      'Name a folder, or give --pages one.',
    );
  return isThere || isLong || isBare;
}

/** @throws Failure usage where an archive does not hold the form, with the command that fetches it */
export function formFor(
  output: DocumentFormat,
  source: boolean | undefined,
  archives: readonly Archive[],
): ArchiveForm {
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

interface DocumentRun {
  readonly options: Parameters<typeof documentForm>[2];
  readonly signal: AbortSignal;
  readonly head: PageHead;
}

const of = (read: (message: JsonObject) => unknown) => (row: unknown) => (isObject(row) ? read(row) : undefined);

/** Those of `messages fetch`. */
const columnsWith = (urlOf: PageHead['urlOf']): readonly Column<unknown>[] => [
  'id',
  { name: 'timestamp', as: 'seconds' } as const,
  'sender_id',
  'sender_full_name',
  { name: 'display_recipient', of: of(recipientsOf) },
  'subject',
  { name: 'content', as: 'message' } as const,
  { name: 'time', when: 'asked', of: of(({ timestamp }) => utcText(timestamp)) },
  { name: 'url', when: 'asked', keep: 'whole', of: of(urlOf) },
];

export async function* documentOf(
  archives: readonly ChosenArchive[],
  output: DocumentFormat,
  form: ArchiveForm,
  { options, signal, head }: DocumentRun,
): AsyncGenerator<string> {
  if (output === 'ndjson') {
    for (const archive of archives) yield* archivedLines(archive, form, signal);
    return;
  }
  const writer = await documentForm(output, head, options, { columns: columnsWith(head.urlOf) });
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
export async function* streamed(text: AsyncIterable<string>): AsyncGenerator<string> {
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
