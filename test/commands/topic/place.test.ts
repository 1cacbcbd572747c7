import { expect, test } from 'vitest';
import { openSandbox, type RunningSandbox } from '../../helpers/run.ts';

const hash = '#narrow/channel/1-general';

/** What is left of some topics of the sandbox's channel `general`. */
function counts({ sandbox }: RunningSandbox): Record<string, number> {
  const names = ['Lunch', 'onboarding', 'who has dock 4?', ''];
  return Object.fromEntries(names.map((name) => [name, sandbox.state.topic('general', name).length]));
}
const all = { Lunch: 3, onboarding: 8, 'who has dock 4?': 4, '': 3 };

test.each<[string, readonly string[], Partial<typeof all>]>([
  ['#general', ['lunch'], { Lunch: 0 }],
  [hash, ['lunch'], { Lunch: 0 }],
  [`${hash}/topic/Lunch`, [], { Lunch: 0 }],
  [`${hash}/topic/Lunch/near/1002`, ['LUNCH'], { Lunch: 0 }],
  ['narrow/stream/1-general/topic/who.20has.20dock.204.3F', [], { 'who has dock 4?': 0 }],
  [`SITE/${hash}`, ['onboarding'], { onboarding: 0 }],
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
])('topic delete %s %j is exit 2, and nothing is sent', async (channel, words, message) => {
  const log: string[] = [];
  const service = await openSandbox({ log: ({ path }) => void log.push(path) });
  const place = channel.replace('SITE', service.sandbox.chat.site);

  const { exitCode, stderr } = await service.run(['topic', 'delete', place, ...words, '--confirm', 'lunch']);

  expect({ exitCode, log, left: counts(service) }).toEqual({ exitCode: 2, log: [], left: all });
  expect(stderr).toMatch(message);
});

test.each([
  ['#general', 9],
  [hash, 9],
  [`SITE/${hash}`, 9],
  [`SITE/${hash}/topic/lunch`, 1],
  [`${hash}/topic/nothing`, 0],
])('topic list %s has %i topics', async (channel, count) => {
  const { run, sandbox } = await openSandbox();

  const { exitCode, stdout } = await run(['topic', 'list', channel.replace('SITE', sandbox.chat.site), '-o', 'json']);

  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toHaveLength(count);
});
