// An export as a folder of HTML pages, with an index and attached files.
import { join } from 'node:path';
import { incompleteWith } from '../../api/http/answer.ts';
import { Failure } from '../../core/failure.ts';
import { pageForm } from '../../output/messages/documents.ts';
import { generator, indexPage, type PageConversation, type PageHead } from '../../output/messages/page-shell.ts';
import { documentsIn, makeSharedFolder, writeTextFile } from '../../store/archive/archive-folder.ts';
import { copyKept, filesFolder, type KeptFile } from '../../store/archive/kept-file.ts';
import { hasId } from '../../store/archive/part.ts';
import { remove } from '../../store/disk/files.ts';
import type { ChosenArchive } from './archived-messages.ts';
import { rowsOf, type ExportedForm } from './export-document.ts';

/** Messages of a page; a page of them is some megabytes, which every browser shows and searches at once. */
const pageMessages = 2000;

/** Some messages of one archive. */
interface PageFile extends ChosenArchive {
  readonly file: string;
}

const ownPages = { name: /^(index|messages-\d{4,})\.html$/, mark: generator };

/** An attached file, and the folder of its archive. */
export interface CopiedFile {
  readonly from: string;
  readonly kept: KeptFile;
}

/**
 * Writes pages, attached files, and index.html last, and removes what an earlier export left beyond these. `headOf`
 * gives the head of a page, whose links lead where `placeOf` says, and puts the files that it links to into `files`, by
 * the name that each has in the folder. Returns the number of pages. @throws Failure usage for a folder with other
 * files; incomplete for damage, and whatever fails after the first page; config, unavailable; the signal's reason
 */
export async function writePages(
  folder: string,
  archives: readonly ChosenArchive[],
  exported: ExportedForm,
  headOf: (placeOf: (id: number) => string) => PageHead,
  files: ReadonlyMap<string, CopiedFile>,
): Promise<number> {
  const earlier = await documentsIn(folder, ownPages);
  await makeSharedFolder(folder);
  // A folder without it is not yet whole.
  await remove(join(folder, 'index.html'));
  const pages = pagesOf(archives);
  const conversations = new Map<string, Iterable<PageConversation>>();
  const head = headOf((id) => placeOf(pages, undefined, id));
  for (const [index, page] of pages.entries()) {
    const own = { ...headOf((id) => placeOf(pages, page, id)), pages: neighbours(pages, index) };
    const form = await pageForm(own);
    await writeTextFile(join(folder, page.file), rowsOf([page], exported, form)).catch((cause: unknown) => {
      throw index > 0 ? incompleteWith(`${index} of ${pages.length} pages are written`, cause) : cause;
    });
    conversations.set(page.file, form.conversations.values());
  }
  if (files.size > 0) await makeSharedFolder(join(folder, filesFolder));
  const damaged: string[] = [];
  for (const [name, { from, kept }] of files) {
    const problem = await copyKept(from, kept, join(folder, name));
    if (problem !== undefined) damaged.push(`${join(from, kept.file)}: ${problem}`);
  }
  await writeTextFile(join(folder, 'index.html'), [indexPage(head, conversations)]);
  const own = new Set(['index.html', ...pages.map(({ file }) => file), ...files.keys()]);
  for (const name of earlier) if (!own.has(name)) await remove(join(folder, name));
  if (damaged.length > 0)
    throw new Failure('incomplete', `not copied: ${damaged.join('; ')}`, {
      hint: 'archive verify says how to repair it.',
    });
  return pages.length;
}

function pagesOf(archives: readonly ChosenArchive[]): PageFile[] {
  const pages: PageFile[] = [];
  for (const archive of archives)
    for (let at = 0; at < archive.ids.length; at += pageMessages) {
      const file = `messages-${String(pages.length + 1).padStart(4, '0')}.html`;
      pages.push({ ...archive, file, ids: archive.ids.slice(at, at + pageMessages) });
    }
  return pages;
}

/** Where a message of the archives is, seen from a page. */
function placeOf(pages: readonly PageFile[], from: PageFile | undefined, id: number): string {
  const page = from && hasId(from.ids, id) ? from : pages.find(({ ids }) => hasId(ids, id));
  return page === undefined || page === from ? `#m${id}` : `${page.file}#m${id}`;
}

function neighbours(pages: readonly PageFile[], index: number): NonNullable<PageHead['pages']> {
  const [before, own, after] = [pages[index - 1], pages[index], pages[index + 1]];
  return [
    ...(before && before.folder === own?.folder ? [{ label: 'Older messages', href: before.file }] : []),
    { label: 'All pages', href: 'index.html' },
    ...(after && after.folder === own?.folder ? [{ label: 'Newer messages', href: after.file }] : []),
  ];
}
