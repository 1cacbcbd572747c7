import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isWhole } from '../helpers/extent.ts';
import { answerCases, tryAnswers } from './answers.ts';
import { lineCases, tryLine } from './lines.ts';

/** The short form; scripts/fuzz.js sets larger sizes. The seed and the number of a case alone decide what it is. */
const seed = Number(process.env['FUZZ_SEED'] ?? 1);
/** Of each of the two kinds. */
const runs = Number(process.env['FUZZ_RUNS'] ?? (isWhole ? 100 : 15));
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

/** So many cases at the same time: most of them wait for a timeout. */
const workers = 4;

/** Runs every case in this process; what is wrong, in the order of the cases. */
async function wrongsOf<T>(
  name: string,
  cases: fc.Arbitrary<T>,
  attempt: (one: T) => Promise<string[]>,
): Promise<string[]> {
  const all = [...fc.sample(cases, { numRuns: runs, seed }).entries()];
  const chosen = only === undefined ? all : all.filter(([index]) => index === Number(only));
  const wrongs = new Map<number, readonly string[]>();
  const queue = chosen.values();
  const work = async (): Promise<void> => {
    for (const [index, one] of queue) {
      const repeat = `FUZZ_SEED=${seed} FUZZ_RUNS=${runs} FUZZ_CASE=${index} node scripts/fuzz.js ${name}`;
      const found = await attempt(one);
      wrongs.set(
        index,
        found.map((wrong) => `${repeat}\n  ${JSON.stringify(one)}\n  ${wrong}`),
      );
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return [...wrongs].sort(([one], [other]) => one - other).flatMap(([, found]) => found);
}
