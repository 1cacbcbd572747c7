import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFaults } from '../../src/sandbox/faults.ts';
import { isWhole, sampleOf } from '../helpers/extent.ts';
import { jumpingClock } from '../helpers/jumping-clock.ts';
import { emptyHome, openSandbox, type RunOptions } from '../helpers/run.ts';

/**
 * `apply` of more rows than a test has time for, in the time of the sandbox (docs/scale.md, Simulated).
 * `SCALE_ROWS=20000 npx vitest run test/faults/scale.test.ts` repeats it at the size of that page, and prints its
 * figures.
 */
const most = Number(process.env['SCALE_ROWS'] ?? (isWhole ? 600 : 60));
const second = 1000;
const minute = 60 * second;

interface Server {
  /** Requests a minute that the server allows; undefined: any number. */
  readonly limit?: number;
  readonly faults?: string;
  readonly settle: string;
  readonly concurrency: number;
  readonly rows: number;
}

/** Seconds of simulated time, the requests that were refused, and how the run ended. */
async function applied({ limit, faults, settle, concurrency, rows }: Server) {
  const clock = jumpingClock();
  const statuses = new Map<number, number>();
  const sandbox = await openSandbox({
    clock,
    latency: 50,
    log: ({ status }) => void statuses.set(Number(status), (statuses.get(Number(status)) ?? 0) + 1),
    ...(limit === undefined ? {} : { rateLimit: { licensing: limit } }),
    ...(faults === undefined ? {} : { faults: readFaults(faults, 1) }),
  });
  const home = emptyHome();
  const users = Array.from({ length: rows }, (_, index) => `scale-${index}`);
  writeFileSync(
    join(home, 'roster.csv'),
    ['remote_user,size_allowance', ...users.map((user) => `${user},4`), ''].join('\n'),
  );
  const line = `license apply ${join(home, 'roster.csv')} --settle ${settle} --concurrency ${concurrency} -q -o ndjson`;
  const given: RunOptions = { home, clock };
  const { exitCode, stderr } = await sandbox.run(line, given);
  const held = sandbox.sandbox.state.licenses().filter(({ remote_user }) => remote_user.startsWith('scale-'));
  const seconds = clock.passed() / second;
  if (process.env['SCALE_ROWS'])
    process.stderr.write(
      `${rows} rows, ${limit ?? 'no'} limit, concurrency ${concurrency}, --settle ${settle}, ${faults ?? 'no faults'}: ` +
        `${seconds.toFixed(0)} s, ${(rows / seconds).toFixed(1)} licenses a second, ${statuses.get(429) ?? 0} answers of 429, exit ${exitCode}\n`,
    );
  return {
    exitCode,
    stderr,
    licenses: new Set(held.map(({ remote_user }) => remote_user)).size,
    all: held.length,
    seconds,
  };
}

const whole = (rows: number) => ({ exitCode: 0, stderr: '', licenses: rows, all: rows });

test.each(
  sampleOf(1, [
    { limit: 300, concurrency: 4 },
    { limit: 300, concurrency: 16 },
    { limit: 60, concurrency: 16 },
  ]),
)(
  'a server that allows $limit requests a minute is the bound with --concurrency $concurrency, and no run gives up',
  async ({ limit, concurrency }) => {
    const rows = Math.max(most, limit / 2);
    const { seconds, ...result } = await applied({ limit, concurrency, settle: '5s', rows });
    expect(result).toEqual(whole(rows));
    // A look and a POST for each row.
    const least = ((2 * rows - limit) / limit) * 60;
    expect(seconds).toBeGreaterThan(least);
    expect(seconds).toBeLessThan(least * 1.1 + 75);
  },
  20 * minute,
);

test.each(
  sampleOf(1, [
    ['5s', 5],
    ['60s', 60],
  ] as const),
)(
  'a lost answer costs a lookup, and a request that was never carried out --settle %s',
  async (settle, seconds) => {
    const rows = Math.ceil(most / 3);
    const usual = await applied({ settle, concurrency: 16, rows });
    const answers = await applied({ settle, concurrency: 16, rows, faults: 'POST /v1/license/=drop-after#2' });
    const requests = await applied({ settle, concurrency: 16, rows, faults: 'POST /v1/license/=drop-before#2' });
    expect([answers, requests]).toMatchObject([whole(rows), whole(rows)]);
    // A slow server is sent one request at a time for a minute.
    expect(answers.seconds - usual.seconds).toBeLessThan(60 + 5);
    // Both are pending at once, so each waits for both.
    expect(requests.seconds - usual.seconds).toBeGreaterThan(0.9 * 2 * seconds);
    expect(requests.seconds - usual.seconds).toBeLessThan(4 * seconds + 60 + 5);
  },
  20 * minute,
);
