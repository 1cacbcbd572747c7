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
])('%j and %j: %s', (word, known, text) => {
  expect(suggestion(word, known)).toBe(text);
});

test('the nearest is first, and there are five at most', () => {
  const known = ['lisings', 'listings', 'listtingsx', 'listtinga', 'other'];
  expect(nearest('listtings', known)).toEqual(['listings', 'listtingsx', 'listtinga', 'lisings']);
});
