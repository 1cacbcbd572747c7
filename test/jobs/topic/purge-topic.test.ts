import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RawMessage, type MessageQuery } from '../../../src/api/chat/chat-messages.ts';
import { chatApi } from '../../../src/api/chat/chat.ts';
import { Failure } from '../../../src/core/failure.ts';
import { elementsOf } from '../../../src/core/json-elements.ts';
import { earlierPurges } from '../../../src/jobs/topic/survey-topics.ts';
import type { PurgeRun } from '../../../src/jobs/topic/purge-archive.ts';
import { TopicPurge } from '../../../src/jobs/topic/purge-topic.ts';
import { openArchive, type OpenArchive } from '../../../src/store/archive/open-archive.ts';
import { sleptClock } from '../../helpers/clock.ts';
import { emptyHome } from '../../helpers/run.ts';
import { systemIn } from '../../store/system.ts';

/** Messages of a topic as the texts of an answer. */
function rowsOf(ids: readonly number[]): RawMessage[] {
  const place = { subject: 'lunch', stream_id: 5, display_recipient: 'kitchen' };
  const messages = ids.map((id) => ({ id, content: 'x', timestamp: 1_772_000_000 + id, ...place }));
  return elementsOf(Buffer.from(JSON.stringify({ messages })), 'messages').elements.map(
    (element, index) => new RawMessage(ids[index] ?? 0, element),
  );
}

const unasked = () => Promise.reject(new Error('not asked for'));

test('a part of what arrived that is read back broken: nothing more is deleted', async () => {
  const [home, signal] = [emptyHome(), new AbortController().signal];
  const topic = [1, 2];
  let calls = 0;
  const messages = (query: MessageQuery) => {
    const wanted =
      query.message_ids ??
      topic.filter((id) => query.anchor === 'newest' || id >= Number(query.anchor) || query.anchor === 'oldest');
    return Promise.resolve({
      ...{ messages: rowsOf(wanted), found_newest: true, found_oldest: true, history_limited: false, ignored: [] },
    });
  };
  const [level, none] = [() => Promise.resolve(489), () => Promise.resolve(undefined)];
  const chat = {
    ...chatApi(unasked, unasked),
    ...{ messages, level, channels: none, topics: none, organization: none },
    deleteTopic: async (_id: number, _name: string, before?: () => Promise<void>) => {
      await before?.();
      calls += 1;
      return { complete: true };
    },
  };
  /** The disk breaks what is written after the archive was verified. */
  const broken = (archive: OpenArchive): OpenArchive => {
    const add = archive.add.bind(archive);
    return Object.assign(archive, {
      add: async (...given: Parameters<OpenArchive['add']>) => {
        const part = await add(...given);
        if (topic.length > 2) appendFileSync(join(archive.folder, part.source?.file ?? ''), ' ');
        return part;
      },
    });
  };
  const clock = sleptClock();
  const purge = await purgeOf(chat, home, {
    archive: async (folder) => broken(await openArchive(folder, { system: systemIn(home), clock }, { signal })),
    say: (text) => void (text.includes('verified') && topic.push(3)),
  });

  await expect(purge.run()).rejects.toThrow(/is damaged: source-000002\.ndjson.*nothing more is deleted/);
  expect(calls).toBe(0);
});

const page = {
  ...{ messages: rowsOf([1, 2]), found_newest: true, found_oldest: true, history_limited: false, ignored: [] },
};
const none = () => Promise.resolve(undefined);
const chat = {
  ...chatApi(unasked, unasked),
  ...{ messages: () => Promise.resolve(page), level: none, channels: none, topics: none, organization: none },
  async deleteTopic(_id: number, _name: string, before?: () => Promise<void>): Promise<never> {
    await before?.();
    throw new Error('a call was sent');
  },
};

function archiveIn(folder: string, home: string): Promise<OpenArchive> {
  const { signal } = new AbortController();
  return openArchive(folder, { system: systemIn(home), clock: sleptClock() }, { signal });
}

test('a purge that another process ends meanwhile: nothing is deleted', async () => {
  const home = emptyHome();
  const interrupted = await purgeOf(chat, home, { archive: (folder) => archiveIn(folder, home) });
  await expect(interrupted.run()).rejects.toThrow('a call was sent');
  const purge = await purgeOf(chat, home, {
    archive(folder) {
      appendFileSync(join(folder, 'purge.ndjson'), '{"finished":"2026-03-01T12:00:00Z","deleted":2,"unseen":0}\n');
      return archiveIn(folder, home);
    },
  });

  await expect(purge.run()).rejects.toThrow(
    /^another process has just changed the deletion of .*: nothing of it was deleted$/,
  );
});

const sent = 'a call was sent';

test.each([
  ['nothing', [], Infinity, 0],
  ['one message, and another meanwhile', [3], 1, 2],
  ['one message, and others without end', [3], Infinity, 3],
  ['one message, and a young one meanwhile', [3], 1, 2, 'which is younger than --older-than'],
])('what came during the archiving is read before the call: %s', async (_what, came, more, times, end = sent) => {
  const [home, topic] = [emptyHome(), [1, 2]];
  let asked = 0;
  const messages = ({ anchor, include_anchor }: MessageQuery) => {
    if (include_anchor === false && (asked += 1) <= more) topic.push(topic.length + 1);
    const from = Number(anchor) + (include_anchor === false ? 1 : 0);
    return Promise.resolve({ ...page, messages: rowsOf(topic.filter((id) => !(id < from))) });
  };
  const say = (text: string): void => void (text.includes('verified') && topic.push(...came));
  const before = end === sent ? undefined : 1_772_000_004_000;
  const purge = await purgeOf({ ...chat, messages }, home, {
    archive: (folder) => archiveIn(folder, home),
    say,
    before,
  });

  await expect(purge.run()).rejects.toThrow(end);
  expect(asked).toBe(times);
});

