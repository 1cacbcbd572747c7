import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellWord } from '../../src/core/shell-word.ts';

test.each([
  ['license/4f1c9a', 'license/4f1c9a'],
  ['', "''"],
  ['two words', "'two words'"],
  ["O'Brien", String.raw`'O'\''Brien'`],
  ['$(id) `id` \\', "'$(id) `id` \\'"],
  ["a\nb'\\", String.raw`$'a\x0ab\'\\'`],
  ['\u202e', String.raw`$'\xe2\x80\xae'`],
])('%j', (text, word) => {
  expect(shellWord(text)).toBe(word);
});

test('bash reads each word as the text it was', () => {
  const text = fc.string({ unit: 'binary', minLength: 0, maxLength: 30 }).filter((found) => !found.includes('\0'));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 40 }), (texts) => {
      const line = `printf '%s\\0' ${texts.map(shellWord).join(' ')}`;
      expect(line).not.toContain('\n');
      expect(execFileSync('bash', ['-c', line]).toString()).toBe(texts.map((found) => `${found}\0`).join(''));
    }),
    { numRuns: 30 },
  );
});
