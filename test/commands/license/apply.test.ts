import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/core/failure.ts';
import { readFaults } from '../../../src/sandbox/faults.ts';
import type { Sandbox, SandboxOptions } from '../../helpers/sandbox.ts';
import { emptyHome, openSandbox, runAlone, type Ran, type RunOptions } from '../../helpers/run.ts';
import { warnOfNames } from '../../../src/commands/license/license-roster.ts';
import { realClock } from '../../../src/cli/clock.ts';
import { endProcess } from '../../helpers/end-process.ts';
import { isWhole, sampleOf } from '../../helpers/extent.ts';
import { licensingWorld } from '../../helpers/licensing-world.ts';

interface Row {
  readonly remote_user: string;
  readonly app_code: number;
  readonly size_allowance: number;
  readonly status: string;
  readonly license: { readonly license_code: string } | null;
  readonly error: string | null;
}

/** A service of its own for several runs from one home, in a time that only sleeping moves. */
async function service({ fault, licenseShape, ...options }: Partial<SandboxOptions> & { fault?: string } = {}) {
  const { run, runElsewhere, ...world } = await licensingWorld(licenseShape, fault, options);
  const apply = (words: string, stdin: string, given: RunOptions = {}) =>
    run(`license apply - ${words}`, { stdin, ...given });
  return { ...world, run: runElsewhere, apply, writes: () => world.log.filter(({ method }) => method !== 'GET') };
}

