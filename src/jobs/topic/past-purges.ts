import { orWarn } from '../../core/failure.ts';
import { archivesBelow } from '../../store/archive/archive.ts';
import { openPurge } from '../../store/archive/line-file.ts';
import type { EntryOf } from '../../store/record/history.ts';
import { keyOf } from './purge-run.ts';

type PurgeEntry = EntryOf<'topic_name'>;

/** Purges, the oldest first; one that several runs continue is one. */
export function purgesOf(entries: readonly PurgeEntry[]) {
  const purges: PurgeEntry[][] = [];
  const last = new Map<string, PurgeEntry[]>();
  for (const entry of entries) {
    const key = `${entry.origin} ${entry.email} ${keyOf(entry)}`;
    const known = last.get(key) ?? [];
    const before = known.at(-1);
    const isEnded = before?.event === 'purged' && entry.event === 'purging' && (before.archive ?? '') !== entry.archive;
    const purge = isEnded ? [] : known;
    if (purge.push(entry) === 1) purges.push(purge);
    last.set(key, purge);
  }
  return purges.flatMap(purgeOf);
}

/** Counts of one archive are totals; those of runs without one are of their own. */
function purgeOf(entries: readonly PurgeEntry[]) {
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last) return [];
  const ends = entries.filter(({ event }) => event !== 'purging');
  const totals = [...new Map(ends.map((end) => [end.archive ?? end.run, end])).values()];
  const [deleted, gone, arrived] = [sumOf(totals, 'deleted'), sumOf(totals, 'unseen'), sumOf(ends, 'arrived')];
  const messages = Math.max((deleted ?? 0) + (gone ?? 0), ...entries.map((entry) => entry.messages));
  const isEnded = last.event === 'purged';
  // What a killed run without an archive did, no other run counts.
  const unseen = isEnded ? messages - (deleted ?? 0) : gone;
  const spellings = [...new Set(entries.flatMap((entry) => entry.spellings))];
  const { time, channel = null, topic_name } = first;
  const end = { status: last.status ?? 'unfinished', finished: isEnded ? last.time : null, last: last.time };
  return [{ ...last, time, channel, topic_name, spellings, messages, deleted, unseen, arrived, ...end }];
}

/** Null where no entry tells it. */
function sumOf(entries: readonly PurgeEntry[], name: 'deleted' | 'unseen' | 'arrived'): number | null {
  return entries.reduce<number | null>(
    (sum, { [name]: count }) => (count === undefined ? sum : (sum ?? 0) + count),
    null,
  );
}

/** The entries with what archives below a folder tell of purges besides. */
export async function withArchived(
  entries: readonly PurgeEntry[],
  folder: string,
  originOf: (site: string) => string,
  warn: (text: string) => void,
): Promise<readonly PurgeEntry[]> {
  const begins: PurgeEntry[] = [];
  const ends: PurgeEntry[] = [];
  for (const archive of await archivesBelow(folder)) {
    const purge = await orWarn(openPurge(archive), warn);
    const own = entries.filter((entry) => entry.archive === archive);
    if (!purge?.begun || own.some(({ event }) => event === 'purged')) continue;
    const { begun, stage } = purge;
    const { site, account, stream_id, channel, topic_name, spellings, messages } = begun;
    const origin = originOf(String(site));
    // prettier-ignore
    const entry = {
      time: String(begun['begun']), run: '', account: '', computer: '', command: 'topic delete',
      origin, ...(origin !== 'sandbox' && { url: String(site) }),
      email: String(account), archive, messages: Number(messages),
      stream_id: Number(stream_id), channel: String(channel), topic_name: String(topic_name),
      spellings: Array.isArray(spellings) ? spellings.map(String) : [],
    };
    if (own.length === 0) begins.push({ ...entry, event: 'purging' });
    if (typeof stage === 'string') continue;
    const { finished: time, deleted, unseen } = stage;
    ends.push({
      ...(own.at(-1) ?? entry),
      time,
      event: 'purged',
      deleted,
      unseen,
      status: unseen > 0 ? 'unseen' : 'deleted',
    });
  }
  return [...begins, ...entries, ...ends];
}
