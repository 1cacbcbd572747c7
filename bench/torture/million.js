// A million messages (MESSAGES) of 1 KB, one a minute: `messages fetch --all` gives each once, ascending, with its peak
// of memory; a day by --since and --until is what that scan has, also across changes of daylight saving time, in at
// most 40 requests beyond its pages.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { peakOf } from '../measure.js';
import { program, serve } from '../sandbox.js';

const messages = Number(process.env['MESSAGES'] ?? 1_000_000);
const days = [
  ['a day', '2026-06-01', '2026-06-02'],
  ['the day of 23 hours in Berlin', '2026-03-29T00:00:00+01:00', '2026-03-30T00:00:00+02:00'],
  ['the day of 25 hours in Berlin', '2026-10-25T00:00:00+02:00', '2026-10-26T00:00:00+01:00'],
  ['the last hour before it', '2026-10-25T02:00:00+02:00', '2026-10-25T02:00:00+01:00'],
];
const selection = ['messages', 'fetch', '--channel', 'general', '--topic', 'load', '-o', 'ndjson'];

/** @type {import('../torture.js').Torture} */
export default async function million({ home, bare, wrongs }) {
  const { chat, stop } = await serve(bare, ['--extra-messages', String(messages), '--rate-limit', '1000000']);
  const env = { ...bare, ...chat };
  /** @type {{ id: number, timestamp: number }[]} */
  const all = [];
  const begun = performance.now();
  const peak = await fetched(env, ['--all'], (message) => all.push(message));
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`${all.length} messages in ${seconds} s, peak of memory ${(peak / 1000).toFixed(0)} MB`);
  if (all.length !== messages) wrongs.push(`${all.length} of ${messages} messages came`);
  if (!all.every(({ id }, index) => index === 0 || id > (all[index - 1]?.id ?? id))) wrongs.push('ids do not ascend');
  for (const [name = '', since = '', until = ''] of days) {
    const [from, to] = [Date.parse(since) / 1000, Date.parse(until) / 1000];
    const wanted = all.filter(({ timestamp }) => from <= timestamp && timestamp < to).map(({ id }) => id);
    /** @type {number[]} */
    const ids = [];
    const log = join(home, `${since}.log`);
    await fetched(env, ['--since', since, '--until', until, '--log', log], ({ id }) => ids.push(id));
    const requests = readFileSync(log, 'utf8').split('"event":"request"').length - 1;
    const beyond = requests - Math.ceil(wanted.length / 1000);
    console.log(`${name}: ${ids.length} messages, ${beyond} requests beyond their pages`);
    if (ids.join() !== wanted.join()) wrongs.push(`${name}: ${ids.length} messages; the scan has ${wanted.length}`);
    if (beyond > 40) wrongs.push(`${name}: ${beyond} requests beyond the pages`);
  }
  stop();
  return `${messages} messages`;
}

/**
 * Calls `take` for each message; the kernel's high-water mark of the process in KiB.
 * @param {Record<string, string | undefined>} env
 * @param {readonly string[]} options
 * @param {(message: { id: number, timestamp: number }) => void} take
 */
async function fetched(env, options, take) {
  const child = spawn(process.execPath, [program, ...selection, ...options], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, peakOf(child.pid))), 50);
  for await (const line of createInterface({ input: child.stdout })) {
    const [, id, timestamp] = /^\{"id":(\d+).*"timestamp":(\d+)/.exec(line) ?? [];
    take({ id: Number(id), timestamp: Number(timestamp) });
  }
  const [code] = await closed;
  clearInterval(timer);
  if (code !== 0) throw new Error(`${options.join(' ')}: exit code ${code}`);
  return peak;
}
