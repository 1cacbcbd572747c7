// An export as a folder of HTML pages, with an index and attached files.
import { join } from 'node:path';
import { incompleteWith } from '../../api/http/answer.ts';
import { Failure } from '../../core/failure.ts';
import { generator, indexPage, type PageConversation, type PageHead } from '../../output/messages/page-shell.ts';
import type { Archive } from '../../store/archive/archive.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import { documentsIn, makeSharedFolder, writeTextFile } from '../../store/archive/archive-folder.ts';
import { copyKept, filesFolder, type KeptFile } from '../../store/archive/kept-file.ts';
import { hasId } from '../../store/archive/part.ts';
import { remove } from '../../store/disk/files.ts';
import type { ChosenArchive } from './archived-messages.ts';
import { besideArchive, headOf, rowsOf, type ExportedForm } from './export-document.ts';

/** Messages of one page, which has a few megabytes: every browser shows and searches that at once. */
const pageMessages = 2000;

/** Some messages of one archive. */
interface PageFile extends ChosenArchive {
  readonly file: string;
}

const ownPages = { name: /^(index|messages-\d{4,})\.html$/, mark: generator };

/**
 * Writes pages, the attached files that they link to, unless these stay in the archives, and index.html last, and
 * removes what an earlier export left beyond these. Returns how many pages and files it wrote.
 * @throws Failure usage for a folder with other files; incomplete for damage, and whatever fails after the first page;
 * config, unavailable; the signal's reason
 */
export async function writePages(
  folder: string,
  archives: readonly ChosenArchive[],
  head: ArchiveHead,
  exported: ExportedForm,
  attached: 'copied' | 'in the archives',
) {
  const earlier = await documentsIn(folder, ownPages);
  await makeSharedFolder(folder);
  // A folder without index.html is known to be incomplete.
  await remove(join(folder, 'index.html'));
  // This import also loads the sanitizer.
  const { page: pageForm } = await import('../../output/messages/page.ts');
  const pages = pagesOf(archives);
  const conversations = new Map<string, Iterable<PageConversation>>();
  const files = new Map<string, { readonly from: string; readonly kept: KeptFile }>();
  const copy = ({ folder: from }: Archive, kept: KeptFile): string => {
    files.set(kept.file, { from, kept });
    return kept.file;
  };
  const fileAt = attached === 'copied' ? copy : besideArchive(folder);
  for (const [index, page] of pages.entries()) {
    const own = headOf(head, archives, fileAt, (id) => placeOf(pages, page, id));
    const form = pageForm({ ...own, pages: neighbours(pages, index) });
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
  await writeTextFile(join(folder, 'index.html'), [indexPage(headOf(head, archives, fileAt), conversations)]);
  const own = new Set(['index.html', ...pages.map(({ file }) => file), ...files.keys()]);
  for (const name of earlier) if (!own.has(name)) await remove(join(folder, name));
  if (damaged.length > 0)
    throw new Failure('incomplete', `not copied: ${damaged.join('; ')}`, {
      hint: 'archive verify says how to repair it.',
    });
  return { pages: pages.length, files: files.size };
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
function placeOf(pages: readonly PageFile[], from: PageFile, id: number): string {
  const page = hasId(from.ids, id) ? from : pages.find(({ ids }) => hasId(ids, id));
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
