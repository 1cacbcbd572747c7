// Measures whole processes: the runs of all commands are interleaved, so that whatever else the machine does strikes
// each alike.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Command
 * @property {string} name
 * @property {readonly string[]} command
 * @property {Record<string, string | undefined>} env read at each run, after `before`
 * @property {() => Promise<void>} [before] runs before each run, outside the time
 * @property {() => void} [after] runs after each run, outside the time
 */

/**
 * Milliseconds of each run of each command, after one that warms the disk's cache.
 * @param {readonly Command[]} commands
 * @param {number} runs
 */
export async function timesOf(commands, runs) {
  /** @type {number[][]} */
  const times = commands.map(() => []);
  for (let run = 0; run <= runs; run += 1)
    for (const [index, { command, env, before, after }] of commands.entries()) {
      await before?.();
      const took = await timeOf(command, env);
      after?.();
      if (run > 0) times[index]?.push(took);
    }
  return times;
}

/**
 * @param {readonly string[]} command
 * @param {Record<string, string | undefined>} env
 */
async function timeOf([file = '', ...args], env) {
  const started = performance.now();
  const child = spawn(file, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${file} ${args.join(' ')}: exit code ${code}`);
  return performance.now() - started;
}

/**
 * Milliseconds that each run of each command took of processors, its children's with them, after one that warms the
 * disk's cache.
 * @param {readonly Command[]} commands
 * @param {number} runs
 */
export function cpuTimesOf(commands, runs) {
  /** @type {number[][]} */
  const times = commands.map(() => []);
  for (let run = 0; run <= runs; run += 1)
    for (const [index, { command, env }] of commands.entries()) {
      const line = ['-c', '"$@" > /dev/null && times >&2', 'bash', ...command];
      // Debian's own sh counts in hundredths, and cuts: 34 and 18 ms of a curl would be 40.
      const { status, stderr } = spawnSync('bash', line, { env, encoding: 'utf8' });
      // The shell's own times stand in the first line, those of its children in the second.
      const spans = [...(/[^\n]*\n?$/.exec(stderr)?.[0] ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
      if (status !== 0 || spans.length !== 2) throw new Error(`${command.join(' ')}: exit code ${status}: ${stderr}`);
      const seconds = spans.reduce((sum, [, minutes, rest]) => sum + 60 * Number(minutes) + Number(rest), 0);
      if (run > 0) times[index]?.push(1000 * seconds);
    }
  return times;
}

/** @param {readonly number[]} values */
export function median(values) {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? NaN;
}

/** The kernel's own high-water mark of a process, in KiB; 0 when it is gone. @param {number | undefined} pid */
export function peakOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/**
 * What a program of a person who has set nothing sees. NODE_EXTRA_CA_CERTS alone would add 31 ms to each start of Node
 * 20.
 * @param {string} home
 * @returns {Record<string, string | undefined>}
 */
export function bareEnvironment(home) {
  return { PATH: process.env['PATH'], HOME: home };
}
