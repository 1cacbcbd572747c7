import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyHome, openSandbox, type RunningSandbox } from '../../helpers/run.ts';

const hash = '#narrow/channel/1-general';

/** What is left of some topics of the sandbox's channel `general`. */
function counts({ sandbox }: RunningSandbox): Record<string, number> {
  const names = ['Lunch', 'onboarding', 'who has dock 4?', ''];
  return Object.fromEntries(names.map((name) => [name, sandbox.state.topic('general', name).length]));
}
const all = { Lunch: 3, onboarding: 8, 'who has dock 4?': 4, '': 3 };

test.each<[string, readonly string[], Partial<typeof all>]>([
  ['#general', ['lunch'], { Lunch: 0 }],
  [`${hash}/topic/Lunch`, [], { Lunch: 0 }],
  [`${hash}/topic/Lunch/near/1002`, ['LUNCH'], { Lunch: 0 }],
  ['narrow/stream/1-general/topic/who.20has.20dock.204.3F', [], { 'who has dock 4?': 0 }],
  [`SITE/${hash}/topic/who.20has.20dock.204.3F/with/1003`, [], { 'who has dock 4?': 0 }],
  [` SITE/${hash}/topic/onboarding`, [], { onboarding: 0 }],
  [`${hash}/topic/`, [], { '': 0 }],
])('topic delete %s %j', async (channel, topics, gone) => {
  const service = await openSandbox();
  const [topic = ''] = topics.length > 0 ? topics : Object.keys(gone);
  const place = channel.replace('SITE', service.sandbox.chat.site);

  const { exitCode } = await service.run(['topic', 'delete', place, ...topics, '--confirm', topic, '--no-archive']);

  expect({ exitCode, left: counts(service) }).toEqual({ exitCode: 0, left: { ...all, ...gone } });
});

test.each([
  [
    'https://chat.example.com/#narrow/channel/1-general/topic/Lunch',
    [],
    /the link leads to chat\.example\.com, but the account is on 127/,
  ],
  ['SITE/', ['lunch'], /the link has no #/],
  ['SITE/#inbox', ['lunch'], /the link leads to no conversation/],
  ['#narrow/dm/8,9-dm', ['lunch'], /the link leads to no channel/],
  [`${hash}/topic/Lunch`, ['onboarding'], /the link leads to the topic 'Lunch', but 'onboarding' is named too/],
  [`${hash}/topic/Lunch`, ['--match', 'l*'], /name the topics in one way only/],
  [hash, [], /name the topics: as arguments/],
  [hash, ['lunch', '--older-than', '5d'], /--older-than needs --match/],
])('topic delete %s %j is exit 2, and nothing is sent', async (channel, words, message) => {
  const log: string[] = [];
  const service = await openSandbox({ log: ({ path }) => void log.push(path) });
  const place = channel.replace('SITE', service.sandbox.chat.site);

  const { exitCode, stderr } = await service.run(['topic', 'delete', place, ...words, '--confirm', 'lunch']);

  expect({ exitCode, log, left: counts(service) }).toEqual({ exitCode: 2, log: [], left: all });
  expect(stderr).toMatch(message);
});

test.each([
  [`SITE/${hash}`, 9],
  [`SITE/${hash}/topic/lunch`, 1],
])('topic list %s has %i topics', async (channel, count) => {
  const { run, sandbox } = await openSandbox();

  const { exitCode, stdout } = await run(['topic', 'list', channel.replace('SITE', sandbox.chat.site), '-o', 'json']);

  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toHaveLength(count);
});

describe('the empty topic and its name are one topic', () => {
  test.each([
    ['both typed: one row', ['topic', 'delete', 'general', 'general chat', '', '--confirm', 'general chat'], 0, 0],
    [
      'a link and the other name',
      ['topic', 'delete', `${hash}/topic/`, 'general chat', '--confirm', 'general chat'],
      0,
      0,
    ],
    ['rows of both: exit 2', ['topic', 'delete', '--from', 'rows', '--confirm', '1'], 2, 3],
    ['held by the other name', ['topic', 'delete', 'general', '', '--confirm', '', '--hold', 'names'], 6, 3],
  ])('%s', async (_what, line, exit, left) => {
    const service = await openSandbox({ featureLevel: 442 });
    const home = emptyHome();
    const files = new Map([
      ['rows', 'channel,topic_name\ngeneral,\ngeneral,general chat\n'],
      ['names', 'general chat\n'],
    ]);
    for (const [name, text] of files) writeFileSync(join(home, name), text);
    const words = line.map((word) => (files.has(word) ? join(home, word) : word));

    const { exitCode } = await service.run(words, { home });

    expect({ exitCode, left: counts(service)[''] }).toEqual({ exitCode: exit, left });
  });

  test.each(['', 'general.20chat'])('topic list of a link to it: %s', async (name) => {
    const { run } = await openSandbox({ featureLevel: 442 });

    expect((await run(`topic list ${hash}/topic/${name} -o json --jq .[].messages`)).stdout).toBe('3\n');
  });

  test('fetch finds no message where it has none, and says so of both', async () => {
    const { run } = await openSandbox({ featureLevel: 442 });

    const said = (name: string) =>
      run(['messages', 'fetch', '--channel', 'general', '--topic', name, '--sender', '11']);

    for (const name of ['', 'general chat']) expect((await said(name)).stderr).toBe('no messages match\n');
  });
});
