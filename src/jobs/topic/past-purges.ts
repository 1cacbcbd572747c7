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
