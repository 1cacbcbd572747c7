// An export as one document: its form, what it says above the messages, and its text.
import { join, relative, sep } from 'node:path';
import { messageLink } from '../../schema/link.ts';
import { incompleteWith } from '../../api/http/answer.ts';
import { quantity } from '../../core/duration.ts';
import { usage } from '../../core/failure.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { utcText } from '../../core/moment.ts';
import { recipientsOf } from '../../output/messages/message-parts.ts';
import type { PageHead } from '../../output/messages/page-shell.ts';
import type { Column, Formatter } from '../../output/presentation.ts';
import { archivesIn, isGap, readArchive, type Archive } from '../../store/archive/archive.ts';
import { isFolder } from '../../store/archive/archive-folder.ts';
import { limitedHistory, type ArchiveHead } from '../../store/archive/archive-head.ts';
import type { ArchiveChange } from '../../store/archive/line-file.ts';
import { isKept, type KeptFile } from '../../store/archive/kept-file.ts';
import { hasId, type ArchiveForm } from '../../store/archive/part.ts';
import { exists } from '../../store/disk/files.ts';
import { otherForm } from './pull-order.ts';
import { archivedMessages, type ChosenArchive } from './archived-messages.ts';

/** Reads all archives of a folder. @throws Failure usage where there is none, or they are of several servers */
export async function readArchives(folder: string, warn: (text: string) => void): Promise<[Archive, ...Archive[]]> {
  const [first, ...others] = await archivesIn(folder);
  const archives: [Archive, ...Archive[]] = [await readArchive(first)];
  for (const own of others) archives.push(await readArchive(own));
  for (const { folder: own, head, problems } of archives) {
    for (const { file, problem } of problems.filter(isGap))
      warn(`${own === folder ? '' : `${own}: `}${file}: ${problem}; archive verify says how to repair it`);
    if (head.site !== archives[0].head.site)
      throw usage(
        `${folder} contains archives of ${archives[0].head.site} and of ${head.site}`,
        'Export each by itself.',
      );
  }
  return archives;
}

export const documentFormats = ['ndjson', 'csv', 'text', 'html'] as const;
type DocumentFormat = (typeof documentFormats)[number];

/** A browser takes a minute for a page of 100,000 messages, and a second for each of several. */
const maxOnOnePage = 5000;

/** True if a document becomes pages: the path is a folder, or one page would be too long. @throws Failure usage */
export async function takesPages(
  to: string,
  output: DocumentFormat,
  pages: 'one' | undefined,
  count: number,
): Promise<boolean> {
  const isThere = await isFolder(to);
  if (isThere && output !== 'html') throw usage(`--to ${to} is a folder: only html is written as several files`);
  if (isThere && pages === 'one') throw usage(`--to ${to} is a folder, and --pages one makes a file`);
  if (isThere || output !== 'html' || pages === 'one') return isThere;
  const isFile = await exists(to);
  const isLong = count > maxOnOnePage;
  if (isLong && isFile)
    throw usage(`${count} messages become pages in a folder, and ${to} is a file: give --pages one`);
  // No browser opens a file without a suffix: the path is meant for a folder.
  return isLong || (!isFile && !/\.[a-z]+$/i.test(to));
}

/** The form that is exported. @throws Failure usage where an archive does not hold it */
export function formFor(
  output: DocumentFormat,
  source: boolean | undefined,
  archives: readonly Archive[],
): ArchiveForm {
  if (output === 'html' && source) throw usage('-o html shows the rendered form: leave out --raw-content');
  const lacking = (form: ArchiveForm) => archives.find(({ head }) => !head.forms.includes(form));
  const plain = lacking('rendered') && !lacking('source') ? 'source' : 'rendered';
  const form = source ? 'source' : output === 'html' ? 'rendered' : plain;
  const other = lacking(form);
  if (!other) return form;
  throw usage(
    `-o ${output}${source ? ' --raw-content' : ''} needs the ${form} form, which ${other === archives[0] ? 'the archive' : other.folder} does not hold`,
    otherForm,
  );
}

const of = (read: (message: JsonObject) => unknown) => (row: unknown) => (isObject(row) ? read(row) : undefined);

/** The columns of `messages fetch`. */
const columnsWith = (urlOf: PageHead['urlOf']): readonly Column<unknown>[] => [
  'id',
  { name: 'timestamp', as: 'seconds' } as const,
  'sender_id',
  'sender_full_name',
  { name: 'display_recipient', isWords: true, of: of(recipientsOf) },
  'subject',
  { name: 'content', as: 'message' } as const,
  { name: 'time', when: 'asked', of: of(({ timestamp }) => utcText(timestamp)) },
  { name: 'url', when: 'asked', keep: 'whole', of: of(urlOf) },
];

/** The form of the messages in a document, and the signal that ends it. */
export interface ExportedForm {
  readonly form: ArchiveForm;
  readonly signal: AbortSignal;
}

/** The user's choices about a document of csv. */
interface DocumentOptions {
  readonly fields?: string;
  readonly header?: boolean;
}

