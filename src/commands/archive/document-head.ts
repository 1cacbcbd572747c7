import { join, relative, sep } from 'node:path';
import { holdsMessage } from '../../jobs/archive/archived-messages.ts';
import type { PageHead } from '../../output/messages/page-shell.ts';
import type { UploadPath } from '../../schema/upload.ts';
import type { Archive } from '../../store/archive/archive.ts';
import type { ArchiveChange } from '../../store/archive/archive-lists.ts';
import { isKept } from '../../store/archive/kept-file.ts';
import { limitedHistory } from './folder.ts';

/** Where a document of an archive is, and where its links lead. */
export interface DocumentPlace {
  /** The folder of the document: links to kept files lead from there. */
  readonly folder: string;
  readonly urlOf: PageHead['urlOf'];
  /** The place of a message of the archive. */
  readonly placeOf?: (id: number) => string;
}

/** What the documents of an archive say above its messages, and where the links of the messages lead. */
export function headOf(archive: Archive, { folder, urlOf, placeOf = (id) => `#m${id}` }: DocumentPlace): PageHead {
  const { head, parts, changes, files } = archive;
  const { host } = new URL(head.site);
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const limited = limitedHistory.charAt(0).toUpperCase() + limitedHistory.slice(1);
  const resolve = (link: string): string => (URL.canParse(link, head.site) ? new URL(link, head.site).href : '');
  const fileAt = (path: UploadPath): string | undefined => {
    const record = files.get(path);
    return isKept(record) ? linkFrom(folder, join(archive.folder, record.file)) : undefined;
  };
  return {
    title: `Messages of ${head.organization ?? host}`,
    notes: [`${count} messages from ${host}, as ${head.account} sees them${selectedBy(head.options)}.`],
    warnings: [...(head.history_limited ? [`${limited}.`] : []), ...changeWarnings(changes)],
    links: { resolve, inside: (link) => insideOf(archive, resolve(link), placeOf), fileAt },
    urlOf,
  };
}

/** A relative link; parentheses would end it in Markdown. */
function linkFrom(folder: string, file: string): string {
  const places = relative(folder, file).split(sep).map(encodeURIComponent);
  return places.join('/').replace(/[()]/g, (sign) => (sign === '(' ? '%28' : '%29'));
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

/** The place of the message that a link of the chat leads to; undefined where the archive does not hold it. */
function insideOf(archive: Archive, link: string, placeOf: (id: number) => string): string | undefined {
  if (!link.startsWith(`${new URL(archive.head.site).origin}/`)) return undefined;
  const id = Number(/#narrow\/.*\/(?:near|with)\/(\d+)/.exec(link)?.[1]);
  return holdsMessage(archive, id) ? placeOf(id) : undefined;
}
