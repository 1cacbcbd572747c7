import { join, relative, sep } from 'node:path';
import { quantity } from '../../core/duration.ts';
import { messageLink } from '../../api/chat/chat-messages.ts';
import type { PageHead } from '../../output/messages/page-shell.ts';
import { inertName } from '../../schema/upload.ts';
import type { Archive } from '../../store/archive/archive.ts';
import type { ArchiveChange } from '../../store/archive/archive-lists.ts';
import { limitedHistory, type ArchiveHead } from '../../store/archive/archive-head.ts';
import { isKept, type KeptFile } from '../../store/archive/kept-file.ts';
import { holdsMessage, type ChosenArchive } from './archived-messages.ts';
import type { CopiedFile } from './write-pages.ts';

export interface DocumentPlace {
  /** Where a kept file is, seen from the document. */
  readonly fileAt: (archive: Archive, file: KeptFile) => string | undefined;
  readonly placeOf?: (id: number) => string;
  /** What was typed to choose messages. */
  readonly chosen: readonly string[];
}

/** Attached files are where the archive keeps them: a relative link; none to what an earlier version kept live. */
export function besideArchive(folder: string): DocumentPlace['fileAt'] {
  return (archive, { file }) => {
    if (inertName(file) !== file) return undefined;
    // Parentheses would end a link in Markdown.
    const places = relative(folder, join(archive.folder, file)).split(sep).map(encodeURIComponent);
    return places.join('/').replace(/[()]/g, (sign) => (sign === '(' ? '%28' : '%29'));
  };
}

/** Attached files are copied: those that a page links to are put into the list. */
export function besidePages(copied: Map<string, CopiedFile>): DocumentPlace['fileAt'] {
  return ({ folder }, kept) => {
    const name = inertName(kept.file);
    copied.set(name, { from: folder, kept });
    return name;
  };
}

/** What the documents of archives of one server say above their messages, and where the links of the messages lead. */
export function headOf(
  head: ArchiveHead,
  archives: readonly ChosenArchive[],
  { fileAt, placeOf = (id) => `#m${id}`, chosen }: DocumentPlace,
): PageHead {
  const { host } = new URL(head.site);
  const limited = limitedHistory.charAt(0).toUpperCase() + limitedHistory.slice(1);
  const resolve = (link: string): string => (URL.canParse(link, head.site) ? new URL(link, head.site).href : '');
  const accounts = [...new Set(archives.map((archive) => archive.head.account))].join(', ');
  const selected = archives.length === 1 ? selectedBy(head.options) : ` in ${archives.length} archives`;
  const only = chosen.length === 0 ? '' : ` Only those with ${chosen.join('; ')}.`;
  const messages = `${quantity(countOf(archives), 'message')} from ${host}, as ${accounts} sees them`;
  return {
    title: `Messages of ${head.organization ?? host}`,
    notes: [`${messages}${selected}.${only}`],
    warnings: [
      ...(archives.some((archive) => archive.head.history_limited) ? [`${limited}.`] : []),
      ...changeWarnings(archives.flatMap(({ changes }) => changes)),
    ],
    links: {
      site: head.site,
      resolve,
      inside: (link) => insideOf(archives, resolve(link), head.site, placeOf),
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
  return archives.reduce((sum, { parts }) => sum + parts.reduce((count, part) => count + part.count, 0), 0);
}

function selectedBy(options: Archive['head']['options']): string {
  const words = Object.entries(options).map(
    ([name, value]) => `${name.replaceAll('_', '-')} ${[value].flat().join(', ')}`,
  );
  return words.length === 0 ? '' : `; selected by ${words.join('; ')}`;
}

function changeWarnings(changes: readonly ArchiveChange[]): string[] {
  const last = new Map(changes.map(({ id, change }) => [id, change]));
  const gone = [...last.values()].filter((change) => change === 'gone').length;
  const count = (kind: ArchiveChange['change']): number =>
    new Set(changes.filter(({ change }) => change === kind).map(({ id }) => id)).size;
  const counts = (['edited', 'moved'] as const).flatMap((kind) => (count(kind) > 0 ? `${count(kind)} ${kind}` : []));
  const all = [...counts, ...(gone > 0 ? [`${gone} no longer visible to the account`] : [])];
  if (all.length === 0) return [];
  return [
    `Changed on the server since they were archived: ${all.join(', ')}. The messages are shown as they were archived.`,
  ];
}

/** The place of the message that a link of the chat leads to; undefined where the archives do not hold it. */
function insideOf(
  archives: readonly ChosenArchive[],
  link: string,
  site: string,
  placeOf: (id: number) => string,
): string | undefined {
  if (!link.startsWith(`${new URL(site).origin}/`)) return undefined;
  const id = Number(/#narrow\/.*\/(?:near|with)\/(\d+)/.exec(link)?.[1]);
  return archives.some((archive) => holdsMessage(archive, id)) ? placeOf(id) : undefined;
}
