import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { FaultKind } from '../../src/sandbox/faults.ts';
import type { Sandbox } from '../helpers/sandbox.ts';
import type { LogEntry } from '../../src/sandbox/serve.ts';
import { isWhole, sampleOf, seed } from '../helpers/extent.ts';
import { emptyHome } from '../helpers/run.ts';
import { allFaults, attempt, type Came } from './attempt.ts';
import type { Exits, Expected } from './expected.ts';

/** A command line, and which of its requests meet the fault. */
interface Case {
  readonly line: string;
  readonly stdin?: string;
  /** `METHOD /path`, as in `--fault`. */
  readonly target: string;
  /** Whether what the command is for has happened. */
  readonly isDone?: (state: Sandbox['state']) => boolean;
  /** One call that must not be made twice: a failure that is safe to repeat means that nothing was done. */
  readonly allOrNothing?: boolean;
}

interface Outcomes {
  /** Which faults came to which exit code. */
  readonly exits: Exits;
  /** Everything that must not be, with the fault that brought it about. */
  readonly wrongs: readonly string[];
}

export type Row = Case & { readonly expected: Expected };

type Times = 'once' | 'always';

const isHanging = (kind: FaultKind): boolean => kind.startsWith('hang');
/** Those that take real time are tried apart, or a busy machine would be taken for one that hangs. */
const hanging = allFaults.filter(isHanging);
const prompt = allFaults.filter((kind) => !isHanging(kind));

const both: readonly Times[] = ['once', 'always'];

/** Defines the tests of every row: what each of its faults leads to. */
export function testFaults(rows: readonly Row[]): void {
  // Seventy command lines at once: on a busy machine that takes its time.
  vi.setConfig({ testTimeout: 120_000 });
  const title = isWhole ? 'every fault' : `faults of seed ${seed}`;
  const came = (row: Row, kinds: readonly FaultKind[]): Promise<readonly Outcomes[]> =>
    Promise.all(both.map((times) => tryAll(row, times, kindsFor(rows, row, times, kinds))));
  const expected = (row: Row, kinds: readonly FaultKind[]): readonly Outcomes[] =>
    both.map((times) => expectedOf(row.expected[times], kindsFor(rows, row, times, kinds)));

  test.each(sampleOf(Math.ceil(rows.length / 2), rows))(`$line: ${title} of $target`, async (row) => {
    expect(await came(row, prompt)).toEqual(expected(row, prompt));
  });

  test(`every command ends when its requests hang, ${title}`, async () => {
    const some = sampleOf(Math.ceil(rows.length / 2), rows);
    const all = await Promise.all(some.map((row) => came(row, hanging)));
    expect(all).toEqual(some.map((row) => expected(row, hanging)));
  });
}

/** Runs the case once for each of the faults, all at the same time. */
async function tryAll(tried: Case, times: Times, kinds: readonly FaultKind[]): Promise<Outcomes> {
  const home = emptyHome();
  const outcomes = await Promise.all(
    kinds.map(async (kind) => {
      const own = join(home, kind);
      mkdirSync(join(own, 'tmp'), { recursive: true });
      const faults = `${tried.target}=${kind}${times === 'once' ? '#1' : ''}`;
      const stdin = tried.stdin === undefined ? {} : { stdin: tried.stdin };
      return { kind, came: await attempt({ line: tried.line, faults, home: own, ...stdin }) };
    }),
  );
  return {
    exits: grouped(outcomes.map(({ kind, came }) => [came.ran.exitCode, kind])),
    wrongs: outcomes.flatMap(({ kind, came }) => wrongsOf(tried, came).map((wrong) => `${kind}: ${wrong}`)),
  };
}

/** The faults that a row meets in a sample: one of every exit code that is expected of it. The seed decides which. */
function kindsFor(rows: readonly Row[], row: Row, times: Times, kinds: readonly FaultKind[]): FaultKind[] {
  const alike = rows.filter(({ expected }) => expected === row.expected);
  const turn = alike.indexOf(row) + seed + (times === 'once' ? 0 : 1);
  return Object.values(row.expected[times]).flatMap((names) => {
    const found = kinds.filter((kind) => names.split(' ').includes(kind));
    return isWhole ? found : found.filter((_kind, at) => at === turn % found.length);
  });
}

/** What is expected of those faults, in the order of the sandbox's table. */
function expectedOf(exits: Exits, kinds: readonly FaultKind[]): Outcomes {
  const all = Object.entries(exits).flatMap(([exit, names]) =>
    names.split(' ').map((name) => [Number(exit), name as FaultKind] as const),
  );
  return { exits: grouped(all.filter(([, kind]) => kinds.includes(kind))), wrongs: [] };
}

function grouped(pairs: readonly (readonly [number, FaultKind])[]): Exits {
  const exits: Record<number, FaultKind[]> = {};
  for (const [exit, kind] of pairs) (exits[exit] ??= []).push(kind);
  const order = (kind: FaultKind): number => allFaults.indexOf(kind);
  return Object.fromEntries(
    Object.entries(exits).map(([exit, kinds]) => [
      exit,
      kinds.toSorted((one, other) => order(one) - order(other)).join(' '),
    ]),
  );
}

function wrongsOf({ isDone, allOrNothing }: Case, came: Came): string[] {
  const { exitCode } = came.ran;
  const done = isDone?.(came.sandbox.state);
  const wrongs = [...came.wrongs, ...(allOrNothing ? blindRepeats(came.log) : [])];
  if (done === false && exitCode === 0) wrongs.push('success, and it is not done');
  if (done === true && allOrNothing && (exitCode === 6 || exitCode === 7))
    wrongs.push(`exit ${exitCode}, and it is done`);
  return wrongs;
}

/** Of one user: a POST may follow another only after a list, or where the other was turned away by 429. */
function blindRepeats(log: readonly LogEntry[]): string[] {
  let open = false;
  return log.flatMap(({ method, path, status }) => {
    if (path === '/v1/license/' && method === 'GET') open = false;
    if (path !== '/v1/license/' || method !== 'POST') return [];
    const wrong = open ? ['a POST was repeated without a look'] : [];
    open = status !== 429;
    return wrong;
  });
}
