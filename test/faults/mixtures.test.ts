import { expect, test } from 'vitest';
import { readFaults } from '../../src/sandbox/faults.ts';
import { startSandbox, type Sandbox } from '../helpers/sandbox.ts';
import { endProcess } from '../helpers/end-process.ts';
import { isWhole } from '../helpers/extent.ts';
import { emptyHome, runAgainst } from '../helpers/run.ts';
import { linkedClocks } from '../helpers/clock.ts';
import { twins } from './attempt.ts';

/** Reads meet what a repetition heals; the one request that must not be made twice meets everything. */
const rough =
  'GET *=drop-before:0.05,reset:0.03,502:0.03,504-after:0.03,cut:0.05,429-tiny:0.05,429-null:0.03;' +
  'POST *=drop-before:0.08,drop-after:0.08,reset:0.03,reset-after:0.05,502:0.03,504-after:0.05,500:0.02,500-after:0.05,' +
  'cut:0.05,429-tiny:0.05,delay-commit:0.08@3s,delay-commit-504:0.05@4s,json-garbage:0.04,empty:0.04,html:0.03;' +
  'PATCH *=drop-after:0.2,500:0.1,cut:0.1';

const roster = [
  'remote_user,size_allowance',
  ...Array.from({ length: 14 }, (_unused, index) => `mix-${index},${1 + (index % 18)}`),
  'physio-7731,9',
].join('\n');

interface Run {
  readonly exits: readonly number[];
  readonly sizes: Readonly<Record<string, readonly number[]>>;
  readonly twins: readonly string[];
}

/** The same command line again and again, as a script would, until it succeeds. */
async function untilDone(line: string, seed: number, stdin: string): Promise<Run> {
  const clock = linkedClocks();
  const sandbox = await startSandbox({ clock: clock.sandbox, faults: readFaults(rough, seed) });
  const home = emptyHome();
  const exits: number[] = [];
  try {
    while (exits.length < 12 && exits.at(-1) !== 0) {
      const ran = await runAgainst(sandbox, `${line} -o json`, { home, clock: clock.client, stdin });
      exits.push(ran.exitCode);
      endProcess(home);
      expect(ran.error?.exit ?? 0).toBe(ran.exitCode);
    }
    await sandbox.close();
    return { exits, sizes: sizesOf(sandbox), twins: twins(sandbox) };
  } finally {
    await sandbox.close();
  }
}

function sizesOf({ state }: Sandbox): Record<string, number[]> {
  const sizes: Record<string, number[]> = {};
  for (const { remote_user, size_allowance } of state.licenses()) {
    if (/^mix-|^physio-7731$/.test(remote_user)) (sizes[remote_user] ??= []).push(size_allowance);
  }
  return sizes;
}

/** The simulation (test/simulation, the worlds apply and ensure) plays thousands; these go over sockets. */
const seeds = isWhole ? [1, 2, 3, 5, 8, 13, 21, 34, 55, 89] : [1];

test.each(seeds)('license apply, repeated on a rough network, gives each user one license (seed %i)', async (seed) => {
  const { exits, ...rest } = await untilDone('license apply - --input-format csv', seed, roster);
  const wanted = Object.fromEntries(
    roster
      .split('\n')
      .slice(1)
      .map((row) => row.split(','))
      .map(([user = '', size]) => [user, [Number(size)]]),
  );
  expect(rest).toEqual({ sizes: wanted, twins: [] });
  expect(exits.slice(0, -1).filter((exit) => ![7, 8, 9].includes(exit))).toEqual([]);
  expect(exits.at(-1)).toBe(0);
});

test.each(seeds)('license ensure, repeated on a rough network, ends with one license (seed %i)', async (seed) => {
  const { exits, ...rest } = await untilDone('license ensure --remote-user mix-1 --size-allowance 4', seed * 100, '');
  expect(rest).toEqual({ sizes: { 'mix-1': [4], 'physio-7731': [4] }, twins: [] });
  expect(exits.slice(0, -1).filter((exit) => ![7, 9].includes(exit))).toEqual([]);
  expect(exits.at(-1)).toBe(0);
});
