import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appendLoosely } from '../../../src/store/disk/records.ts';
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
