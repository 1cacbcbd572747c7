// Measures whole processes: the runs of all rows are interleaved, so that whatever else the machine does strikes every row alike.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * @typedef {object} Row a command line of node
 * @property {string} name
 * @property {readonly string[]} args
 * @property {number} [limit] the most that it may take, in bare starts
 * @property {() => void} [before] runs before each of its runs, outside the time
 * @property {Record<string, string>} [env] beside that of all rows
 */
/** @typedef {Row & { median: number, ratio: number }} Measured milliseconds, and times the first row */

/**
 * Medians of `runs` runs of each row, after one that warms the disk's cache; the first row is the measure of the others.
 * @param {readonly Row[]} rows
 * @param {{ runs: number, node?: string, env: Record<string, string | undefined> }} options
 * @returns {Promise<Measured[]>}
 */
export async function measure(rows, { runs, node = process.execPath, env }) {
  /** @type {number[][]} */
  const times = rows.map(() => []);
  for (let run = 0; run <= runs; run += 1) {
    for (const [index, { args, before, env: own }] of rows.entries()) {
      before?.();
      const took = await timeOf(node, args, { ...env, ...own });
      if (run > 0) times[index]?.push(took);
    }
  }
  const medians = times.map(median);
  return rows.map((row, index) => {
    const middle = medians[index] ?? NaN;
    return { ...row, median: middle, ratio: middle / (medians[0] ?? NaN) };
  });
}

/**
 * @param {string} node
 * @param {readonly string[]} args
 * @param {Record<string, string | undefined>} env
 */
async function timeOf(node, args, env) {
  const started = process.hrtime.bigint();
  const child = spawn(node, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`node ${args.join(' ')}: exit code ${code}`);
  return Number(process.hrtime.bigint() - started) / 1e6;
}

/** @param {readonly number[]} values */
export function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}

/**
 * Prints the rows as a table; false where one is past its limit.
 * @param {readonly Measured[]} rows
 */
export function tell(rows) {
  for (const { name, median, ratio, limit } of rows) {
    const bound = limit === undefined ? '' : `  ${ratio <= limit ? 'within' : 'PAST'} ${limit.toFixed(1)} x`;
    console.log(`${name.padEnd(28)} ${median.toFixed(1).padStart(7)} ms  ${ratio.toFixed(2).padStart(5)} x${bound}`);
  }
  return rows.every(({ ratio, limit }) => limit === undefined || ratio <= limit);
}

/**
 * What a program of a person who has set nothing sees. NODE_EXTRA_CA_CERTS alone would add 31 ms to each start of Node 20.
 * @param {string} home
 * @returns {Record<string, string | undefined>}
 */
export function bareEnvironment(home) {
  return { PATH: process.env['PATH'], HOME: home };
}
