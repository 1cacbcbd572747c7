import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFaults } from '../../src/sandbox/faults.ts';
import type { Sandbox } from '../helpers/sandbox.ts';
import { isWhole } from '../helpers/extent.ts';
import { needs } from '../helpers/needs.ts';
import { openService, preloaded, shell, start, temporaryHome } from './program.ts';

/** Kills the process at a write of the record; the torture of bench/torture does so at every one. */
const preload = preloaded('bench/torture/kill-at.cjs');

function rosterOf(home: string, name: string, count: number): string[] {
  const users = Array.from({ length: count }, (_unused, index) => `${name}-${index}`);
  writeFileSync(
    join(home, 'roster.csv'),
    ['remote_user,size_allowance', ...users.map((user) => `${user},3`), ''].join('\n'),
  );
  return users;
}

/** The users of the licenses whose names begin so, each as often as it has a license. */
function holders({ state }: Sandbox, name: string): string[] {
  return state
    .licenses()
    .flatMap(({ remote_user }) => (remote_user.startsWith(`${name}-`) ? [remote_user] : []))
    .toSorted();
}

describe('kill -9', needs('signals'), () => {
  const rows = isWhole ? 300 : 30;

  // Every call of a run is a moment in the world apply of test/simulation.
  const moments = isWhole
    ? ['1:before', '2:after', '3:torn', '4:unsynced', '5:after', '6:before']
    : ['2:torn', '3:after'];

  test(`at writes of the record, ${rows} rows, a server that drops and commits late: one license for each`, async () => {
    const faults = 'drop-before:0.05,drop-after:0.05,502:0.03,429:0.02@100ms,delay-commit:0.02@300ms,cut:0.02';
    const { sandbox, env } = await openService({ faults: readFaults(`POST /v1/license/=${faults}`, 3) });
    const home = temporaryHome();
    const users = rosterOf(home, 'kill', rows);
    const apply = 'license apply roster.csv -o ndjson -q --settle 600ms';
    for (const moment of moments) {
      const kill = { ...preload, KILL_AT: moment };
      const killed = await start(apply, { env: { ...env, ...kill }, home }).ended;
      expect(`${moment} ${killed.signal ?? killed.code}`).toBe(`${moment} SIGKILL`);
    }
    const last = await start(apply, { env, home }).ended;

    expect({ code: last.code, stderr: last.stderr }).toEqual({ code: 0, stderr: '' });
    expect(last.stdout.trimEnd().split('\n')).toHaveLength(rows);
    expect(holders(sandbox, 'kill')).toEqual(users.toSorted());
    const history = await start('license history --fields remote_user,change', { env, home }).ended;
    expect(history.stdout.match(/^kill-\d+\tcreated$/gm)).toHaveLength(rows);
  });
});

test.each([
  ['EIO', 3, 'refused by the test', []],
  ['EINVAL', 0, '', ['sync-1']],
])(
  'where a folder cannot be synced (%s), no request is sent whose record a power cut could lose',
  async (code, exit, said, made) => {
    const { sandbox, env } = await openService();
    const home = temporaryHome();
    const disk = { ...preloaded('test/store/odd-disk.cjs'), ODD_DISK: `folder-sync=${code}` };
    const line = 'license ensure --remote-user sync-1 --size-allowance 4 -q --settle 100ms';

    const done = await start(line, { env: { ...env, ...disk }, home }).ended;

    expect([done.code, holders(sandbox, 'sync')]).toEqual([exit, made]);
    expect(done.stderr).toContain(said);
  },
);

describe('many at once', () => {
  const count = isWhole ? 8 : 4;

  test('processes that ensure one license at once make one, and print its key', async () => {
    const { sandbox, env } = await openService({ faults: readFaults('POST /v1/license/=drop-after:0.5', 2) });
    const home = temporaryHome();
    const line = 'license ensure --remote-user many-0 --size-allowance 4 --settle 500ms -q';

    const done = await Promise.all(Array.from({ length: count }, () => start(line, { env, home }).ended));

    expect(holders(sandbox, 'many')).toEqual(['many-0']);
    const key = sandbox.state.licenses().find(({ remote_user }) => remote_user === 'many-0')?.license_code;
    expect(done.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
      done.map(() => ({ code: 0, stdout: `${key ?? ''}\n` })),
    );
  });
});

describe('a state folder on a disk that is full', needs('mounts'), () => {
  test('ends the run with what is left, and the same command resumes when there is room', needs('shell'), async () => {
    const { sandbox, env } = await openService();
    const home = temporaryHome();
    const users = rosterOf(home, 'disk', 60);
    const state = join(home, '.local/state');
    const script = [
      `mkdir -p ${state} && mount -t tmpfs -o size=12k tmpfs ${state}`,
      'chatelaine license apply roster.csv -o ndjson > first; echo "first:$?"',
      `mount -o remount,size=8m ${state}`,
      'chatelaine license apply roster.csv -o ndjson --settle 300ms > last; echo "last:$?"; wc -l < last; grep -c created first',
    ].join('; ');
    writeFileSync(join(home, 'script.sh'), `chatelaine() { "$NODE" "$PROGRAM" "$@"; }; ${script}`);

    const done = await shell('unshare -rm bash script.sh', { env, home }).ended;

    const [first, last, rows, created] = done.stdout.trimEnd().split('\n');
    expect([first, last, rows]).toEqual(['first:8', 'last:0', '60']);
    expect(done.stderr).toMatch(/disk full: cannot write \S*/);
    expect(Number(created)).toBeGreaterThan(0);
    expect(holders(sandbox, 'disk')).toEqual(users.toSorted());
  });
});
