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
])('%j and %j: %s', (word, known, text) => {
  expect(suggestion(word, known)).toBe(text);
});

test('the nearest is first, and there are three at most', () => {
  expect(nearest('listt', ['fist', 'list', 'lists', 'lisp', 'other'])).toEqual(['list', 'lists', 'fist']);
});
