import { expect, test } from 'vitest';
import { editDistance, nearest, suggestion } from '../../src/schema/nearest.ts';

test.each([
  ['size_allowence', ['size_allowance', 'app_code'], 'Did you mean size_allowance?'],
  ['COLOR', ['color'], 'Did you mean color?'],
  ['jsno', ['json', 'ndjson'], 'Did you mean json?'],
  ['creat', ['create'], 'Did you mean create?'],
  ['xml', ['table', 'yaml', 'csv', 'tsv'], undefined],
  ['text', ['tsv', 'table'], undefined],
  ['cat', ['cap_width', 'list'], undefined],
  ['xyz', ['size_allowance'], undefined],
  ['no', ['on'], undefined],
  ['', [], undefined],
  ['lst', ['list'], 'Did you mean list?'],
  // A guess is nearer than a third of the word.
  ['--sender', ['--header'], undefined],
  ['--hedaer', ['--header'], 'Did you mean --header?'],
  ['change', ['channel'], undefined],
  // What people call a field goes before a name that only contains the word.
  ['topic', ['topic_links', 'match_subject', 'subject'], 'Did you mean subject?'],
  ['topic', ['topic_name', 'topic_links'], 'Did you mean topic_name?'],
  ['channel', ['stream_id', 'display_recipient'], 'Did you mean display_recipient?'],
  ['sender', ['sender_id', 'sender_full_name', 'sender_email'], 'Did you mean sender_full_name?'],
  ['key', ['license_code', 'api_key_stdin'], 'Did you mean license_code?'],
  ['--customer', ['--remote-user', '--size-allowance'], 'Did you mean --remote-user?'],
  ['--author', ['--sender', '--search'], 'Did you mean --sender?'],
  ['--before', ['--older-than'], 'Did you mean --older-than?'],
  // Of those that contain it three, of those that are near one.
  ['app', ['app_a', 'app_b', 'app_c', 'app_d'], 'Did you mean app_a or app_b or app_c?'],
  ['id', ['app_id'], 'Did you mean app_id?'],
  ['listt', ['list', 'lists'], 'Did you mean list?'],
  ['abcdexx', ['abcdefg'], 'Did you mean abcdefg?'],
  ['tab', ['xtabxxxx'], 'Did you mean xtabxxxx?'],
  ['ta', ['xtaxxxx'], undefined],
])('%j and %j: %s', (word, known, text) => {
  expect(suggestion(word, known)).toBe(text);
});

test('the nearest is first, and there are five at most', () => {
  const known = ['lisings', 'listings', 'listtingsx', 'listtinga', 'other'];
  expect(nearest('listtings', known)).toEqual(['listings', 'listtingsx', 'listtinga', 'lisings']);
  expect(nearest('lunch', ['lunches', 'lunch'])).toEqual(['lunch', 'lunches']);
  expect(nearest('abcd', ['abce', 'abcf', 'abcg', 'abch', 'abci', 'abcj'])).toHaveLength(5);
  expect(nearest('ta', ['ta lunch'])).toEqual(['ta lunch']);
  expect(nearest('ines', ['inez okafor'])).toEqual(['inez okafor']);
});

test.each([
  ['', 'abc', 3],
  ['kitten', 'sitting', 3],
  ['abc', 'acb', 1],
  ['xcd', 'adc', 2],
  ['ab', 'bc', 2],
  ['ab', 'ca', 2],
  ['ca', 'abc', 3],
])('from %j to %j are %i slips', (one, other, slips) => {
  expect([editDistance(one, other), editDistance(other, one)]).toEqual([slips, slips]);
});
