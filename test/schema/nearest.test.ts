import { expect, test } from 'vitest';
import { nearest, suggestion } from '../../src/schema/nearest.ts';

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
])('%j and %j: %s', (word, known, text) => {
  expect(suggestion(word, known)).toBe(text);
});

test('the nearest is first, and there are five at most', () => {
  const known = ['lisings', 'listings', 'listtingsx', 'listtinga', 'other'];
  expect(nearest('listtings', known)).toEqual(['listings', 'listtingsx', 'listtinga', 'lisings']);
});