test.each<[what: string, waits: (look: number) => readonly [page: number, call: number], looks: number, end: string]>([
  ['at the call', (look) => [0, look === 1 ? 3000 : 0], 2, sent],
  ['at the second page', (look) => [look === 1 ? 3000 : 0, 0], 2, sent],
  ['at the second page, each time', () => [3000, 0], 3, sent],
  ['at the call, each time', () => [0, 3000], 6, 'the server makes no progress'],
  ['for two seconds', () => [1000, 1000], 1, sent],
])('a wait %s: the topic is looked at again where it is longer than two seconds', async (_what, waits, most, end) => {
  const home = emptyHome();
  let [time, looks] = [0, 0];
  const wait = (span: number): number => ((time += span), span);
  const messages = ({ anchor, num_before }: MessageQuery) => {
    if (!num_before) return Promise.resolve(page);
    looks += anchor === 'newest' ? 1 : 0;
    if (anchor === 'newest') return Promise.resolve({ ...page, messages: rowsOf([2]), found_oldest: false });
    return Promise.resolve({ ...page, messages: rowsOf([1]), waited: wait(waits(looks)[0]) });
  };
  const deleteTopic: typeof chat.deleteTopic = async (_id, _name, before) => {
    await before?.();
    wait(waits(looks)[1]);
    await before?.();
    throw new Error(sent);
  };
  const archive = (folder: string) => archiveIn(folder, home);
  const purge = await purgeOf({ ...chat, messages, deleteTopic }, home, { archive, elapsed: () => time });

  await expect(purge.run()).rejects.toThrow(end);
  expect(looks).toBe(most);
});

test('a disk that fails right before a call: no call was sent, and the record has none', async () => {
  const home = emptyHome();
  const full = new Failure('unavailable', 'the disk is full');
  let isVerified = false;
  const purge = await purgeOf(chat, home, {
    archive: async (folder) => {
      const archive = await archiveIn(folder, home);
      const missing = archive.missing.bind(archive);
      return Object.assign(archive, { missing: () => (isVerified ? Promise.reject(full) : missing()) });
    },
    say: (text) => void (isVerified ||= text.includes('verified')),
  });

  await expect(purge.run()).rejects.toThrow('the disk is full');
  const [folder = ''] = readdirSync(join(home, 'purges'));
  const record = readFileSync(join(home, 'purges', folder, 'purge.ndjson'), 'utf8');
  expect(record).toContain('"look"');
  expect(record).not.toContain('"call"');
});

test('an interruption while a call is recorded: it is not sent, and its record has no end', async () => {
  const [home, abort] = [emptyHome(), new AbortController()];
  const purge = await purgeOf(chat, home, {
    archive: async (folder) => {
      const archive = await archiveIn(folder, home);
      const record = archive.recordPurge.bind(archive);
      return Object.assign(archive, {
        async recordPurge(step: Parameters<OpenArchive['recordPurge']>[0]) {
          await record(step);
          if ('call' in step) abort.abort(new Failure('cancelled', 'interrupted'));
        },
      });
    },
    signal: abort.signal,
  });

  await expect(purge.run()).rejects.toThrow('interrupted');
  const [folder = ''] = readdirSync(join(home, 'purges'));
  expect(readFileSync(join(home, 'purges', folder, 'purge.ndjson'), 'utf8').match(/"call":"\w+"/g)).toEqual([
    '"call":"asked"',
  ]);
});

/** The purge of a topic of two messages, whose archives are in that home. */
async function purgeOf(chat: PurgeRun['chat'], home: string, parts: Pick<PurgeRun, 'archive'> & Partial<PurgeRun>) {
  const topic = { channel: { stream_id: 5, name: 'kitchen' }, topic_name: 'lunch', label: 'lunch' };
  const shown = { ids: [1, 2], spellings: ['lunch'], files: 0, isLimited: false };
  const times = { first_timestamp: null, last_timestamp: null };
  const place = { root: join(home, 'purges'), site: 'https://chat.test', account: 'ada@chat.test' };
  const nothing = (): void => undefined;
  const run = {
    ...{ chat, place, holds: [], sleep: () => Promise.resolve(), now: () => 0, elapsed: () => 0, again: () => 'again' },
    ...{ say: nothing, note: nothing, warn: nothing, conclude: nothing, signal: new AbortController().signal },
    progress: () => ({ step: nothing, upTo: nothing, end: nothing }),
    ...parts,
  };
  const survey = { ...topic, ...shown, ...times, ...(await earlierPurges(topic, place)) };
  const purge = new TopicPurge(run, survey, Infinity);
  return {
    async run(): Promise<void> {
      await purge.begin();
      try {
        await purge.run();
      } finally {
        await purge.archive?.close();
      }
    },
  };
}
