import { join } from 'node:path';
import { incompleteWith } from '../../api/http/answer.ts';
import { Failure } from '../../core/failure.ts';
import { pageForm } from '../../output/messages/documents.ts';
import { generator, indexPage, type PageConversation, type PageHead } from '../../output/messages/page-shell.ts';
import type { Formatter } from '../../output/presentation.ts';
import { makeArchiveFolder, documentsIn, sharedFolder, writeTextFile } from '../../store/archive/archive-folder.ts';
import { copyKept, filesFolder, type KeptFile } from '../../store/archive/kept-file.ts';
import { remove } from '../../store/disk/files.ts';
import { archivedMessages, holdsMessage, spansOf, type ChosenArchive, type ChosenPart } from './archived-messages.ts';

/** Messages of a page; a page of them is some megabytes, which every browser shows and searches at once. */
const pageMessages = 2000;

type PageGroup = ReturnType<typeof groupsOf>[number];

const ownPages = { name: /^(index|messages-\d{4,})\.html$/, mark: generator };

export interface CopiedFile {
  readonly from: string;
  readonly kept: KeptFile;
}

/**
 * Writes archives as HTML pages, with attached files, and index.html last, and removes what an earlier export
 * left beyond these. A page is of one archive; `headOf` gives its head, whose links lead where `placeOf` says, and
 * puts the files that it links to into `files`. Returns the number of pages. @throws Failure usage for a folder with
 * other files; incomplete for damage, and whatever fails after the first page; config, unavailable; the signal's reason
 */
export async function writePages(
  folder: string,
  archives: readonly ChosenArchive[],
  headOf: (placeOf: (id: number) => string) => PageHead,
  files: ReadonlyMap<string, CopiedFile>,
  signal: AbortSignal,
): Promise<number> {
  const earlier = await documentsIn(folder, ownPages);
  await makeArchiveFolder(folder, sharedFolder);
  // A folder without it is not yet whole.
  await remove(join(folder, 'index.html'));
  const groups = groupsOf(archives);
  const pages = new Map<string, Iterable<PageConversation>>();
  const head = headOf((id) => placeOf(groups, undefined, id));
  for (const [index, group] of groups.entries()) {
    const own = { ...headOf((id) => placeOf(groups, group, id)), pages: neighbours(groups, index) };
    const form = await pageForm(own);
    await writeTextFile(join(folder, group.file), contentOf(group, form, signal)).catch((cause: unknown) => {
      throw index > 0 ? incompleteWith(`${index} of ${groups.length} pages are written`, cause) : cause;
    });
    pages.set(group.file, form.conversations.values());
  }
  if (files.size > 0) await makeArchiveFolder(join(folder, filesFolder), sharedFolder);
  const damaged: string[] = [];
  for (const [name, { from, kept }] of files) {
    const problem = await copyKept(from, kept, join(folder, name));
    if (problem !== undefined) damaged.push(`${join(from, kept.file)}: ${problem}`);
  }
  await writeTextFile(join(folder, 'index.html'), [indexPage(head, pages)]);
  const own = new Set(['index.html', ...groups.map(({ file }) => file), ...files.keys()]);
  for (const name of earlier) if (!own.has(name)) await remove(join(folder, name));
  if (damaged.length > 0)
    throw new Failure('incomplete', `not copied: ${damaged.join('; ')}`, {
      hint: 'archive verify says how to repair it.',
    });
  return groups.length;
}

async function* contentOf({ archive, parts }: PageGroup, form: Formatter, signal: AbortSignal) {
  for await (const message of archivedMessages({ ...archive, parts }, 'rendered', signal)) yield form.row(message);
  yield form.end();
}

/** Whole parts of an archive, until there are enough messages for a page. */
function groupsOf(archives: readonly ChosenArchive[]) {
  const groups: { readonly file: string; readonly archive: ChosenArchive; readonly parts: ChosenPart[] }[] = [];
  for (const archive of archives)
    for (const span of spansOf(archive.parts)) {
      const last = groups.at(-1);
      const file = `messages-${String(groups.length + 1).padStart(4, '0')}.html`;
      if (last?.archive === archive && sumOf(last.parts) + sumOf(span) <= pageMessages) last.parts.push(...span);
      else groups.push({ file, archive, parts: [...span] });
    }
  return groups;
}

function sumOf(parts: readonly ChosenPart[]): number {
  return parts.reduce((sum, { ids }) => sum + ids.length, 0);
}

/** Where a message of the archives is, seen from a page. */
function placeOf(groups: readonly PageGroup[], from: PageGroup | undefined, id: number): string {
  const group = from && holdsMessage(from, id) ? from : groups.find((one) => holdsMessage(one, id));
  return group === undefined || group === from ? `#m${id}` : `${group.file}#m${id}`;
}

function neighbours(groups: readonly PageGroup[], index: number): NonNullable<PageHead['pages']> {
  const { archive } = groups[index] ?? {};
  const [before, after] = [groups[index - 1], groups[index + 1]];
  return [
    ...(before?.archive === archive && before ? [{ label: 'Older messages', href: before.file }] : []),
    { label: 'All pages', href: 'index.html' },
    ...(after?.archive === archive && after ? [{ label: 'Newer messages', href: after.file }] : []),
  ];
}
