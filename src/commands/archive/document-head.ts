import { holdsMessage } from '../../jobs/archive/archived-messages.ts';
import type { PageHead } from '../../output/messages/page-shell.ts';
import type { Archive } from '../../store/archive/archive.ts';
import type { ArchiveChange } from '../../store/archive/archive-change.ts';
import { limitedHistory } from './limited-history.ts';

/** What the documents of an archive say above its messages, and where the links of the messages lead. */
export function headOf(
  archive: Archive,
  urlOf: PageHead['urlOf'],
  placeOf = (id: number): string => `#m${id}`,
): PageHead {
  const { head, parts, changes } = archive;
  const { host } = new URL(head.site);
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const resolve = (link: string): string => (URL.canParse(link, head.site) ? new URL(link, head.site).href : '');
  return {
    title: `Messages of ${head.organization ?? host}`,
    notes: [`${count} messages from ${host}, as ${head.account} sees them${selectedBy(head.options)}.`],
    warnings: [...(head.history_limited ? [sentence(limitedHistory)] : []), ...changeWarnings(changes)],
    links: { resolve, inside: (link) => insideOf(archive, resolve(link), placeOf) },
    urlOf,
  };
}

function selectedBy(options: Archive['head']['options']): string {
  const words = Object.entries(options).map(
    ([name, value]) => `${name.replaceAll('_', '-')} ${[value].flat().join(', ')}`,
  );
  return words.length === 0 ? '' : `; selected by ${words.join('; ')}`;
}

function changeWarnings(changes: readonly ArchiveChange[]): string[] {
  const count = (change: ArchiveChange['change']): number =>
    new Set(changes.filter((one) => one.change === change).map(({ id }) => id)).size;
  const kinds = (['edited', 'moved', 'deleted'] as const).filter((kind) => count(kind) > 0);
  if (kinds.length === 0) return [];
  const counts = kinds.map((kind) => `${count(kind)} ${kind}`).join(', ');
  return [`Changed on the server since they were archived: ${counts}. The messages are shown as they were archived.`];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** The place of the message that a link of the chat leads to; undefined where the archive does not hold it. */
function insideOf(archive: Archive, link: string, placeOf: (id: number) => string): string | undefined {
  if (!link.startsWith(`${new URL(archive.head.site).origin}/`)) return undefined;
  const id = Number(/#narrow\/.*\/(?:near|with)\/(\d+)/.exec(link)?.[1]);
  return holdsMessage(archive, id) ? placeOf(id) : undefined;
}
