import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { completing, openMessages, openRedactor, redact, truncate } from '../../src/cli/messages.ts';
import { Failure } from '../../src/core/failure.ts';
import { place } from '../store/place.ts';

const undo = 'resized; to undo it: chatelaine license undo 7K2F';

test.each([
  ['prod', false, 'resized; to undo it: chatelaine license undo --profile prod 7K2F'],
  ['a $& b', false, "resized; to undo it: chatelaine license undo --profile 'a $& b' 7K2F"],
  [undefined, true, 'resized; to undo it: chatelaine license undo --sandbox 7K2F'],
  [undefined, false, undo],
])('a command in our words asks the account that was chosen: %s, sandbox %s', (profile, sandbox, text) => {
  expect(completing({ profile, sandbox })(undo)).toBe(text);
});

test.each([
  'chatelaine auth list shows what is stored.',
  'Make sure that no chatelaine runs.',
  'Begin afresh: chatelaine sandbox reset',
  'to retire one: chatelaine license retire 1-2 --profile other',
  'chatelaine license lists',
  'See chatelaine license list --help.',
])('left alone, since it is about no account or names one: %s', (text) => {
  expect(completing({ profile: 'prod', sandbox: false })(text)).toBe(text);
});

test('of two commands each asks that account', () => {
  expect(completing({ profile: undefined, sandbox: true })('Try: chatelaine license list, chatelaine doctor')).toBe(
    'Try: chatelaine license list --sandbox, chatelaine doctor --sandbox',
  );
});

test.each([
  ['a\nb\x1b', undefined, true, 'warning: a\n  b\\x1b\n'],
  ['a\x1b', undefined, false, 'warning: a\x1b\n'],
  ['a\nb\x9b', 'json', false, '{"warning":"a\\nb\\u009b"}\n'],
] as const)('a warning %j, -o %s, on a terminal: %s', (text, output, isTTY, line) => {
  const stderr = Object.assign(new PassThrough(), { isTTY });
  openMessages({ stderr, system: place().system }, { output }, openRedactor(), (one) => one).warn(text);
  expect(String(stderr.read())).toBe(line);
});

test('more than a thousand characters of a server are cut, of ours none', () => {
  const [fits, long] = ['x'.repeat(1000), 'x'.repeat(1001)];
  const cut = `${fits}… (1001 characters)`;
  expect([truncate(fits), truncate(long)]).toEqual([fits, cut]);
  const [http, server] = [
    { method: 'GET', url: '/' },
    { msg: long, names: [long, 7] },
  ];
  const said = [{}, { http }, { server }].map((details) => redact(new Failure('rejected', long, details), String));
  expect(said.map(({ message }) => message)).toEqual([long, cut, cut]);
  expect(said[2]?.details.server).toEqual({ msg: cut, names: [cut, 7] });
});
