import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { idsBetween, openChatServer, topicOf } from '../../helpers/chat-server.ts';
import type { ChatServer, ChatServerOptions, Meanwhile } from '../../helpers/chat-server.ts';
import { emptyHome } from '../../helpers/run.ts';

const channels = [
  { stream_id: 5, name: 'kitchen' },
  { stream_id: 6, name: 'attic' },
];
const attic = { stream_id: 6, channel: 'attic' };
const messages = [
  ...topicOf('lunch', idsBetween(1, 4)),
  ...topicOf('\u{2714} tea', idsBetween(11, 13)),
  ...topicOf('chairs', idsBetween(21, 22)),
  ...topicOf('lunch', idsBetween(31, 33), attic),
];

const left = (server: ChatServer): readonly number[] => server.messages.map(({ id }) => id);

function fileOf(content: string, name = 'keep.txt'): string {
  const file = join(emptyHome(), name);
  writeFileSync(file, content);
  return file;
}

async function purge(line: string, { env = {}, ...given }: { env?: object } & Partial<ChatServerOptions> = {}) {
  const server = await openChatServer({ messages, channels, ...given });
  const ran = await server.run(`topic delete ${line} -o json`, { env: { ...env } });
  const rows = ran.stdout === '' ? [] : (JSON.parse(ran.stdout) as { topic_name: string; status: string }[]);
  return { ...ran, left: left(server), rows: rows.map(({ topic_name, status }) => [topic_name, status]) };
}

const ids = (list: readonly number[]): string =>
  fileOf(`${JSON.stringify({ channel: 'kitchen', ids: list })}\n`, 'keep.ndjson');

describe('a held topic', () => {
  test.each([
    ['by its name in another case', 'LUNCH\n'],
    ['by its name with the mark of resolved', '\u{2714} lunch\n'],
    ['by channel and topic', 'channel,topic_name\nkitchen,lunch\n'],
    ['by the id of the channel', 'stream_id,topic_name\n5,Lunch\n'],
    ['by its name below a header of a spreadsheet', '"Topic Name"\n"lunch"\n'],
    ['by a header with dashes', 'Stream-ID;TOPIC-NAME\n5;Lunch\n'],
    ['by an id', 'channel,ids\nattic,"[3,4]"\n'],
    ['by its last id alone', 'first_id,last_id\n99,4\n'],
    ['by its name with a blank behind it', 'nothing\nlunch \n'],
    ['by its name behind the byte order mark of a second file', 'nothing\n\uFEFFlunch\n'],
    ['by its name between carriage returns', 'nothing\rlunch\r'],
    ['by its name in quotes of a sheet', '"lunch"\n'],
    ['by its name with the comma of a second column', 'lunch,\n'],
    ['by its link', '#narrow/channel/5-kitchen/topic/lunch\n'],
    ['by its mention', '#**kitchen>Lunch**\n'],
  ])('is known %s', async (_how, content) => {
    const server = await openChatServer({ messages, channels });

    const hold = `--hold ${fileOf(content, 'keep.csv')}`;
    const ran = await server.run(`topic list kitchen ${hold} --fields topic_name -o tsv --no-header`);

    expect({ exitCode: ran.exitCode, stderr: ran.stderr, topics: ran.stdout.split('\n').sort() }).toEqual({
      exitCode: 0,
      stderr: 'topics that are held: 1\n',
      topics: ['', 'chairs', '\u{2714} tea'],
    });
  });

  test('is left, and the others of the pattern are deleted, exit 0', async () => {
    const deleted = await purge(`kitchen --match '*' --confirm 2 --hold ${fileOf('LUNCH\n')}`);

    expect(deleted.stderr).toContain("topic '#kitchen > lunch' is held by ");
    expect(deleted.rows.toSorted()).toEqual([
      ['chairs', 'deleted'],
      ['lunch', 'held'],
      ['\u{2714} tea', 'deleted'],
    ]);
    expect(deleted.left).toEqual([...idsBetween(1, 4), ...idsBetween(31, 33)]);
    expect(deleted.exitCode).toBe(0);
  });

  test('is one under its new name too, and what lies between two ids is none', async () => {
    const keep = fileOf('topic_name,first_id,last_id\nold name,13,31\n', 'keep.csv');

    const deleted = await purge(`kitchen --match '*' --confirm 2 --hold ${keep}`);

    expect(deleted).toMatchObject({ exitCode: 0, left: [...idsBetween(11, 13), ...idsBetween(31, 33)] });
  });

  test('of a hold of another channel is not one by its name', async () => {
    const keep = fileOf('channel,topic_name\nattic,chairs\n', 'keep.csv');

    expect(await purge(`kitchen chairs --confirm chairs --hold ${keep}`)).toMatchObject({ exitCode: 0 });
  });

  test('of a channel that is not there is one of every channel, since channels are renamed', async () => {
    const keep = fileOf('channel,topic_name\ncellar,Chairs\n', 'keep.csv');
    const server = await openChatServer({ messages, channels });

    const deleted = await purge(`kitchen --match 'c*' --confirm 0 --hold ${keep}`);
    const { stdout } = await server.run(`topic list kitchen --hold ${keep} --fields topic_name -o tsv --no-header`);

    expect(deleted).toMatchObject({ exitCode: 0, rows: [['chairs', 'held']] });
    expect(deleted.left).toHaveLength(messages.length);
    expect(stdout).not.toContain('chairs');
  });

  test.each([
    ['before the first call: it is held', 0, 0, 'held', 0],
    ['after a call that deleted a part: it is incomplete', 1, 8, 'incomplete', 1],
  ])('becomes one when a held message is moved into it %s', async (_when, least, exitCode, status, gone) => {
    let looks = 0;
    const meanwhile: Meanwhile = (served, { parameters }, calls) => {
      looks += /chairs/.test(parameters['narrow'] ?? '') ? 1 : 0;
      for (const message of served) if (looks > 1 && calls >= least && message.id === 12) message.subject = 'chairs';
    };

    const ran = await purge(`kitchen --match chairs --confirm 1 --hold ${ids([12])}`, { meanwhile, deletesPerCall: 1 });

    expect(ran).toMatchObject({ exitCode, rows: [['chairs', status]] });
    expect(ran.left).toHaveLength(messages.length - gone);
  });
});

