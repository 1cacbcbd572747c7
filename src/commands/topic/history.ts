import { matchesGlobInAnyCase } from '../../core/glob.ts';
import { topicKey } from '../../jobs/topic/find-channel.ts';
import { uncut, whole } from '../../output/columns.ts';
import { textField } from '../../schema/field.ts';
import type { EntryOf } from '../../store/record/history.ts';
import { command } from '../command.ts';
import { historyOptions, readActFilter, whoOf } from '../history.ts';

export default command({
  about: [
    'Shows each topic that runs of this account on this computer deleted, the oldest first: when, by whom, with which chat account, how many messages, and where their archive is. ' +
      'Each run that worked on a deletion is a row; with an archive, the counts of a later run include those of earlier ones.',
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
    const isAsked = await readActFilter(asked, 'chat', entries, context);
    for (const purge of purgesOf(entries)) {
      const { email, stream_id, channel, topic_name, spellings, messages, deleted, unseen, arrived } = purge;
      if (!isAsked(purge) || (match && ![topic_name, ...spellings].some((name) => matchesGlobInAnyCase(match, name))))
        continue;
      const topic = { ...whoOf(purge), email, stream_id, channel, topic_name };
      const { status, archive = null } = purge;
      yield { ...topic, messages, deleted, unseen, arrived, status, archive };
    }
  },

  show: {
    columns: [
      { name: 'time', keep: 3 },
      { name: 'run', keep: 1 },
      ...uncut('account', 'computer', 'command', 'origin', 'email'),
      'stream_id',
      ...whole('channel', 'topic_name'),
      { name: 'messages', keep: 1 },
      { name: 'deleted', keep: 2 },
      { name: 'unseen', keep: 1 },
      'arrived',
      { name: 'status', keep: 2 },
      ...uncut('archive'),
    ],
    none: 'no run on this computer deleted a topic',
  },
});

type PurgeEntry = EntryOf<'topic_name'>;

/** The purges of each run, oldest first; the counts of a purge that was continued include its earlier runs. */
function purgesOf(entries: readonly PurgeEntry[]) {
  const purges = new Map<string, { readonly first: PurgeEntry; readonly end: PurgeEntry }>();
  for (const entry of entries) {
    const key = `${entry.run} ${topicKey(entry.stream_id, entry.topic_name)}`;
    purges.set(key, { first: purges.get(key)?.first ?? entry, end: entry });
  }
  return [...purges.values()].map(({ first: { time }, end }) => {
    const { deleted = null, unseen = null, arrived = null, status = 'unfinished', channel = null } = end;
    return { ...end, channel, time, deleted, unseen, arrived, status, last: end.time };
  });
}
