import { join } from 'node:path';
import { incompleteWith } from '../../api/http/answer.ts';
import { archivedMessages } from '../../jobs/archive/archived-messages.ts';
import { pageForm } from '../../output/messages/documents.ts';
import { generator, indexPage, type IndexedPage, type PageHead } from '../../output/messages/page-shell.ts';
import { dayOf } from '../../output/messages/message-parts.ts';
import type { Archive } from '../../store/archive/archive.ts';
import type { ArchivePart } from '../../store/archive/part.ts';
import { makeArchiveFolder, documentsIn, sharedFolder, writeTextFile } from '../../store/archive/archive-folder.ts';
import { remove } from '../../store/disk/files.ts';

/** Messages of a page; a page of them is some megabytes, which every browser shows and searches at once. */
const pageMessages = 2000;

interface PageGroup {
  readonly file: string;
  readonly parts: readonly ArchivePart[];
  readonly count: number;
}

/** The files of an export of pages. */
const ownPages = { name: /^(index|messages-\d{4,})\.html$/, mark: generator };

/**
 * Writes an archive as HTML pages into a folder: messages-0001.html and so on, and index.html last; pages that an earlier export has left
 * beyond these are removed. `headOf` gives the head of a page whose links to messages lead where `placeOf` says.
 * @throws Failure usage for a folder with other files; incomplete for a damaged part, and for whatever fails after the first page; config
 * or unavailable where a file cannot be written; the reason of the signal
 */
export async function writePages(
  folder: string,
  archive: Archive,
  headOf: (placeOf: (id: number) => string) => PageHead,
  signal: AbortSignal,
): Promise<readonly IndexedPage[]> {
  const earlier = await documentsIn(folder, ownPages);
  await makeArchiveFolder(folder, sharedFolder);
  // A folder without it is not yet whole.
  await remove(join(folder, 'index.html'));
  const groups = groupsOf(archive.parts);
  const pages: IndexedPage[] = [];
  for (const [index, group] of groups.entries()) {
    const head = { ...headOf((id) => placeOf(groups, group, id)), pages: neighbours(groups, index) };
    const form = await pageForm(head);
    const days: string[] = [];
    const text = contentOf({ ...archive, parts: group.parts }, form, days, signal);
    await writeTextFile(join(folder, group.file), text).catch((cause: unknown) => {
      throw index > 0 ? incompleteWith(`${index} of ${groups.length} pages are written`, cause) : cause;
    });
    const [first = '', last = first] = days;
    pages.push({ file: group.file, count: group.count, first, last, conversations: form.conversations });
  }
  const place = (id: number): string => placeOf(groups, undefined, id);
  await writeTextFile(join(folder, 'index.html'), [indexPage(headOf(place), pages)]);
  const own = new Set(['index.html', ...groups.map(({ file }) => file)]);
  for (const name of earlier) if (!own.has(name)) await remove(join(folder, name));
  return pages;
}

/** The text of a page; the days of its first and its last message are put into `days`. */
async function* contentOf(
  archive: Archive,
  form: { row(message: unknown): string; end(): string },
  days: string[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const message of archivedMessages(archive, 'rendered', signal)) {
    yield form.row(message);
    days[days.length === 0 ? 0 : 1] = dayOf(message);
  }
  yield form.end();
}

/** Whole parts, until there are enough messages for a page. */
function groupsOf(parts: readonly ArchivePart[]): PageGroup[] {
  const groups: { parts: ArchivePart[]; count: number }[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    if (last && last.count + part.count <= pageMessages) {
      last.parts.push(part);
      last.count += part.count;
    } else groups.push({ parts: [part], count: part.count });
  }
  return groups.map(({ parts: own, count }, index) => ({
    ...{ parts: own, count },
    file: `messages-${String(index + 1).padStart(4, '0')}.html`,
  }));
}

/** Where a message of the archive is, seen from a page. */
function placeOf(groups: readonly PageGroup[], from: PageGroup | undefined, id: number): string {
  const group = groups.findLast(({ parts: [first] }) => first !== undefined && first.first <= id);
  return group === undefined || group === from ? `#m${id}` : `${group.file}#m${id}`;
}

function neighbours(groups: readonly PageGroup[], index: number): NonNullable<PageHead['pages']> {
  const [before, after] = [groups[index - 1], groups[index + 1]];
  return [
    ...(before ? [{ label: 'Older messages', href: before.file }] : []),
    { label: 'All pages', href: 'index.html' },
    ...(after ? [{ label: 'Newer messages', href: after.file }] : []),
  ];
}
