import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleOf } from '../helpers/extent.ts';
import { realAlarm, realClock } from '../../src/cli/clock.ts';
import type { Alarm, Clock } from '../../src/core/system.ts';
import { readFaults } from '../../src/sandbox/faults.ts';
import { ledgerScript, statements } from '../../src/store/ledger/ledger-sql.ts';
import { hurriedTime } from '../helpers/clock.ts';
import { openCuttingProxy, type Cut } from '../helpers/cutting-proxy.ts';
import { madeLongAgo, startPostgres, type Cluster } from '../helpers/postgres.ts';
import { needs } from '../helpers/needs.ts';
import { emptyHome, openSandbox, type RunningSandbox } from '../helpers/run.ts';
import type { SandboxOptions } from '../helpers/sandbox.ts';

/**
 * The shared ledger and a network or a database that fails, in every state of a request (docs/exactly-once.md, The
 * shared ledger).
 */

const ensure = 'license ensure --remote-user eve --size-allowance 4 --settle 100ms --timeout 20s -o json';

describe('a ledger that fails', needs('postgresql'), () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startPostgres();
    await cluster.query(ledgerScript + madeLongAgo);
  });

  afterAll(() => cluster.stop());

  const direct = (): { readonly CHATELAINE_LEDGER: string } => ({ CHATELAINE_LEDGER: cluster.url });

  async function through(cut: Cut): Promise<{
    readonly env: Readonly<Record<string, string>>;
    readonly calls: string[];
    readonly wasCut: Promise<void>;
    close(): Promise<void>;
  }> {
    const proxy = await openCuttingProxy(cluster.port, cut);
    const env = { CHATELAINE_LEDGER: `postgres://tester@127.0.0.1:${proxy.port}/postgres` };
    return { env, calls: proxy.calls, wasCut: proxy.wasCut, close: () => proxy.close() };
  }

  async function licensesOf({ run }: RunningSandbox, like = 'eve'): Promise<readonly string[]> {
    const { stdout } = await run(['license', 'list', '-o', 'json']);
    const rows = JSON.parse(stdout) as { remote_user: string }[];
    return rows.map(({ remote_user }) => remote_user).filter((user) => user.startsWith(like));
  }

  const moments = [
    { what: 'opens', at: 'open', time: 1 },
    { what: 'takes a lock', at: 'exchange', time: 2 },
    { what: 'notes a request', at: 'exchange', time: 3 },
    { what: 'notes its end', at: 'exchange', time: 4 },
    { what: 'notes what became of it, and gives the lock back', at: 'exchange', time: 5 },
  ];
  const cuts = moments.flatMap((moment) =>
    (['before', 'after'] as const).flatMap((when) =>
      (['break', 'stall'] as const).map((how) => ({ ...moment, when, how })),
    ),
  );

  // Every statement and moment is drawn in the world ledger of test/simulation.
  test.each(sampleOf(3, cuts))(
    'a $how $when the server has the statement that $what: no second license, and no hang',
    async ({ at, time, when, how }) => {
      const sandbox = await openSandbox();
      const { env, wasCut, close } = await through({ at, time, when, how });
      const alarm = how === 'stall' ? ringingAfter(wasCut) : realAlarm;
      const cut = await sandbox.run(`${ensure} --deadline 15s`, { env, clock: realClock, alarm });
      // A request that the deadline ends while its line is on the way counts as sent.
      const unsent = { exitCode: time === 3 && how === 'stall' ? 9 : 7, licenses: [] };
      const isLater = time > 3;
      expect({ exitCode: cut.exitCode, licenses: await licensesOf(sandbox) }).toEqual(
        isLater ? { exitCode: 0, licenses: ['eve'] } : unsent,
      );
      await close();
      const again = await sandbox.run(ensure, { env: direct() });
      expect({ exitCode: again.exitCode, licenses: await licensesOf(sandbox) }).toEqual({
        exitCode: 0,
        licenses: ['eve'],
      });
    },
  );

  test('after the deadline a stall ends within seconds of real time', async () => {
    const sandbox = await openSandbox();
    const { env, wasCut, close } = await through({ at: 'exchange', when: 'before', how: 'stall' });
    const atCut = ringingAfter(wasCut);
    const rung: number[] = [];
    const counted: Alarm = (span, ring) =>
      realAlarm(span, () => {
        rung.push(span);
        ring();
      });
    const alarm: Alarm = (span, ring) => (span === 15_000 ? atCut : counted)(span, ring);
    const cut = await sandbox.run(`${ensure} --deadline 15s`, { env, clock: realClock, alarm });
    expect(rung.reduce((sum, span) => sum + span, 0)).toBeLessThan(6000);
    await close();
    expect(cut.exitCode).toBe(7);
  });

  test('what ensure asks the ledger: before a creation, after it, and where the user has a license', async () => {
    const sandbox = await openSandbox();
    const { env, calls, close } = await through({ at: 'no cut', when: 'before', how: 'break' });
    await sandbox.run(ensure, { env, clock: realClock });
    const created = calls.splice(0).join(' ');
    await sandbox.run(ensure, { env, clock: realClock });
    await close();
    // The end of the session gives the lock back, if that takes less than 20 ms.
    expect(created).toMatch(/^about enter about open( exchange){6} remove( exchange)?$/);
    // PostgreSQL ends the session of the run before, and lets go of its users, a moment after that has closed it.
    expect(calls.join(' ')).toMatch(/^about enter about open exchange( holder exchange)* remove( exchange)?$/);
  });

  test.each(['restart', 'kill'] as const)(
    'a %s of the server while a POST is in progress: its answer counts',
    async (how) => {
      const { sandbox, held, release } = await holding({});
      const running = sandbox.run(ensure, { env: direct(), clock: realClock });
      await held;
      await cluster.restart(how);
      release();
      const { exitCode, stderr } = await running;
      expect({ exitCode, warned: stderr.includes('later runs do not know how the request ended') }).toEqual({
        exitCode: 0,
        warned: true,
      });
      expect((await sandbox.run(ensure, { env: direct() })).exitCode).toBe(0);
      expect(await licensesOf(sandbox)).toEqual(['eve']);
    },
  );

  test('an unconfirmed POST is settled by the list though the ledger is gone', async () => {
    const { sandbox, held, release } = await holding({ faults: readFaults('POST /v1/license/=drop-after#1', 1) });
    // After --settle a license may be of a run that took the user over.
    const running = sandbox.run(ensure.replace('100ms', '20s'), { env: direct(), clock: realClock });
    await held;
    await cluster.restart('kill');
    release();
    expect((await running).exitCode).toBe(0);
    expect(await licensesOf(sandbox)).toEqual(['eve']);
  });

  test('a POST that was not processed is not sent again without the ledger', async () => {
    const { sandbox, held, release } = await holding({ faults: readFaults('POST /v1/license/=drop-before#1', 1) });
    const running = sandbox.run(ensure, { env: direct(), clock: realClock });
    await held;
    await cluster.restart('kill');
    release();
    expect((await running).exitCode).toBe(9);
    expect(await licensesOf(sandbox)).toEqual([]);
  });

  test('apply that loses the ledger asks for nothing more, and the same command resumes', async () => {
    const sandbox = await openSandbox();
    const home = emptyHome();
    const roster = join(home, 'roster.csv');
    const users = Array.from({ length: 10 }, (_, index) => `row-${index}`);
    writeFileSync(roster, ['remote_user,size_allowance', ...users.map((user) => `${user},4`), ''].join('\n'));
    // The session that was cut leaves requests that end at their time limit at the latest.
    const apply = ['license', 'apply', roster, '--settle', '100ms', '--timeout', '2s', '-o', 'json'];
    const { env, close } = await through({ at: 'exchange', time: 6, when: 'after', how: 'break' });
    const cut = await sandbox.run(apply, { env, home });
    await close();
    expect(cut.exitCode).toBe(8);
    const before = await licensesOf(sandbox, 'row-');
    expect(new Set(before).size).toBe(before.length);
    expect(before.length).toBeLessThan(users.length);
    // The database tells its own time, for which a clock that sleeps no real time would ask without a pause.
    expect((await sandbox.run(apply, { env: direct(), home, clock: realClock })).exitCode).toBe(0);
    expect((await licensesOf(sandbox, 'row-')).toSorted()).toEqual(users.toSorted());
  });

  test('many ensures of one user on machines whose clocks differ: one license, one key', async () => {
    const sandbox = await openSandbox();
    const runs = Array.from({ length: 6 }, (_, index) => {
      const clock = { ...realClock, now: () => Date.now() + ((index % 3) - 1) * 600_000 };
      return sandbox.run(ensure, { env: direct(), clock });
    });
    const ended = await Promise.all(runs);
    expect(ended.map(({ exitCode }) => exitCode)).toEqual(ended.map(() => 0));
    // One made it, the others found it: all print one key.
    const printed = ended.map(({ stdout }) => JSON.parse(stdout) as { license_code: string; status: string });
    expect(new Set(printed.map(({ license_code }) => license_code)).size).toBe(1);
    expect(printed.filter(({ status }) => status === 'created')).toHaveLength(1);
    expect(await licensesOf(sandbox)).toEqual(['eve']);
  });

  test('a clock that jumps whenever it is read shortens no wait: the license of a POST that another machine gave up comes late', async () => {
    const ahead = (reads: number): number => ((reads % 3) - 1) * 600_000;
    const clocks = Array.from({ length: 3 }, () => {
      let reads = 0;
      return { ...realClock, now: () => Date.now() + ahead((reads += 1)) };
    });
    const [first = realClock, ...others] = clocks;
    const faults = readFaults('POST /v1/license/=delay-commit#1@900ms', 1);
    let end = (): void => undefined;
    const wasLeft = new Promise<void>((resolve) => (end = resolve));
    const sleep: Clock['sleep'] = (span, signal) => wasLeft.then(() => realClock.sleep(span, signal));
    const sandbox = await openSandbox({ faults, clock: { ...hurriedTime(), sleep } });
    const begun = realClock.elapsed();
    const line = ['license', 'ensure', '--remote-user', 'eve', '--size-allowance', '4', '--settle'];
    const given = { env: direct(), clock: first };
    const left = await sandbox.run([...line, '0s', '--retries', '0', '-o', 'json'], given);
    expect([left.exitCode, await licensesOf(sandbox)]).toEqual([9, []]);
    // The commit comes 900 ms from now, and the wait, which counts from the POST, ends later than that.
    const settle = Math.ceil(realClock.elapsed() - begun) + 1500;
    end();
    const roster = join(emptyHome(), 'roster.csv');
    writeFileSync(roster, 'remote_user,size_allowance\neve,4\n');
    const runs = [line, ['license', 'apply', roster, '--settle']].map((args, index) =>
      sandbox.run([...args, `${settle}ms`, '-o', 'json'], {
        env: direct(),
        clock: others[index] ?? realClock,
        home: emptyHome(),
      }),
    );
    expect((await Promise.all(runs)).map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(await licensesOf(sandbox)).toEqual(['eve']);
  });

  /** A sandbox that answers no request while one is recorded in the ledger, until it is released. */
  async function holding(options: Partial<SandboxOptions>) {
    let [hold, release] = [(): void => undefined, (): void => undefined];
    const held = new Promise<void>((resolve) => (hold = resolve));
    const released = new Promise<void>((resolve) => (release = resolve));
    let isReleased = false;
    const before = await runsThat('send');
    const sleep = async (): Promise<void> => {
      if (isReleased || (await runsThat('send')) === before) return;
      hold();
      await released;
    };
    const sandbox = await openSandbox({ ...options, latency: 1, clock: { ...hurriedTime(), sleep } });
    return {
      sandbox,
      /** Resolves when a POST is recorded in the ledger and has arrived. */
      held,
      release: () => {
        isReleased = true;
        release();
      },
    };
  }

  /**
   * After that, every alarm but the time-out of a request rings soon: neither the deadline nor the spans after it are
   * waited for.
   */
  function ringingAfter(moment: Promise<void>): Alarm {
    return (span, ring) => {
      let cancel = realAlarm(span, ring);
      let isOpen = true;
      void moment.then(() => {
        if (span === 20_000) return;
        cancel();
        if (isOpen) cancel = realAlarm(Math.min(span, 50), ring);
      });
      return () => {
        isOpen = false;
        cancel();
      };
    };
  }

  /** How many runs work, or have a request under way. */
  async function runsThat(what: 'work' | 'send'): Promise<number> {
    const rows = await cluster.query(statements.status);
    const active = rows.filter(({ state }) => state === 'active');
    return (what === 'work' ? active : active.filter(({ under_way }) => Number(under_way) > 0)).length;
  }
});
