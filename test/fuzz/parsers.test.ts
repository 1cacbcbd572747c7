import { afterAll, beforeAll, expect, test } from 'vitest';
import { isWhole } from '../helpers/extent.ts';
import { type Coverage, explore, openCoverage, type Pick } from './coverage.ts';
import { parsers } from './parsers.ts';

/** FUZZ_SECONDS: CPU time for all parsers together; `node scripts/fuzz.js parsers` sets more. */
const msec = (Number(process.env['FUZZ_SECONDS'] ?? (isWhole ? 8 : 1)) * 1000) / Object.keys(parsers).length;
let state = Number(process.env['FUZZ_SEED'] ?? 1);
const pick: Pick = (below) => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};

let coverage: Coverage;
beforeAll(() => {
  coverage = openCoverage();
});
afterAll(() => coverage.close());

test.each(Object.entries(parsers))(
  '%s: no text ends in a bug',
  { timeout: 2 * msec + 180_000 },
  async (name, parser) => {
    const { report, wrongs } = await explore(parser, pick, coverage, msec);
    if (process.env['FUZZ_SECONDS'] !== undefined) process.stdout.write(`${name}: ${report}\n`);
    expect(wrongs).toEqual([]);
  },
);
