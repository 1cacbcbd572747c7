import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appendLoosely, lineIn, summedLine } from '../../../src/store/disk/records.ts';
import { place } from '../place.ts';

test.each([
  ['', 'new\n'],
  ['old\n', 'old\nnew\n'],
  ['cut', 'cut\nnew\n'],
])('to a file of %j a line is appended', async (before, after) => {
  const path = join(place().folder, 'lines');
  writeFileSync(path, before);
  await appendLoosely(path, 'new\n');
  expect(readFileSync(path, 'utf8')).toBe(after);
});

test('a line shows by its sum, a CRC-32, that it is what was written', () => {
  const line = '{"id":31,"sum":"090197fc"}';
  expect(summedLine({ id: 31 })).toBe(`${line}\n`);
  expect(lineIn(line)).toEqual({ json: { value: { id: 31 } }, isSummed: true, isWhole: true });
  expect(lineIn(line.replace('31', '32'))).toMatchObject({ isSummed: true, isWhole: false });
});
