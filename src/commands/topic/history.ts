import { matchesGlobInAnyCase } from '../../core/glob.ts';
import { topicKey } from '../../jobs/topic/find-channel.ts';
import { uncut, whole } from '../../output/columns.ts';
import { textField } from '../../schema/field.ts';
import type { EntryOf } from '../../store/record/history.ts';
import { command } from '../command.ts';
import { historyOptions, readAsked, whoOf } from '../history.ts';

export default command({
  about: [
    'Shows each topic that runs of this account on this computer deleted, the oldest first: when, by whom, with which chat account, how many messages, and where their archive is. ' +
      'A deletion that several runs continued is one row.',
    'status is deleted, incomplete, unseen or held, as topic delete printed it, and unfinished for a run that was killed. unseen: messages that disappeared without proof of deletion. ' +
      'With --since and --until a deletion is shown if any part of it was in that time.',
    '--profile shows only the account of that profile.',
  ],
  options: {
    match: {
      ...textField('GLOB', 'Only topics whose name matches: * is any text, ? any character, in any case'),
      many: true,
    },
    ...historyOptions,
  },
  examples: ['chatelaine topic history --since 2026-11-01 --until 2026-12-01 -o csv'],

  async *rows({ match, ...asked }, context) {
    const entries = await context.record.past('topic_name');
    const isAsked = await readAsked(asked, 'chat', entries, context);
    for (const purge of purgesOf(entries)) {
      const { email, stream_id, channel, topic_name, spellings, messages, deleted, unseen, arrived } = purge;
      if (!isAsked(purge) || (match && ![topic_name, ...spellings].some((name) => matchesGlobInAnyCase(match, name))))
        continue;
      const topic = { ...whoOf(purge), email, stream_id, channel, topic_name, spellings };
      const { status, finished, archive = null } = purge;
      yield { ...topic, messages, deleted, unseen, arrived, status, finished, archive };
    }
  },

  show: {
    columns: [
      { name: 'time', keep: 3 },
      { name: 'run', keep: 1 },
      ...uncut('account', 'computer', 'command', 'origin', 'email'),
      'stream_id',
      ...whole('channel', 'topic_name'),
      'spellings',
      { name: 'messages', keep: 1 },
      { name: 'deleted', keep: 2 },
      { name: 'unseen', keep: 1 },
      'arrived',
      { name: 'status', keep: 2 },
      'finished',
      ...uncut('archive'),
    ],
    none: 'no run on this computer deleted a topic',
  },
});

type PurgeEntry = EntryOf<'topic_name'>;

/** Purges, the oldest first; one that several runs continue is one. */
function purgesOf(entries: readonly PurgeEntry[]) {
  const purges: PurgeEntry[][] = [];
  const last = new Map<string, PurgeEntry[]>();
  for (const entry of entries) {
    const key = `${entry.origin} ${entry.email} ${topicKey(entry.stream_id, entry.topic_name)}`;
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
  const counts = entries.flatMap((entry) => entry[name] ?? []);
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
}
