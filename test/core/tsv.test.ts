import { describe, expect, test } from 'vitest';
import { namesInList, nameThatIsThere } from '../../src/core/tsv.ts';

const namesOf = (lines: readonly string[], unclear: 'refuse' | 'keep' = 'refuse') =>
  namesInList(lines, ['topic', 'topic_name'], unclear);

describe('the names of a list', () => {
  test.each([
    ['below the name of our column are read as tsv', ['topic_name', 'a\\\\b', 'c'], ['a\\b', 'c']],
    ['below it stay as they are where one is no tsv of ours', ['topic_name', 'a\\b', 'c'], ['a\\b', 'c']],
    ['below it have no sign but a backslash undone', ['topic', 'a\\tb'], ['a\\tb']],
    ['without it are as they are', ['a\\b', 'topic', '"x"'], ['a\\b', 'topic', '"x"']],
    ['without it may begin with a server', ['\\\\host\\ada'], ['\\\\host\\ada']],
  ])('%s', (_what, lines, names) => {
    expect(namesOf(lines)).toEqual(names);
  });

  test.each([
    ['without a header', ['c', 'a\\\\b']],
    ['below a header, beside one that is no tsv of ours', ['topic', 'a\\b', 'a\\\\b']],
  ])('are refused where one has two readings: %s', (_what, lines) => {
    expect(() => namesOf(lines)).toThrow(
      "'a\\\\b' if a person or a spreadsheet wrote this, and 'a\\b' if chatelaine printed it",
    );
  });

  test('are kept without a header where the command decides', () => {
    expect(namesOf(['c', 'a\\\\b'], 'keep')).toEqual(['c', 'a\\\\b']);
  });

  test('are refused where the header is there twice, as in lists that were joined', () => {
    expect(() => namesOf(['topic', 'a', 'topic', 'b'])).toThrow("the list has the line 'topic' twice");
  });
});

test('a name means the one of its readings that is there', () => {
  const meant = (...there: string[]) => nameThatIsThere('a\\\\b', (name) => there.includes(name));
  expect([meant(), meant('a\\\\b'), meant('a\\b')]).toEqual(['a\\\\b', 'a\\\\b', 'a\\b']);
  expect(() => meant('a\\\\b', 'a\\b')).toThrow('the list contains both');
});