function users(count: number, name = 'user'): string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index}`);
}

function csv(names: readonly string[], size = 4): string {
  return ['remote_user,size_allowance', ...names.map((name) => `${name},${size}`), ''].join('\n');
}

/** A row whose license has another size. */
const resized = 'physio-7740,9\n';

function rowsOf({ stdout }: Ran): Row[] {
  return JSON.parse(stdout) as Row[];
}

function statuses(ran: Ran): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of rowsOf(ran)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** How many licenses each of the users has, of what size. */
function held({ state }: Sandbox, names: readonly string[]): (readonly number[])[] {
  const sizes = new Map<string, number[]>(names.map((name) => [name, []]));
  for (const { remote_user, size_allowance } of state.licenses()) sizes.get(remote_user)?.push(size_allowance);
  return [...sizes.values()];
}

/** Where the summary says that the licenses are. */
function on({ licensing }: Sandbox): string {
  return ` on ${new URL(licensing.base_url).host}, application 4711`;
}

/** The warning of a roster of these users. */
function warningOf(names: readonly string[]): string {
  const warnings: string[] = [];
  const rows = names.map((remote_user) => ({ remote_user, app_code: 7, size_allowance: 4 }));
  const lines = rows.map((_, index) => index + 2);
  warnOfNames({ rows, lines }, 'standard input', (text) => void warnings.push(text));
  return warnings.join('\n');
}

const each = (names: readonly string[], size = 4) => names.map(() => [size]);

describe('the file', () => {
  test('the fields of a row have one order, whatever the order and the columns of the file', async () => {
    const { apply } = await service();

    const runs = [
      await apply('-o json', 'size_allowance,app_code,remote_user\n4,4711,ada\n'),
      await apply('-o json', 'size_allowance,remote_user\n4,ben\n'),
    ];

    expect(runs.flatMap(rowsOf).map((row) => Object.keys(row).join())).toEqual(
      runs.map(() => 'remote_user,app_code,size_allowance,status,license,change,size_allowance_before,error'),
    );
  });

  test.each(['', '--dry-run'])('other columns are carried through with --keep-columns %s', async (words) => {
    const { apply } = await service();

    const ran = await apply(
      `--keep-columns ${words} -o csv --fields remote_user,Mail,roster_status`,
      'Mail,Status,Remote User,size allowance\na@x.org,new,ada,3\n,,ben,4\n',
    );

    expect({ exitCode: ran.exitCode, lines: ran.stdout.trim().split('\n').sort() }).toEqual({
      exitCode: 0,
      lines: ['ada,a@x.org,new', 'ben,,', 'remote_user,Mail,roster_status'],
    });
  });

  test('every bad line is named, and nothing is sent', async () => {
    const { apply, log, home } = await service();
    const text = [
      'remote_user,size_allowance,app_code',
      'ada,4,4711',
      'ada,5,4711',
      '"two\r\nlines",0,4711',
      'short',
      ',4,4711',
      'müller,4,4711',
      `${'x'.repeat(128)},4,4711`,
      'grace,19,4711',
      'joan,4.5,4711',
      'mary,,4711',
      'kate,4,x',
      'long,4,4711,9',
    ].join('\n');

    const ran = await apply('-o json', text);

    expect(ran.error?.problems).toEqual([
      "standard input:3: user 'ada' is already on line 2",
      'standard input:4: remote_user holds a line break',
      'standard input:6: size_allowance is missing',
      'standard input:7: remote_user is missing',
      "standard input:8: remote_user: 'ü' in 'müller': only ASCII characters are allowed",
      'standard input:9: remote_user: 128 characters; must be below 128',
      'standard input:10: size_allowance: 19 is out of range; must be 1 to 18',
      "standard input:11: size_allowance: '4.5' is not a whole number, 1 to 18",
      'standard input:12: size_allowance is missing',
      "standard input:13: app_code: 'x' is not a whole number",
      'standard input:14: 4 cells, and the header has 3',
    ]);
    expect({ exitCode: ran.exitCode, stdout: ran.stdout, log }).toEqual({ exitCode: 2, stdout: '', log: [] });
    expect(readdirSync(home)).toEqual(['tmp']);
  });

  test.each([
    ['that repeats by the own application', 'u1,3,4711\nu1,4,\nu3,44,', [3, 4]],
    [
      'that repeats by the own application, and one that repeats it unchanged',
      'u1,3,4711\nu1,4,\nu2,3,1\nu2,3,1',
      [3, 5],
    ],
  ])('a row %s is named with the others', async (_what, rows, lines) => {
    const { apply, log } = await service();

    const ran = await apply('-o json', `remote_user,size_allowance,app_code\n${rows}\n`);

    expect(ran.exitCode).toBe(2);
    expect(ran.error?.problems?.map((line) => Number(/^standard input:(\d+):/.exec(line)?.[1]))).toEqual(lines);
    expect(log).toEqual([]);
  });

  test('bad rows are named even where no credential is stored', async () => {
    const ran = await runAlone('license apply - -o json', { stdin: 'remote_user,size_allowance\na,0\nb,1\nc,0\n' });

    expect({ exitCode: ran.exitCode, lines: ran.error?.problems?.map((line) => line.slice(0, 17)) }).toEqual({
      exitCode: 2,
      lines: ['standard input:2:', 'standard input:4:'],
    });
  });

  test('what license list prints is read back unchanged', async () => {
    const { apply, run, writes } = await service();
    for (const format of ['csv', 'ndjson', 'json']) {
      const { stdout } = await run(`license list -o ${format}`);

      const ran = await apply('-o json', stdout);

      expect({ exitCode: ran.exitCode, statuses: statuses(ran) }).toEqual({ exitCode: 0, statuses: { unchanged: 6 } });
    }
    expect(writes()).toEqual([]);
  });

  test('what excel prints names each user that it has changed, and gives nobody a second license', async () => {
    const { apply, run, writes } = await service();
    for (const user of ['+49151', '@ben', '=ada', 'Doe,-Ann'])
      await run(`license ensure --remote-user ${user} --size-allowance 4 --trust-list`);
    const before = writes().length;
    const { stdout } = await run('license list -o excel');

    const ran = await apply('-o json', stdout);

    expect(ran.exitCode).toBe(2);
    const reason = 'has an apostrophe as -o excel puts one before what could be a formula';
    expect(ran.error?.problems).toEqual(
      ["'+49151", "'@ben", "'=ada", "Doe,'-Ann"].map(
        (user, at) => `standard input:${at + 8}: remote_user: ${user} ${reason}`,
      ),
    );
    expect(writes()).toHaveLength(before);
  });
});

describe('a list of names', () => {
  test('with --size-allowance each line is a user of that size, with a header or without', async () => {
    const { apply } = await service();
    const rows = async (text: string) =>
      rowsOf(await apply('-n -o json --size-allowance 4', text)).map((row) => [
        row['remote_user'],
        row['size_allowance'],
      ]);

    expect(await rows('ada\n"Doe, Ben"\n\ncleo\n')).toEqual([
      ['ada', 4],
      ['Doe, Ben', 4],
      ['cleo', 4],
    ]);
    expect(await rows('Remote User\nada\n')).toEqual([['ada', 4]]);
    expect(await rows('remote_user,size_allowance\nada,\nben,6\n')).toEqual([
      ['ada', 4],
      ['ben', 6],
    ]);
  });

  test('a first line that may be a header is refused, and --column says that it is one', async () => {
    const { apply, writes } = await service();

    const ran = await apply('-o json --size-allowance 4', 'Login\nada\n');
    const named = await apply('-n -o json --size-allowance 4 --column remote_user=Login', 'Login\nada\n');

    expect(ran).toMatchObject({
      exitCode: 2,
      error: {
        message: "standard input: line 1: 'Login' may be a user or a header",
        hint: 'If it is a header, give --column remote_user=Login; if it is a user, write remote_user on a line above it.',
      },
    });
    expect(rowsOf(named).map((row) => row['remote_user'])).toEqual(['ada']);
    expect(writes()).toEqual([]);
  });

  test('without --size-allowance there is no list of names, and bad lines are named with their number', async () => {
    const { apply } = await service();

    const unsized = await apply('-n -o json', 'ada\nben\n');
    const bad = await apply('-n -o json --size-allowance 4', 'ada\nben,6\nada\n');

    expect(unsized.error?.message).toBe('standard input: the header lacks remote_user and size_allowance; it has ada');
    expect(bad.error?.problems).toEqual([
      'standard input:2: 2 cells, and the header has 1',
      "standard input:3: user 'ada' is already on line 1",
    ]);
  });
});

describe('the plan', () => {
  const text = 'remote_user,size_allowance\nphysio-7731,4\nphysio-7740,9\nada,3\n';

  test('a dry run shows it, and sends no write', async () => {
    const { apply, writes, home } = await service();

    const ran = await apply('--dry-run -o csv', text);

    expect(ran.stdout.split('\n')).toEqual([
      'remote_user,app_code,size_allowance,status,license_code,change,error',
      expect.stringMatching(/^physio-7731,4711,4,unchanged,[-0-9A-Z]+,,$/),
      expect.stringMatching(/^physio-7740,4711,9,resize,[-0-9A-Z]+,4 -> 9,$/),
      'ada,4711,3,create,,,',
      '',
    ]);
    expect({ exitCode: ran.exitCode, writes: writes() }).toEqual({ exitCode: 0, writes: [] });
    expect(readdirSync(home)).toEqual(['tmp']);
  });

  test('--exit-code tells whether anything would change', async () => {
    const { apply } = await service();
    expect((await apply('--dry-run --exit-code', text)).exitCode).toBe(10);
    expect((await apply('', text)).exitCode).toBe(0);
    expect((await apply('--dry-run --exit-code', text)).exitCode).toBe(0);
    expect((await apply('--exit-code', text)).exitCode).toBe(2);
  });

  test('is carried out and reported row by row; a second run changes nothing', async () => {
    const { apply, sandbox, writes } = await service();

    const ran = await apply('-o tsv', text);

    expect(ran.stdout.split('\n').sort()).toEqual([
      '',
      expect.stringMatching(/^ada\t4711\t3\tcreated\t[-0-9A-Z]+\t\t$/),
      expect.stringMatching(/^physio-7731\t4711\t4\tunchanged\t[-0-9A-Z]+\t\t$/),
      expect.stringMatching(/^physio-7740\t4711\t9\tresized\t[-0-9A-Z]+\t4 -> 9\t$/),
      'remote_user\tapp_code\tsize_allowance\tstatus\tlicense_code\tchange\terror',
    ]);
    expect(ran.lines).toEqual([
      `1 created, 1 resized, 1 unchanged${on(sandbox)}`,
      expect.stringMatching(/^undo: chatelaine license undo [0-9A-Z]{4}$/),
    ]);
    expect(held(sandbox, ['ada', 'physio-7731', 'physio-7740'])).toEqual([[3], [4], [9]]);
    expect(
      writes()
        .map(({ method }) => method)
        .sort(),
    ).toEqual(['PATCH', 'POST']);
    expect(statuses(await apply('-o json', text))).toEqual({ unchanged: 3 });
  });

  test.each([
    [20, 1 + 20],
    // Of more the plan says that they are not looked up.
    [21, 1],
  ])('of %i users costs %i requests: a few who have no license are looked up', async (count, requests) => {
    const { apply, log } = await service();

    await apply('--dry-run', csv(users(count)));

    expect(log).toHaveLength(requests);
  });

  test('of several licenses the fitting one is kept, else the first resized; none is made', async () => {
    const { apply, sandbox, run } = await service();
    for (const size of [2, 5]) await run(`license create --remote-user twin --size-allowance ${size}`);
    for (const size of [2, 5]) await run(`license create --remote-user other --size-allowance ${size}`);

    const text = 'remote_user,size_allowance\ntwin,5\nother,7\n';
    const plan = await apply('--dry-run -o json', text);
    const ran = await apply('-o json', text);

    expect(plan.lines.filter((line) => line.includes('license view --remote-user'))).toHaveLength(2);
    expect(rowsOf(ran).map(({ status }) => status)).toEqual(['unchanged', 'resized']);
    expect(held(sandbox, ['twin', 'other'])).toEqual([
      [2, 5],
      [7, 5],
    ]);
    expect(ran.lines.filter((line) => line.includes('license view --remote-user'))).toHaveLength(2);
  });

  test.each(
    sampleOf(3, [
      ['an array', {}],
      ['pages', { list_shape: 'pages', page_size: 7 }],
      ['wrapped', { list_shape: 'licenses' }],
      ['filters without effect', { filters: 'ignored' }],
      ['nothing after a POST', { write_shape: 'no-content' }],
      ['an empty text after a POST', { write_shape: 'empty', keyField: 'code' }],
    ] as const),
  )('on a server whose lists are %s, twice is once', async (_what, licenseShape) => {
    const { apply, sandbox } = await service({ licenseShape });
    const names = users(8);

    const first = await apply('-o json --trust-list', csv(names));
    const second = await apply('-o json', csv(names));

    expect([first.exitCode, second.exitCode]).toEqual([0, 0]);
    expect(held(sandbox, names)).toEqual(each(names));
  });
});

test('ten new users: two lists, one lookup a creation, three more for the first, and two forms of those beside it', async () => {
  const { apply, log } = await service();

  expect((await apply('-y -q', csv(users(10)))).exitCode).toBe(0);

  expect(log.filter(({ method }) => method === 'GET')).toHaveLength(2 + 10 + 3 + 2 * 3);
});

describe('faults', () => {
  const writes = 'drop-before:0.05,drop-after:0.05,502:0.03,429:0.02,delay-commit:0.02@3s,cut:0.02';
  const reads = 'drop-before:0.05,502:0.03,429:0.02,cut:0.03';

  test('many rows through drops, late commits, pages of a proxy and cut answers: one license for each', async () => {
    const {
      apply,
      sandbox,
      writes: sent,
    } = await service({
      faults: readFaults(`POST /v1/license/=${writes};PATCH /*=${writes};GET /*=${reads}`, 7),
    });
    const names = users(isWhole ? 300 : 60);

    const ran = await apply('-o json', csv(names));

    const created = names.length;
    expect({ exitCode: ran.exitCode, statuses: statuses(ran) }).toEqual({ exitCode: 0, statuses: { created } });
    expect(held(sandbox, names)).toEqual(each(names));
    // Eight of 115 on average: which requests meet a fault depends on the order in which they come.
    expect(sent().filter(({ fault }) => fault === 'drop-after' || fault === 'delay-commit').length).toBeGreaterThan(0);
  });

  test.each(
    sampleOf(2, 'drop-after cut 502-after 500-after json-garbage delay-commit@3s empty reset-after'.split(' ')),
  )('every POST answered with %s: the list settles them all', async (kind) => {
    const { apply, sandbox } = await service({ fault: `POST /v1/license/=${kind}` });
    const names = users(6);

    const ran = await apply('-o json -q', csv(names));

    expect(statuses(ran)).toEqual({ created: 6 });
    expect({ exitCode: ran.exitCode, stderr: ran.stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(held(sandbox, names)).toEqual(each(names));
  });

  test.each(['502', 'drop-before', 'html', '429-long'])(
    'a list that never comes (%s) is exit 7, and nothing is changed',
    async (kind) => {
      const { apply, writes: sent } = await service({ fault: `GET /*=${kind}` });

      const ran = await apply('-o json', csv(users(30)));

      expect({ exitCode: ran.exitCode, stdout: ran.stdout, sent: sent() }).toEqual({
        exitCode: 7,
        stdout: '',
        sent: [],
      });
    },
  );

  test('a server that stops answering after the list leaves only a few rows unconfirmed', async () => {
    const { apply, log, sandbox } = await service({ fault: 'POST /v1/license/=504;GET /*=502#999+25' });
    const names = users(60);

    const ran = await apply('-o json', csv(names));

    expect(ran.exitCode).toBe(9);
    // One a worker at most.
    expect(ran.error?.message).toMatch(/; [1-4] unknown, 5[6-9] not done/);
    expect(log.filter(({ method }) => method === 'POST').length).toBe(statuses(ran)['unknown']);
    expect(held(sandbox, names)).toEqual(names.map(() => []));
  });

  test('a refused key stops the run', async () => {
    const { apply } = await service();

    const ran = await apply('-o json', csv(users(30)), { env: { CHATELAINE_API_KEY: 'wrong' } });

    expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode: 4, stdout: '' });
  });

  test('a row that is refused fails alone, with its reason in every format', async () => {
    const { apply, sandbox } = await service({ fault: 'PATCH /*=redirect-307#1' });
    const roster = `${csv(users(5))}${resized}`;

    const ran = await apply('--concurrency 1 -o csv', roster);

    expect(ran.exitCode).toBe(8);
    expect(ran.stdout.split('\n')[6]).toMatch(/^physio-7740,4711,9,failed,,,"the server redirects to/);
    expect(ran.lines).toContain(`chatelaine: 5 created, 1 failed${on(sandbox)}`);
    expect(statuses(await apply('-o json', roster))).toEqual({ unchanged: 5, resized: 1 });
  });

  test('an error inside 200 that created nothing is settled by the list, and the request is sent again', async () => {
    const { apply, sandbox } = await service({ fault: 'POST /v1/license/=error-in-200#1' });

    const ran = await apply('-o json', csv(['ada']));

    expect({ exitCode: ran.exitCode, statuses: statuses(ran), held: held(sandbox, ['ada']) }).toEqual({
      exitCode: 0,
      statuses: { created: 1 },
      held: [[4]],
    });
  });

  test('a 429 makes all workers wait', async () => {
    const { apply, time, log } = await service({ rateLimit: { licensing: 20 } });
    const names = users(24);

    const ran = await apply('-o json', csv(names));

    expect({ exitCode: ran.exitCode, statuses: statuses(ran) }).toEqual({ exitCode: 0, statuses: { created: 24 } });
    const refused = log.filter(({ status }) => status === 429).length;
    expect(refused).toBeGreaterThan(1);
    // Each refusal of one worker may find three others in progress; no more are sent before the wait is over.
    expect(refused).toBeLessThanOrEqual(time.slept.length * 4);
  });

  test('--retries 0: a row that is refused with 429 fails, and the same command resumes', async () => {
    const { apply, sandbox } = await service({ fault: 'POST /v1/license/=429#2+3' });
    const names = users(8);

    const first = await apply('--retries 0 -o json', csv(names));
    const second = await apply('--retries 0 -o json', csv(names));

    expect({ exitCode: first.exitCode, failed: statuses(first)['failed'] }).toEqual({ exitCode: 8, failed: 2 });
    expect(second.exitCode).toBe(0);
    expect(held(sandbox, names)).toEqual(each(names));
  });
});

describe('an early end', () => {
  test('Ctrl-C is exit 130; the same command resumes, and no user gets two licenses', async () => {
    const names = users(16);
    const stop = new AbortController();
    let posts = 0;
    const { apply, sandbox, home } = await service({
      fault: 'POST /v1/license/=delay-commit:0.2@3s',
      log: ({ method }) => {
        if (method === 'POST' && (posts += 1) === 8) stop.abort(new Failure('cancelled', 'interrupted'));
      },
    });

    const first = await apply('-o json', csv(names), { interrupt: stop.signal });
    const done = held(sandbox, names).filter((sizes) => sizes.length > 0).length;
    endProcess(home);
    const second = await apply('-o json', csv(names));

    expect(first.exitCode).toBe(130);
    expect(done).toBeGreaterThan(1);
    expect(done).toBeLessThan(16);
    expect({ exitCode: second.exitCode, rows: rowsOf(second).length }).toEqual({ exitCode: 0, rows: 16 });
    expect(held(sandbox, names)).toEqual(each(names));
  });

  test.each([
    ['a write, of which it leaves some unconfirmed,', 9, 'POST', 4],
    ['a lookup', 8, 'GET', 1],
  ])('the deadline in %s is exit %i, and the same command resumes', async (_where, exit, during, workers) => {
    const names = users(16);
    let posts = 0;
    let reach: () => void = () => undefined;
    const { apply, sandbox, home } = await service({
      latency: 20,
      log: ({ method }) => {
        if (method === 'POST') posts += 1;
        if (posts === 8 && method === during) reach();
      },
    });
    const alarm: RunOptions['alarm'] = (span, ring) => {
      if (span === 1000) reach = ring;
      return () => undefined;
    };

    const first = await apply(`-o json --deadline 1s --concurrency ${workers}`, csv(names), { alarm });
    endProcess(home);
    const second = await apply('-o json', csv(names));

    // A row that was sent nothing is not done, and has not failed.
    const { created = 0, unknown = 0, failed = 0 } = statuses(first);
    expect([first.exitCode, unknown > 0, unknown <= workers, created > 0]).toEqual([exit, exit === 9, true, true]);
    expect([created + unknown < names.length, failed]).toEqual([true, 0]);
    expect(first.error?.message).toContain('the deadline of 1s was reached');
    expect(second.exitCode).toBe(0);
    expect(held(sandbox, names)).toEqual(each(names));
  });

  test('a server that cannot be reached is exit 7 after the retries, and no row is unconfirmed', async () => {
    const { apply, sandbox, time } = await service();
    await sandbox.close();

    const ran = await apply('-o json', csv(users(30)));

    expect(ran.exitCode).toBe(7);
    expect(ran.error?.message).toContain('ECONNREFUSED');
    expect(time.slept.reduce((sum, span) => sum + span, 0)).toBeLessThan(16_000);
    expect((await apply('-o json --retries 0', csv(users(30)))).exitCode).toBe(7);
  });

  test('of six created rows six lines are left, in the history', async () => {
    const { apply, home } = await service();
    const state = join(home, '.local/state/chatelaine');
    await apply('-q', csv(users(6)));

    const files = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));
    expect(files).toEqual(['history-2026.ndjson']);
    expect(readFileSync(join(state, 'history-2026.ndjson'), 'utf8').trimEnd().split('\n')).toHaveLength(6);
  });
});

describe('where it may run', () => {
  test('where the state folder cannot be written, requests are recorded elsewhere, with one warning', async () => {
    const { apply, home } = await service();
    mkdirSync(join(home, '.local'));
    writeFileSync(join(home, '.local/state'), 'a file');

    const ran = await apply('', csv(users(3)));

    expect(ran.exitCode).toBe(0);
    expect(ran.lines.filter((line) => line.includes('XDG_STATE_HOME'))).toHaveLength(1);
  });

  test('two runs at once of files with the same users give each user one license', async () => {
    const names = users(8);
    const { apply, sandbox } = await service();

    // In the time of tests a run that waits for a user would take the other for one that has stopped.
    const given = { clock: realClock };
    const both = [names, names.toReversed()].map((users) => apply('-o json', csv(users), given));
    const runs = await Promise.all(both);

    expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    const all = runs.map(statuses);
    expect(all.reduce((sum, { created = 0 }) => sum + created, 0)).toBe(8);
    expect(all.reduce((sum, { unchanged = 0 }) => sum + unchanged, 0)).toBe(8);
    expect(held(sandbox, names)).toEqual(each(names));
  });

  test('a read-only profile is exit 3 before anything is sent', async () => {
    const { run, log, home, sandbox } = await service();
    const login = `auth login licensing --base-url ${sandbox.licensing.base_url} --app-code 4711 --api-key-stdin --read-only`;
    await run(login, { home, bare: true, stdin: 'sandbox-key-of-app-4711\n' });
    const before = log.length;

    const ran = await run('license apply - -o json', { home, bare: true, stdin: csv(users(3)) });

    expect({ exitCode: ran.exitCode, sent: log.length - before }).toEqual({ exitCode: 3, sent: 0 });
    expect(ran.error?.message).toContain('read-only');
  });

  test('app_code picks the key of that stored app', async () => {
    const { run, home, sandbox, writes } = await service();
    for (const code of [4711, 4712])
      await run(
        `auth login licensing --base-url ${sandbox.licensing.base_url} --app-code ${code} --name app-${code} --api-key-stdin`,
        { home, bare: true, stdin: `sandbox-key-of-app-${code}\n` },
      );
    const stdin = 'remote_user,size_allowance,app_code\nada,3,4711\nada,5,4712\ngrace,2,\n';

    const ran = await run('license apply - -o json --profile app-4712', { home, bare: true, stdin });
    const good = await run('license apply - -o json --app-code 4712', { home, bare: true, stdin });

    expect(rowsOf(ran).map(({ status }) => status)).toEqual(['created', 'created', 'created']);
    expect(ran.stderr).toMatch(/3 created on \S+, applications 4711, 4712 \(profile app-4711, profile app-4712\)$/m);
    expect({
      exitCode: good.exitCode,
      rows: rowsOf(good).map(({ remote_user, app_code, status }) => [remote_user, app_code, status]),
    }).toEqual({
      exitCode: 0,
      rows: expect.arrayContaining([
        ['ada', 4711, 'unchanged'],
        ['ada', 4712, 'unchanged'],
        ['grace', 4712, 'unchanged'],
      ]) as unknown,
    });
    expect(writes().filter(({ status }) => status === 201)).toHaveLength(3);
    const undo = await run('license undo --dry-run', { home, bare: true });
    expect(undo.stderr).toContain('The run created 3 licenses, which cannot be undone: ada, ada, grace.');
    const strange = await run('license apply - -o json', {
      home,
      bare: true,
      stdin: 'remote_user,size_allowance,app_code\nada,3,99\n',
    });
    expect(strange.exitCode).toBe(3);
  });

  test.each(['', '--dry-run'])(
    'a row of an application that is neither that of the environment nor stored is exit 3, and nothing is sent %s',
    async (words) => {
      const { apply, log } = await service();
      const ran = await apply(`-o json ${words}`, 'remote_user,size_allowance,app_code\nada,3,4711\nben,3,55\n');
      expect([ran.exitCode, ran.error?.message, log]).toEqual([3, 'no stored app has the code 55', []]);
    },
  );

  test('a stored app without its key is exit 3 before anything is sent, in a dry run too', async () => {
    const { run, home, sandbox, log } = await service();
    const login = `auth login licensing --base-url ${sandbox.licensing.base_url} --no-check --api-key-stdin`;
    await run(`${login} --app-code 55 --name other`, { home, bare: true, stdin: 'k-of-another-app\n' });
    const folder = join(home, '.config/chatelaine');
    writeFileSync(join(folder, 'credentials.json'), '{}');
    const stdin = 'remote_user,size_allowance,app_code\nada,3,4711\nben,3,55\n';
    for (const words of ['', '--dry-run'])
      expect((await run(`license apply - ${words}`, { home, stdin })).exitCode).toBe(3);
    expect(log).toEqual([]);
  });

  const choices: readonly (readonly [
    string,
    (name: string) => { readonly words: string; readonly env: Readonly<Record<string, string>> },
  ])[] = [
    ['--profile', (name) => ({ words: `--profile ${name}`, env: {} })],
    ['CHATELAINE_PROFILE', (name) => ({ words: '', env: { CHATELAINE_PROFILE: name } })],
    ['the default', () => ({ words: '', env: {} })],
  ];

  test.each(sampleOf(1, choices))('of two stored apps with one code %s decides', async (_what, chosen) => {
    const { run, home, sandbox } = await service();
    const stdin = 'sandbox-key-of-app-4711\n';
    for (const name of ['production', 'staging'])
      await run(
        `auth login licensing --base-url ${sandbox.licensing.base_url} --app-code 4711 --name ${name} --api-key-stdin`,
        { home, bare: true, stdin },
      );
    await run('auth use staging', { home, bare: true });
    const { words, env } = chosen('staging');
    const text = 'remote_user,size_allowance,app_code\nada,3,\nben,3,4711\n';
    const roster = join(home, 'users.csv');
    const sensors = join(home, 'sensors.csv');
    writeFileSync(roster, text);
    writeFileSync(sensors, 'mac_address,remote_user,app_code\nD422CD000301,clinic-north/ward-3,4711\n');

    const runs = [
      await run(`license apply - -o json ${words}`, { home, bare: true, env, stdin: text }),
      await run(`license audit --roster ${roster} ${words}`, { home, bare: true, env }),
      await run(`first-activation audit ${sensors} ${words}`, { home, bare: true, env }),
    ];

    expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 10, 0]);
  });
});

describe('what is shown', () => {
  test('on a terminal a plan that creates is asked about once, before anything is claimed', async () => {
    const { apply, run, writes, home, time, sandbox } = await service();
    const answer = (words: string, names: readonly string[], stdin: string) => {
      writeFileSync(join(home, 'roster.csv'), csv(names));
      return run(`license apply ${join(home, 'roster.csv')} ${words}`, { home, stdin, tty: true, clock: time.client });
    };

    const no = await answer('', users(1), 'n\n');
    expect({ exitCode: no.exitCode, writes: writes().length }).toEqual({ exitCode: 130, writes: 0 });
    expect(no.stderr).toContain(`1 to create${on(sandbox)} (credentials of the environment).\nContinue? [y/N]`);
    expect(no.lines.findIndex((line) => /^ {0,2}\+ create +\S+ +size \d+$/.test(line))).toBeGreaterThanOrEqual(0);
    expect(no.stderr.indexOf('create ')).toBeLessThan(no.stderr.indexOf('Continue?'));
    expect(
      readdirSync(join(home, '.local/state/chatelaine')).filter((name) => !/^(journals|live|locks)$/.test(name)),
    ).toEqual([]);
    expect(time.slept).toEqual([]);

    const yes = await answer('', users(22), 'y\n');
    expect([yes.exitCode, writes().length]).toEqual([0, 22]);
    expect(yes.stderr).toContain('+ and 12 more\n  --dry-run -o table shows all of them');
    expect(yes.stderr.split('Continue?')).toHaveLength(2);
    const unchanged = await answer('', users(22), '');
    expect([unchanged.exitCode, unchanged.stderr.includes('Continue?')]).toEqual([0, false]);
    const typed = await answer('-y', users(23), '');
    expect([typed.exitCode, typed.stderr.includes('Continue?'), writes().length]).toEqual([0, false, 23]);
    expect((await apply('', csv(users(2, 'other')))).exitCode).toBe(0);
  });

  test('a plan that only resizes is asked about once, before anything; what gets smaller comes first', async () => {
    const { run, writes, home, time } = await service();
    const roster = join(home, 'roster.csv');
    writeFileSync(roster, `remote_user,size_allowance\n${resized}physio-7731,1\n`);
    const answer = (stdin: string) => run(`license apply ${roster}`, { home, stdin, tty: true, clock: time.client });

    const no = await answer('n\n');
    expect([no.exitCode, writes().length]).toEqual([130, 0]);
    expect(no.stderr).toMatch(/~ \d+ -> 1 {2}physio-7731\n\s*~ \d+ -> 9 {2}physio-7740\n/);
    const yes = await answer('y\n');
    expect([yes.exitCode, writes().length, yes.stderr.split('Continue?').length]).toEqual([0, 2, 2]);
    const unchanged = await answer('');
    expect([unchanged.exitCode, unchanged.stderr.includes('Continue?')]).toEqual([0, false]);
  });

  test('a plan and an undo of several applications name the application of each change', async () => {
    const { run, home, time, sandbox } = await service();
    const roster = join(home, 'roster.csv');
    const [first, second] = sandbox.licensing.apps;
    for (const { app_code, api_key } of sandbox.licensing.apps)
      await run(
        `auth login licensing --base-url ${sandbox.licensing.base_url} --app-code ${app_code} --name app-${app_code} --api-key-stdin`,
        { home, bare: true, stdin: api_key },
      );
    const write = (one: number, other: number): void =>
      writeFileSync(
        roster,
        `remote_user,size_allowance,app_code\nada,${one},${first.app_code}\nada,${other},${second.app_code}\n`,
      );
    const given = { home, bare: true, tty: true, clock: time.client };
    write(4, 5);
    const created = await run(`license apply ${roster} -p app-${first.app_code}`, { ...given, stdin: 'y\n' });
    expect(created.stderr).toContain(`create  ada  size 4, application ${first.app_code}`);
    expect(created.stderr).toContain(`create  ada  size 5, application ${second.app_code}`);
    write(6, 7);
    await run(`license apply ${roster} -p app-${first.app_code} -y`, given);
    const undone = await run('license undo', { ...given, stdin: 'n\n' });
    expect(undone.stderr).toContain(`put back  ada  resized 6 -> 4, application ${first.app_code}`);
    expect(undone.stderr).toContain(`put back  ada  resized 7 -> 5, application ${second.app_code}`);
  });

  test.each(['', '--dry-run'])(
    'more creations than --max-create are exit 2, and nothing is changed %s',
    async (words) => {
      const { apply, writes } = await service();
      const ran = await apply(`--max-create 2 ${words}`, csv(users(3)));
      expect([ran.exitCode, ran.lines[0], writes()]).toEqual([
        2,
        'chatelaine: this would create more licenses than --max-create 2: 3; nothing was changed',
        [],
      ]);
      expect((await apply('--max-create 3', csv(users(3)))).exitCode).toBe(0);
      expect((await apply('--max-create 0', csv(users(3)))).exitCode).toBe(0);
    },
  );

  test.each(['', '--dry-run'])('two users of one file with like names are exit 2 %s', async (words) => {
    const { apply, writes } = await service();
    const names = ['Ada', 'ward 3', 'urn:x:1', 'ada', 'ward  3', '007', 'urn:x:12', '7'];

    const ran = await apply(`-o json ${words}`, csv(names));

    expect([ran.exitCode, ran.error?.problems, writes()]).toEqual([
      2,
      [
        "standard input:5: user 'ada' is like 'Ada' on line 2",
        "standard input:6: user 'ward  3' is like 'ward 3' on line 3",
        "standard input:9: user '7' is like '007' on line 7",
      ],
      [],
    ]);
    expect((await apply(`--allow-similar ${words}`, csv(names))).exitCode).toBe(0);
    expect((await apply(words, csv(words ? ['x'] : names))).exitCode).toBe(0);
  });

  test('the audit names users with like names', async () => {
    const { apply, run } = await service();
    const applied = await apply('--allow-similar', csv(['Ada', 'ada', 'urn:x:1', 'urn:x:12']));
    // Nothing of this run is waited for as for another one.
    expect(applied.stderr).toMatch(/^4 created on /);
    const ran = await run('license audit -o csv --no-header --fields finding,remote_user,detail');
    expect([ran.exitCode, ran.stdout]).toEqual([10, "similar-name,ada,like 'Ada'\n"]);
  });

  test('names that a spreadsheet may have changed are warned of', async () => {
    const { apply } = await service();
    const ran = await apply('--dry-run', csv(['4.71E+11', '1-Mar', 'ada', '3E5', 'Mar-24']));
    expect(ran.lines[0]).toContain(
      "standard input: '4.71E+11' (line 2), '1-Mar' (line 3), '3E5' (line 5) and 1 more may not be names of users: spreadsheets write such texts",
    );
  });

  test.each(['#REF!', '#NV', '#N/A', '#NAME?', 'Total', 'SUMME', 'Grand Total', 'Gesamt'])(
    'so is a word that a spreadsheet writes below or in place of names: %s',
    (name) => {
      expect(warningOf(['ada', name])).toContain(`'${name}' (line 3) may not be the name of a user`);
    },
  );

  test.each([
    ...['NULL', 'null', 'nil', 'nan', 'NaN', '<NA>', 'NaT', 'None', 'undefined', 'N/A', 'n/a', '(blank)', '(Leer)'],
    ...['[NULL]', '\\N', '-', '--', '?', 'n.a.', 'Infinity', '[object Object]', 'TRUE', '#####', '4711.0'],
    ...['Subtotal', 'Sub-total', 'Total:', 'Zwischensumme', 'Gesamtergebnis', 'Teilergebnis', 'Sous-total', 'Sum'],
    ...['2026-03-01', '2026-03-01T00:00:00Z', '2026-03-01 00:00:00', '01/03/2026', '1.3.26', '01-Mar-2026', '12:30'],
    ...['Grand Total', '(empty)', "'00123"],
  ])('so is what exporters write for nothing, a sum or a date: %s', (name) => {
    expect(warningOf(['ada', name])).toContain(`'${name}' (line 3) may not be the name of a user`);
  });

  test.each([
    ['="00123",4', '00123'],
    ['"=""00123""",4', '00123'],
    ['="x, y" ,4', 'x, y'],
  ])('what a spreadsheet takes for a text is that text: %s', async (line, user) => {
    const { apply } = await service();
    const ran = await apply('--dry-run -o json', `remote_user,size_allowance\n${line}\n`);
    expect(rowsOf(ran).map(({ remote_user }) => remote_user)).toEqual([user]);
  });

  test.each([
    ...['#7', 'total', 'total-care', 'ward 3', 'May', 'abc-12', '3-may', 'none-such', 'Nancy', 'Summer', 'Totally'],
    ...['sum', '12345678', '2026', '1.3', '10.0.0.1', 'B-2026-03-01', 'true'],
  ])('a name is not warned of: %s', (name) => {
    expect(warningOf(['ada', name])).toBe('');
  });

  test('Ctrl-C before anything was sent says so, and how to go on', async () => {
    const stop = new AbortController();
    const { run } = await openSandbox({ log: () => stop.abort(new Failure('cancelled', 'interrupted')) });
    const roster = join(emptyHome(), 'roster.csv');
    writeFileSync(roster, csv(['ada']));

    const ran = await run(`license apply ${roster}`, { interrupt: stop.signal });

    expect(ran.lines).toEqual([
      'chatelaine: interrupted',
      'hint: Nothing was sent. To continue:',
      `  chatelaine license apply ${roster}`,
    ]);
  });

  test('a table of 300 rows on a terminal is whole', async () => {
    const { run, home } = await service();
    const names = users(300);
    writeFileSync(join(home, 'roster.csv'), csv(names));

    const ran = await run(`license apply ${join(home, 'roster.csv')} --dry-run -o table`, { home, tty: true });

    const lines = ran.stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(301);
    expect(lines.slice(1).map((line) => line.split(/\s+/)[0])).toEqual(names);
  });

  test('--fields picks columns, and a name that is none is refused before anything is sent', async () => {
    const { apply, log } = await service();

    const strange = await apply('--fields remote_user,colour -o json', csv(users(3)));
    expect({ exitCode: strange.exitCode, log }).toEqual({ exitCode: 2, log: [] });
    const picked = await apply('--fields status,remote_user -o csv --no-header --concurrency 1', csv(users(2)));
    expect(picked.stdout).toBe('created,user-0\ncreated,user-1\n');
  });

  test('rows come in the order of the file, though unconfirmed ones are settled at the end', async () => {
    const names = users(8);
    const { apply } = await service({ fault: 'POST /v1/license/=drop-after#1+3' });

    const ran = await apply('-o json', csv(names));

    expect(rowsOf(ran).map(({ remote_user }) => remote_user)).toEqual(names);
    expect(statuses(ran)).toEqual({ created: 8 });
  });

  test('--changed leaves unchanged rows out, and the summary counts them, in a dry run too', async () => {
    const { apply, sandbox } = await service();
    const text = 'remote_user,size_allowance\nphysio-7731,4\nphysio-7740,9\nada,3\n';

    const plan = await apply('--dry-run --changed -o csv --no-header --fields remote_user,status', text);
    const done = await apply('--changed -o csv --no-header --fields remote_user,status', text);

    expect(plan.stdout).toBe('physio-7740,resize\nada,create\n');
    expect(plan.lines).toEqual([`1 to create, 1 to resize, 1 unchanged${on(sandbox)}`]);
    expect(done.stdout).toBe('physio-7740,resized\nada,created\n');
  });

  test('-q shows only failed and unknown rows in a table, and all rows of a plan and in a format for programs', async () => {
    const { apply } = await service({ fault: 'PATCH /*=redirect-307#1' });
    const roster = `${csv(users(2))}${resized}`;

    const table = await apply('-q --concurrency 1 --no-header', roster);
    const json = await apply('-q -o json', roster);
    const plan = await apply('-q -n --no-header --fields status', roster);

    expect(plan.stdout).toBe('unchanged\n'.repeat(3));
    expect(table.stdout).toMatch(/^physio-7740\t4711\t9\tfailed\t\t\tthe server redirects[^\n]*\n$/);
    expect(rowsOf(json)).toHaveLength(3);
  });

  test('an interruption names what was sent, and the command that resumes', async () => {
    const stop = new AbortController();
    const { run, home, time } = await service({
      fault: 'POST /v1/license/=delay-commit@3s',
      log: ({ method }) => {
        if (method === 'POST') stop.abort(new Failure('cancelled', 'interrupted'));
      },
    });
    const roster = join(home, 'roster.csv');
    writeFileSync(roster, csv(users(8)));

    const given = { home, clock: time.client, interrupt: stop.signal };
    const ran = await run(`license apply ${roster} -o json`, given);

    expect(ran.exitCode).toBe(130);
    expect(ran.error?.message).toMatch(/^interrupted; .*\d+ unknown.* on .*\n\d+ sent, but not confirmed \(user-/);
    expect(ran.error?.hint).toContain(`chatelaine license apply ${roster}`);
  });

  test('progress is a line every 5 s where there is no terminal, and none with -q', async () => {
    const { apply, sandbox } = await service({ rateLimit: { licensing: 20 } });

    const piped = await apply('', csv(users(24)));
    const quiet = await apply('-q', csv(users(2, 'other')));

    expect(piped.lines.filter((line) => /^licenses \d+\/24, [\d.]+\/s/.test(line)).length).toBeGreaterThan(0);
    expect(piped.lines.at(-1)).toBe(`24 created${on(sandbox)}`);
    expect(quiet.stderr).toBe('');
  });
});

test('a row of a similar name names --allow-similar, and not the same command', async () => {
  const { run } = await openSandbox();
  const stdin = 'remote_user,size_allowance\nPHYSIO-7731,4\n';
  const { exitCode, error } = await run('license apply - --input-format csv -o json', { stdin });
  expect([exitCode, error?.hint, error?.retryable]).toEqual([
    8,
    'If these are two users, repeat with --allow-similar. Check with: chatelaine license list --app-code 4711',
    false,
  ]);
});