export async function* documentOf(
  archives: readonly ChosenArchive[],
  exported: ExportedForm,
  output: DocumentFormat,
  head: PageHead,
  options: DocumentOptions,
): AsyncGenerator<string> {
  if (output !== 'ndjson') {
    const form = await documentForm(output, head, options);
    const withUrl = (message: JsonObject) => form.row({ ...message, url: head.urlOf(message) });
    yield* rowsOf(archives, exported, output === 'text' ? { ...form, row: withUrl } : form);
    return;
  }
  // The lines are those of the archive, byte for byte.
  for (const archive of archives)
    for await (const { line } of archivedMessages(archive, exported.form, exported.signal)) yield `${line}\n`;
}

/** Loads the module of a format, and with it a library, only here. */
async function documentForm(
  output: Exclude<DocumentFormat, 'ndjson'>,
  head: PageHead,
  { fields: names, header = true }: DocumentOptions,
): Promise<Formatter> {
  const { links, urlOf } = head;
  if (output === 'html') return (await import('../../output/messages/page.ts')).page(head);
  if (output === 'text')
    return (await import('../../output/messages/conversation.ts')).conversation({ width: 0, color: false, links });
  const fields = names?.split(',').map((name) => name.trim());
  const show = { columns: columnsWith(urlOf) };
  return (await import('../../output/csv.ts')).csv({ show, terminal: false, header, fields });
}

/** Yields a whole document, even where a damaged part or an interruption ends the messages. */
export async function* rowsOf(
  archives: readonly ChosenArchive[],
  { form, signal }: ExportedForm,
  writer: { row(message: JsonObject): string; end(): string },
): AsyncGenerator<string> {
  let isBegun = false;
  try {
    for (const archive of archives)
      for await (const { message } of archivedMessages(archive, form, signal)) {
        isBegun = true;
        yield writer.row(message);
      }
  } catch (cause) {
    if (isBegun) yield writer.end();
    throw cause;
  }
  yield writer.end();
}

/** Yields the text. A failure after its beginning, such as the deadline, says that standard output has a part only. */
export async function* streamToOutput(text: AsyncIterable<string>): AsyncGenerator<string> {
  let isBegun = false;
  try {
    for await (const piece of text) {
      isBegun = true;
      yield piece;
    }
  } catch (cause) {
    throw isBegun ? incompleteWith('the export on standard output is incomplete', cause) : cause;
  }
}

/** The path of a kept file, seen from the document. */
type FilePlace = (archive: Archive, file: KeptFile) => string;

/** Links attached files where the archive keeps them, by a relative path. */
export function besideArchive(folder: string): FilePlace {
  return (archive, { file }) =>
    relative(folder, join(archive.folder, file)).split(sep).map(encodeURIComponent).join('/');
}

/** The sentences of a document above its messages, and the targets of the links in them. */
export function headOf(
  head: ArchiveHead,
  archives: readonly ChosenArchive[],
  fileAt: FilePlace,
  placeOf: (id: number) => string = (id) => `#m${id}`,
): PageHead {
  const { host, origin } = new URL(head.site);
  const limited = limitedHistory.charAt(0).toUpperCase() + limitedHistory.slice(1);
  const resolve = (link: string): string => (URL.canParse(link, head.site) ? new URL(link, head.site).href : '');
  const accounts = [...new Set(archives.map((archive) => archive.head.account))].join(', ');
  const where = archives.length === 1 ? '' : ` in ${archives.length} archives`;
  const messages = `${quantity(countOf(archives), 'message')} from ${host}, as ${accounts} sees them`;
  return {
    title: `Messages of ${head.organization ?? host}`,
    notes: [`${messages}${where}.`],
    warnings: [
      ...(archives.some((archive) => archive.head.history_limited) ? [`${limited}.`] : []),
      ...changeWarnings(archives.flatMap(({ changes }) => changes)),
    ],
    links: {
      site: head.site,
      resolve,
      inside(link) {
        const address = resolve(link);
        const id = Number(/#narrow\/.*\/(?:near|with)\/(\d+)/.exec(address)?.[1]);
        return address.startsWith(`${origin}/`) && archives.some(({ ids }) => hasId(ids, id)) ? placeOf(id) : undefined;
      },
      fileAt(path) {
        const archive = archives.find((one) => isKept(one.files.get(path)));
        const record = archive?.files.get(path);
        return archive && isKept(record) ? fileAt(archive, record) : undefined;
      },
    },
    urlOf: (message) => messageLink(message, head.site),
  };
}

export function countOf(archives: readonly ChosenArchive[]): number {
  return archives.reduce((count, { ids }) => count + ids.length, 0);
}

/** Counts the messages that changed, each by its last change. */
function changeWarnings(changes: readonly ArchiveChange[]): string[] {
  const last = [...new Map(changes.map(({ id, change }) => [id, change])).values()];
  const kinds = { edited: 'edited', moved: 'moved', gone: 'no longer visible to the account' } as const;
  const counts = Object.entries(kinds).map(
    ([kind, words]) => [last.filter((change) => change === kind).length, words] as const,
  );
  const all = counts.flatMap(([count, words]) => (count > 0 ? `${count} ${words}` : []));
  if (all.length === 0) return [];
  return [
    `Changed on the server since they were archived: ${all.join(', ')}. The messages are shown as they were archived.`,
  ];
}
