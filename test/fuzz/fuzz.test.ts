import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerCases, tryAnswers } from './answers.ts';
import type { Way } from './judge.ts';
import { lineCases, slipCases, tryLine } from './lines.ts';

/** The short form; `npm run fuzz` sets larger sizes. The seed and the number of a case alone decide what it is. */
const seed = Number(process.env['FUZZ_SEED'] ?? 1);
const runs = Number(process.env['FUZZ_RUNS'] ?? 150);
const processes = Number(process.env['FUZZ_PROCESSES'] ?? 2);
const only = process.env['FUZZ_CASE'];
const unlimited = 3_600_000;

// Junk in the place of a file's name is a file of the current folder.
const started = process.cwd();
const folder = mkdtempSync(join(tmpdir(), 'chatelaine-fuzz-'));
beforeAll(() => process.chdir(folder));
afterAll(() => {
  process.chdir(started);
  rmSync(folder, { recursive: true, force: true });
});

test(
  'changed answers of both APIs end every command with a documented exit code, in time, and without a secret',
  { timeout: unlimited },
  async () => {
    expect(await wrongsOf('answers', answerCases, tryAnswers)).toEqual([]);
  },
);

test('no command line ends with exit code 1, hangs, or shows a stored key', { timeout: unlimited }, async () => {
  expect(await wrongsOf('lines', await lineCases(), tryLine)).toEqual([]);
});

// Fails on purpose until issue 8, item 18 is resolved: then `.fails` goes.
test.fails('no slip repeats the secret that was typed in the wrong place', { timeout: unlimited }, async () => {
  expect(await wrongsOf('slips', await slipCases(), tryLine)).toEqual([]);
});

/** Runs every case in this process, and the first ones as processes too. */
async function wrongsOf<T>(
  name: string,
  cases: fc.Arbitrary<T>,
  attempt: (one: T, way: Way) => Promise<string[]>,
): Promise<string[]> {
  const wrongs: string[] = [];
  for (const [index, one] of fc.sample(cases, { numRuns: runs, seed }).entries()) {
    if (only !== undefined && index !== Number(only)) continue;
    const ways: readonly Way[] = index < processes ? ['in process', 'as process'] : ['in process'];
    for (const way of ways) {
      const repeat = `FUZZ_SEED=${seed} FUZZ_CASE=${index} npm run fuzz ${name}`;
      for (const wrong of await attempt(one, way))
        wrongs.push(`${repeat} (${way})\n  ${JSON.stringify(one)}\n  ${wrong}`);
    }
  }
  return wrongs;
}