test.each(['--confirm lunch', '-n'])('a held topic named alone is said once, by its failure: %s', async (mode) => {
  const server = await openChatServer({ messages });
  const { exitCode, stdout, lines } = await server.run(
    `topic delete kitchen lunch ${mode} --hold ${fileOf('lunch\n')}`,
  );

  expect([exitCode, stdout, lines]).toEqual([
    6,
    expect.stringMatching(/\theld\n$/),
    [expect.stringMatching(/^chatelaine: topic '#kitchen > lunch' is held by .*/)],
  ]);
});

describe('a hold by name that no topic fits', () => {
  const withWide = [...messages, ...topicOf('two  blanks', [41]), ...topicOf('cafe\u0301', [42])];

  test.each([
    ['a channel in front', 'kitchen,lunch\n', 'kitchen lunch'],
    ['a channel in front, with a colon', 'kitchen: lunch\n', 'kitchen lunch'],
    ['a remark behind it', 'lunch # keep, legal\n', 'kitchen lunch'],
    ['one wrong letter', 'lunsh\n', 'kitchen lunch'],
    ['two wrong letters', 'cheers\n', 'kitchen chairs'],
    ['other blanks', 'two blanks\n', "kitchen --match 'two*'"],
    ['another form of its letters', 'caf\u00E9\n', "kitchen --match 'caf*'"],
    ['quotes of another kind', '\u201Clunch\u201D\n', 'kitchen lunch'],
    ['a channel of the run', 'channel,topic_name\nkitchen,summer\n', 'kitchen lunch'],
  ])('%s: exit 6, naming the line, and nothing is deleted', async (_what, content, topics) => {
    const server = await openChatServer({ messages: withWide, channels });

    const { exitCode, error } = await server.run(
      `topic delete ${topics} --confirm x --hold ${fileOf(content)} --no-archive -o json`,
    );

    expect([exitCode, error?.message]).toEqual([6, expect.stringMatching(/keep\.txt:[12]: no topic '/)]);
    expect(left(server)).toHaveLength(withWide.length);
  });

  test('is exit 2 as a row without the header of topic list', async () => {
    const server = await openChatServer({ messages: withWide, channels });
    const printed = await server.run('topic list kitchen --no-header -o tsv');

    const { exitCode, error } = await server.run(
      `topic delete kitchen lunch --confirm lunch --hold ${fileOf(printed.stdout)} -o json`,
    );

    expect([exitCode, error?.message]).toEqual([2, expect.stringMatching(/keep\.txt:1: a row of several columns/)]);
    expect(left(server)).toHaveLength(withWide.length);
  });

  test.each([
    ['nothing near would be deleted', 'summer\nlunch\n', "1: no topic 'summer'"],
    ['the near one is not of this run', 'lunch\nteas\n', "2: no topic 'teas'"],
  ])('is a warning where %s', async (_what, content, said) => {
    const deleted = await purge(`kitchen chairs --confirm chairs --hold ${fileOf(content)}`);

    expect(deleted).toMatchObject({ exitCode: 0, rows: [['chairs', 'deleted']] });
    expect(deleted.stderr).toContain(`keep.txt:${said} in the channels of this run`);
    expect(deleted.stderr).toContain('topics that are held: 0');
  });

  test('a topic of the channel that is not of this run fits, and so does a row of another channel', async () => {
    const file = fileOf('channel,topic_name\nkitchen,TEA\nattic,nowhere\n', 'keep.csv');

    const deleted = await purge(`kitchen chairs --confirm chairs --hold ${file}`);

    expect(deleted).toMatchObject({ exitCode: 0 });
    expect(deleted.stderr).not.toContain('no topic');
  });
});

describe('a hold of the empty topic', () => {
  test('is a row of topic list with an empty name, also without ids', async () => {
    const withEmpty = [...messages, ...topicOf('', [51])];
    const server = await openChatServer({ messages: withEmpty, channels });
    for (const format of ['csv', 'tsv', 'json', 'ndjson']) {
      const { stdout } = await server.run(`topic list kitchen -o ${format} --fields channel,topic_name -q`);
      const file = fileOf(stdout, `keep.${format}`);
      const { exitCode, error } = await server.run(
        ['topic', 'delete', '5', '', '--confirm', ''].concat(['--hold', file, '-o', 'json']),
      );
      expect([format, exitCode, error?.message]).toEqual([format, 6, expect.stringContaining('is held by')]);
    }
    expect(left(server)).toHaveLength(withEmpty.length);
  });
});

describe('a hold whose messages no channel shows', () => {
  const gone = idsBetween(90, 99);
  test('ends its channel with 6, and no other one', async () => {
    const topics = fileOf('channel,topic_name\nkitchen,lunch\nattic,lunch\n', 'topics.csv');

    const deleted = await purge(`--from ${topics} --confirm 1 --hold ${ids([...gone, 100])}`);

    expect(deleted.stderr).toContain(`no channel shows the messages ${gone.join(', ')}, … of this hold`);
    expect(deleted.rows).toEqual([
      ['lunch', 'held'],
      ['lunch', 'deleted'],
    ]);
    expect(deleted.left).toEqual([...idsBetween(1, 4), ...idsBetween(11, 13), ...idsBetween(21, 22)]);
    expect(deleted.exitCode).toBe(8);
  });

  test('and that names no channel, bars all channels of the run', async () => {
    const topics = fileOf('stream_id,topic_name\n5,lunch\n6,lunch\n', 'topics.csv');
    const hold = fileOf(`{"ids":[${gone.join()}]}`, 'keep.ndjson');
    const deleted = await purge(`--from ${topics} --confirm 0 --hold ${hold}`);

    expect(deleted.stderr.match(/no channel shows the messages 90, 91, [\d, ]+ of this hold/g)).toHaveLength(2);
    expect(deleted.rows).toEqual([
      ['lunch', 'held'],
      ['lunch', 'held'],
    ]);
    expect({ exitCode: deleted.exitCode, left: deleted.left }).toEqual({
      exitCode: 6,
      left: messages.map(({ id }) => id),
    });
  });

  test('is none where another topic of the channel shows one of them', async () => {
    expect(await purge(`kitchen chairs --confirm chairs --hold ${ids([2, 99])}`)).toMatchObject({ exitCode: 0 });
  });
});

describe('the file', () => {
  test.each([
    ['empty', '\n', 'names no topic"'],
    ['a row of nothing', 'channel,ids\nkitchen,\n', 'topic_name and ids are both missing'],
    ['no JSON', '{', 'Write the file as topic list -o ndjson prints it.'],
    ['ids that are none', 'channel,ids\nkitchen,"[true,1]"\n', 'ids is not a list of whole numbers'],
  ])('%s: exit 2, and nothing is asked', async (_name, content, message) => {
    const deleted = await purge(`kitchen chairs --confirm chairs --hold ${fileOf(content)}`);

    expect(deleted.exitCode).toBe(2);
    expect(deleted.stderr).toContain(message);
    expect(deleted.left).toHaveLength(messages.length);
  });

  test('that is not there is exit 2; CHATELAINE_HOLD and --hold add up', async () => {
    expect(await purge('kitchen chairs --confirm chairs --hold nowhere.txt')).toMatchObject({ exitCode: 2 });
    const env = { CHATELAINE_HOLD: fileOf('lunch\n') };

    const deleted = await purge(`kitchen --match '*' --confirm 1 --hold ${fileOf('tea\n')}`, { env });

    expect(deleted).toMatchObject({ exitCode: 0 });
    expect(deleted.left).toEqual([...idsBetween(1, 4), ...idsBetween(11, 13), ...idsBetween(31, 33)]);
  });
});

test('topic list leaves out what is held; its ids make a hold', async () => {
  const server = await openChatServer({ messages, channels });
  const list = async (words: string) => (await server.run(`topic list kitchen ${words} -q`)).stdout;

  const keep = fileOf(await list('--match lunch --fields ids -o ndjson'), 'keep.ndjson');

  expect(await list('--match lunch --fields first_id,last_id -o ndjson')).toBe('{"first_id":1,"last_id":4}\n');
  expect(await list(`--hold ${keep} --fields topic_name -o ndjson`)).toBe(
    '{"topic_name":"\u{2714} tea"}\n{"topic_name":"chairs"}\n',
  );
});
