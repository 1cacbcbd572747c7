import { expect, test } from 'vitest';
import { sampleOf } from '../../helpers/extent.ts';
import type { LicenseShape } from '../../helpers/license-shapes.ts';
import { realClock } from '../../../src/cli/clock.ts';
import { Failure } from '../../../src/core/failure.ts';
import { readFaults } from '../../../src/sandbox/faults.ts';
import { alarmByHand, linkedClocks } from '../../helpers/clock.ts';
import { emptyHome, openSandbox } from '../../helpers/run.ts';
import { licensingWorld, seedOf } from '../../helpers/licensing-world.ts';

async function service(licenseShape: LicenseShape, fault?: string) {
  const { run, created, ...world } = await licensingWorld(licenseShape, fault);
  return { ...world, run: (line: readonly string[], stdin = '') => run(line, { stdin }), made: created };
}

const ensure = (user: string, ...words: string[]) => [
  ...['license', 'ensure', '--remote-user', user, '--size-allowance', '4', '-o', 'json'],
  ...words,
];
const roster = (...names: string[]) => JSON.stringify(names.map((remote_user) => ({ remote_user, size_allowance: 4 })));

/** Names that servers change so that neither filter nor answer shows it; how many POSTs of two users are sent. */
const changed: readonly (readonly [names: NonNullable<LicenseShape['names']>, user: string, count: number])[] = [
  ['lower', 'Ada.Ward<b>3', 2],
  ['upper', 'Ada Ward', 2],
  ['upper', 'ada', 2],
  ['domain', 'Ada@EXAMPLE.com', 2],
  ['domain', 'ada@Clinic.Example.ORG', 2],
  ['blanks', 'Ada Ward 3', 2],
  ['blanks', 'ward 3', 2],
  ['collapse', 'ward\t\t3', 2],
  ['plus', 'ada+gait@example.com', 1],
  ['plus', '+31 20 555', 1],
  ['tags', 'ada<ward>3', 1],
  ['tags', '<ada>l', 1],
  ['dot', 'Ward No.', 1],
  ['dot', 'ada.', 1],
  ['decimal', '1.50', 1],
  ['cut-20', 'a-name-that-is-longer-than-twenty', 1],
  ['cut', 'a-name-that-is-longer-than-thirty-characters', 2],
  ['cut-64', 'x'.repeat(70), 2],
];

const respelled = changed.filter(([names]) => names === 'lower' || names === 'upper' || names === 'domain');
const exact = { write_shape: 'echo', filters: 'exact', list_shape: 'pages' } as const;

test.each(sampleOf(2, respelled))(
  'a server that keeps names as %s: %s is created, and found there by later runs',
  async (...given) => {
    const [names, user] = given;
    const { run, made, posts } = await service({ ...exact, names });

    const first = await run(ensure(user));
    const second = await run(ensure(user));
    const third = await run(['license', 'apply', '-', '-o', 'json'], roster(user));

    expect([first.exitCode, second.exitCode, third.exitCode]).toEqual([0, 0, 0]);
    expect(first.stdout).toContain(made()[0]?.license_code);
    expect(first.stderr).toContain('the server stores the name');
    expect([JSON.parse(second.stdout), JSON.parse(third.stdout)]).toMatchObject([
      { status: 'unchanged' },
      [{ status: 'unchanged' }],
    ]);
    expect([posts(), made().length]).toEqual([1, 1]);
  },
);

test.each(['lower', 'upper'] as const)(
  'two runs at once with two spellings, at a server that keeps names as %s: one license a user',
  async (names) => {
    const { run, made } = await licensingWorldOf(names);
    const users = (spell: (name: string) => string): string => roster(...['ann', 'bea', 'cleo', 'dora'].map(spell));
    const capital = (name: string): string => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}@x.org`;

    const runs = [users(capital), users((name) => `${name}@X.org`)].map((sheet) => run(sheet));
    const ended = await Promise.all(runs);

    expect(
      made()
        .map(({ remote_user }) => remote_user.toLowerCase())
        .sort(),
    ).toEqual(['ann', 'bea', 'cleo', 'dora'].map((name) => `${name}@x.org`));
    expect(Math.max(...ended.map(({ exitCode }) => exitCode))).toBe(8);
  },
);

/** In the time of tests a run that waits for a user would take the other for one that has stopped. */
async function licensingWorldOf(names: 'lower' | 'upper') {
  const { run, created } = await licensingWorld({ ...exact, names }, '', { seed: seedOf(['Of BEFORE']) });
  return {
    run: (stdin: string) =>
      run(['license', 'apply', '-', '-o', 'json', '--settle', '200ms'], { stdin, clock: realClock }),
    made: created,
  };
}

test.each([
  ['license edit K-0 --size-allowance 9', /^Run the same command again: it first waits/, /^$/],
  ['license ensure --remote-user ada --size-allowance 9', /^Run the same command again: it first waits/, /^$/],
  ['license ensure --remote-user bob --size-allowance 9', /^Check before you create again/, /^$/],
  ['license apply -', /^Run the same command again, which plans/, /"unknown"/],
])('a deadline that ends %s: what it leaves is said, and no signal that nobody sent', async (line, hint, rows) => {
  const { alarm, ring } = alarmByHand(3_600_000);
  const { run } = await licensingWorld({}, 'PATCH /*=hang;POST /*=hang', {
    seed: seedOf(['ada']),
    log: ({ method }) => method !== 'GET' && ring(),
  });

  const given = { alarm, stdin: roster('ada').replace('4', '9') };
  const { exitCode, error, stderr, stdout } = await run(`${line} --deadline 1h -o json`, given);

  expect([exitCode, error?.hint]).toEqual([9, expect.stringMatching(hint)]);
  expect(stdout).toMatch(rows);
  expect(stderr).not.toContain('signal');
});

test('apply that is interrupted in a change has a row of it, without the key that it did not verify', async () => {
  const stop = new AbortController();
  const log = ({ method }: { method: string }): unknown =>
    method === 'PATCH' && stop.abort(new Failure('cancelled', ''));
  const { run } = await licensingWorld({}, '', { seed: seedOf(['ada']), log });
  const given = { stdin: roster('ada').replace('4', '9'), interrupt: stop.signal };
  const { exitCode, stdout, error } = await run('license apply - -o json', given);
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([130, [{ status: 'resized', license: null }]]);
  expect(error?.message).toContain('1 resized, without a key that can be printed (ada)');
});

test('a change that may or may not have been processed is not called a list that failed', async () => {
  const { run } = await licensingWorld({}, 'PATCH /*=502', { seed: seedOf(['ada']) });

  const renamed = await run('license rename ada cleo --retries 0 -o json');
  const { exitCode, error } = await run('license ensure --remote-user ada --size-allowance 9 --retries 0 -o json');

  expect([exitCode, renamed.exitCode, renamed.error?.retryable]).toEqual([9, 9, false]);
  expect(error?.hint).toBe('Run the same command again.');
  expect(error?.message).toMatch(/^the server answered 502; .*; sent once, and the license is not changed$/);
});

test('two runs at once whose user has a pending change: one of them sends, under the lock', async () => {
  const stop = new AbortController();
  let [reads, patches] = [0, 0];
  const { run, sandbox } = await licensingWorld({}, 'PATCH /*=drop-before#1', {
    seed: seedOf(['ada']),
    log({ method }) {
      if (method === 'PATCH') patches += 1;
      else if (patches > 0) reads += 1;
      if (patches === 1) stop.abort(new Failure('cancelled', 'interrupted'));
      // The server comes to the request once both have read their lists.
      if (reads === 2) for (const license of sandbox.state.licenses()) Object.assign(license, { size_allowance: 9 });
    },
  });
  const given = { stdin: roster('ada'), clock: realClock };
  await run('license ensure --remote-user ada --size-allowance 9 --settle 300ms', { interrupt: stop.signal });
  reads = 0;

  const line = ['license', 'apply', '-', '-o', 'json', '--settle', '300ms'];
  const both = await Promise.all([run(line, given), run(line, given)]);

  expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  expect(patches).toBe(2);
  expect(sandbox.state.licenses()).toMatchObject([{ size_allowance: 4 }]);
});

test('a license that its key shows, and no list yet: nobody is told to send again', async () => {
  const { run } = await licensingWorld({ stale: 60_000 });

  const { exitCode, error } = await run(ensure('ada'));

  expect(exitCode).toBe(9);
  expect(error?.message).toContain('although it is there: the server shows it late, or its filter does not find such');
  expect(error?.hint).toMatch(/^Run the same command again later, with a longer --settle/);
});

test('apply at a server whose field of the key is unknown: created is exit 9, unchanged 8', async () => {
  const { run } = await licensingWorld({ keyField: 'serial' });
  const apply = async () => run(['license', 'apply', '-', '-o', 'json'], { stdin: roster('ada', 'bob') });

  const [first, second] = [await apply(), await apply()];

  const why = 'the user has a license: no field of the license can be recognized as its key; its fields are: ';
  for (const [ran, status, exit] of [
    [first, 'created', 9],
    [second, 'unchanged', 8],
  ] as const) {
    expect(ran.exitCode).toBe(exit);
    expect(JSON.parse(ran.stdout)).toMatchObject([
      { status, error: expect.stringContaining(why) as string },
      { status, error: expect.stringContaining(why) as string },
    ]);
    expect(ran.error?.message).toContain('(ada and 1 more)');
    expect(ran.error?.hint).toContain('--key-field');
  }
});

test.each<[string, number, (code: string, run: string) => string]>([
  ['ensure', 1, () => 'license ensure --remote-user ada --size-allowance 4'],
  ['edit', 1, (code) => `license edit ${code} --size-allowance 4`],
  ['undo', 2, (_code, run) => `license undo ${run} -y`],
])(
  'a change of an ended run that the server may still make is settled by %s, which wants it as it is',
  async (_what, looks, line) => {
    const stop = new AbortController();
    let late: (() => void) | undefined;
    const { run, sandbox } = await licensingWorld({}, 'PATCH /*=drop-before#1', {
      seed: seedOf(['ada']),
      log({ method }) {
        if (method === 'PATCH') stop.abort(new Failure('cancelled', 'interrupted'));
        else late?.();
      },
    });
    const { licenses } = sandbox.state;
    const ended = await run('license ensure --remote-user ada --size-allowance 9', { interrupt: stop.signal });
    expect(ended.exitCode).toBe(130);
    const history = JSON.parse((await run('license history -o json')).stdout) as { run: string }[];
    // The server comes to the request once the next run has looked.
    let left = looks;
    late = () => {
      left -= 1;
      if (left > 0) return;
      late = undefined;
      for (const license of licenses()) Object.assign(license, { size_allowance: 9 });
    };

    const ran = await run(line('K-0', history[0]?.run ?? ''));

    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain('resized 9 -> 4');
    expect(licenses()).toMatchObject([{ size_allowance: 4 }]);
  },
);

test.each(sampleOf(4, changed))('a server that keeps names as %s: one request for %s', async (names, user, count) => {
  const { run, made, posts } = await service({ ...exact, names });

  await run(ensure(user));
  await run(['license', 'apply', '-'], roster(user, 'another'));
  await run(ensure(user));

  expect(made().filter(({ remote_user }) => remote_user.toLowerCase() !== 'another')).toHaveLength(1);
  expect(posts()).toBe(count);
});

const answers: readonly (readonly [string, LicenseShape, string | undefined])[] = [
  [
    'a redirect inside the origin after the commit',
    { write_shape: 'redirect', names: 'upper', filters: 'exact' },
    undefined,
  ],
  ['201 without a key', { write_shape: 'empty', names: 'upper', filters: 'exact' }, undefined],
  ['204', { write_shape: 'no-content', names: 'upper', filters: 'exact' }, undefined],
  ['202 with a text', { write_shape: 'text', names: 'upper', filters: 'exact' }, undefined],
];

test.each(sampleOf(2, answers))(
  'three runs after %s send one request, and --send-again another one',
  async (_what, shape, fault) => {
    const { run, posts } = await service(shape, fault);
    const user = 'Ada@EXAMPLE.com';

    const runs = [await run(ensure(user)), await run(['license', 'apply', '-'], roster(user)), await run(ensure(user))];
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([9, 9, 9]);
    expect(posts()).toBe(1);
    const again = await run(ensure(user, '--send-again', user));
    expect([again.exitCode, posts()]).toEqual([9, 2]);
    const applied = await run(['license', 'apply', '-', '--send-again', user], roster(user));
    expect([applied.exitCode, posts()]).toEqual([9, 3]);
    expect([(await run(ensure(user))).exitCode, posts()]).toEqual([9, 3]);
  },
);

test.each(
  sampleOf(1, [
    ['drops requests', 'drop-before'],
    ['answers them with a page of a portal', 'html'],
  ] as const),
)('--send-again sends one request, also where the server %s', async (_what, kind) => {
  const { run, posts, made } = await service(
    { names: 'upper', write_shape: 'empty', filters: 'exact' },
    `POST /v1/license/=${kind}#99+1`,
  );
  expect([(await run(ensure('ada'))).exitCode, posts()]).toEqual([9, 1]);

  const again = await run(ensure('ada', '--send-again', 'ada'));
  expect([again.exitCode, posts()]).toEqual([9, 2]);
  expect(again.error?.message).toContain('sent once, and the list does not show the license');
  const applied = await run(['license', 'apply', '-', '--send-again', 'ada'], roster('ada', 'bob'));
  expect([applied.exitCode, posts()]).toEqual([9, 2 + 1 + 6]);
  expect(made()).toHaveLength(1);
});

test.each(['html', 'redirect', 'json-garbage', 'cut'])(
  'a portal that answers (%s) blocks nobody for good',
  async (kind) => {
    const { run, made } = await service({}, `POST /v1/license/=${kind}#1`);

    expect((await run(ensure('ada'))).exitCode).toBe(0);
    expect(made()).toHaveLength(1);
  },
);

test('POSTs without an answer count against --retries in later runs too: then each run sends one', async () => {
  const { run, posts } = await service({}, 'POST /v1/license/=drop-before');
  const counts: number[] = [];
  const ran = async (line: readonly string[], stdin?: string): Promise<string> => {
    const { exitCode, stderr } = await run([...line, '--retries', '2'], stdin);
    expect(exitCode).toBe(9);
    counts.push(posts());
    return stderr;
  };

  expect(await ran(ensure('ada'))).toContain('sent 3 times, and the list does not show the license');
  expect(await ran(ensure('ada'))).toContain('sent 4 times, and the list does not show the license');
  await ran(['license', 'apply', '-'], roster('ada'));
  await ran(['license', 'apply', '-'], roster('ada', 'ben'));
  await ran(['license', 'apply', '-'], roster('ada', 'ben'));

  expect(counts).toEqual([3, 4, 5, 5 + 1 + 3, 9 + 1 + 1]);
});

test('--send-again of somebody else is exit 2, and nothing is sent', async () => {
  const { run, posts } = await service({});
  const runs = [
    await run(ensure('ada', '--send-again', 'bob')),
    await run(['license', 'apply', '-', '--send-again', 'bob'], roster('ada')),
  ];
  expect([...runs.map(({ exitCode }) => exitCode), posts()]).toEqual([2, 2, 0]);
});

test('create warns of an open answer, and creates; for another user the error names the run of that answer', async () => {
  const { run, posts } = await service({ names: 'upper', write_shape: 'empty', filters: 'exact' });
  await run(ensure('ada'));
  const barred = await run(ensure('ben'));
  expect(barred.error?.hint).toMatch(/ with --send-again\. Its user: chatelaine license history --run \w{4}$/);
  const ran = await run(['license', 'create', '--remote-user', 'ada', '--size-allowance', '4']);
  expect(ran.stderr).toContain('this creates another one');
  expect([ran.exitCode, posts()]).toEqual([9, 2]);
});

test('a first license that a run renamed without learning it bars nobody', async () => {
  const stops = { GET: new AbortController(), PATCH: new AbortController() };
  let isAnswered = false;
  const log = ({ method }: { method: string }): void => {
    if (isAnswered && (method === 'GET' || method === 'PATCH')) stops[method].abort(new Failure('cancelled', ''));
    isAnswered ||= method === 'POST';
  };
  const { run } = await licensingWorld({}, 'PATCH /*=drop-after', { log });
  await run(ensure('ada'), { interrupt: stops.GET.signal });
  const renamed = await run('license rename ada bob -y', { interrupt: stops.PATCH.signal });
  expect([renamed.exitCode, (await run(ensure('ben'))).exitCode]).toEqual([130, 0]);
});

test('a look that is not answered leaves the answer open: the key is printed, and the next run finds it', async () => {
  const { run, posts, made } = await service(
    { names: 'upper', write_shape: 'echo', filters: 'exact' },
    'GET /*=502#6+4',
  );
  const first = await run(['license', 'apply', '-', '-o', 'json'], roster('ada'));
  expect([first.exitCode, posts()]).toEqual([0, 1]);
  expect(first.stdout).toContain(made()[0]?.license_code);
  expect(first.stderr).toContain('no list confirmed it');
  expect([(await run(ensure('ada'))).exitCode, posts()]).toEqual([0, 1]);
});

test('a first creation whose look is not answered proves nothing of the server: the next is looked up alone', async () => {
  const { run, posts } = await service({ ...exact, names: 'plus' }, 'GET /*=error-in-200#1+4');
  const line = ['license', 'apply', '-', '--concurrency', '1'];
  const ran = await run(line, roster('a+1@x.org', 'b+1@x.org', 'c+1@x.org'));
  expect(ran.stderr).toContain("the request for 'b+1@x.org' succeeded, but no lookup shows the license");
  expect([ran.exitCode, posts()]).toEqual([9, 2]);
});

test('a list at the end of apply that is not answered is a warning: all rows are created', async () => {
  const { run } = await service(exact, 'GET /*=502#99+11');
  const ran = await run(['license', 'apply', '-', '-o', 'json', '--retries', '0'], roster('ada', 'ben', 'cy'));
  expect(ran.stderr).toMatch(
    /^{"warning":"2 licenses were created [^;]+; no list confirmed it: [^"]+"}\n3 created on /,
  );
  expect(ran.exitCode).toBe(0);
});

test('apply that is interrupted before its look says that no list was read, and does not question the answer', async () => {
  const stop = new AbortController();
  let posts = 0;
  const { run } = await openSandbox({
    log({ method }) {
      if (method === 'POST') posts += 1;
      else if (posts > 0) stop.abort(new Failure('cancelled', 'interrupted'));
    },
  });

  const ran = await run('license apply - -o json', { stdin: roster('ada'), interrupt: stop.signal });

  expect(ran.exitCode).toBe(130);
  expect(ran.stderr).toContain(
    '1 license was created according to the server; no list was read yet: the next run confirms it',
  );
});

test.each(['ensure', 'create'])('%s that is interrupted in its POST says that it had no response', async (name) => {
  const stop = new AbortController();
  const { run } = await openSandbox({
    faults: readFaults('POST /v1/license/=hang-after', 1),
    log({ method }) {
      if (method === 'POST') stop.abort(new Failure('cancelled', 'interrupted'));
    },
  });

  const line = `license ${name} --remote-user ada --size-allowance 4 --timeout 1s -o json`;
  const { exitCode, error } = await run(line, { interrupt: stop.signal });

  const message = 'the request had no response; interrupted; the request may or may not have been processed';
  expect([exitCode, error?.retryable, error?.message.slice(0, message.length)]).toEqual([130, false, message]);
});

test.each([
  ['ensure', 'cancelled', 130],
  ['ensure', 'terminated', 143],
  ['create', 'cancelled', 130],
] as const)(
  '%s that is ended (%s) after the answer prints the key, also with -q: exit %i',
  async (name, kind, exit) => {
    const stop = new AbortController();
    let posts = 0;
    const { sandbox, run } = await openSandbox({
      clock: linkedClocks().sandbox,
      licenseShape: { names: 'upper', write_shape: 'echo', filters: 'exact' },
      log({ method }) {
        if (method === 'POST') posts += 1;
        else if (posts > 0) stop.abort(new Failure(kind, 'interrupted'));
      },
    });
    const before = sandbox.state.licenses().length;
    const line = ['license', name, '--remote-user', 'ada', '--size-allowance', '4', '-q'];

    const ran = await run(line, { home: emptyHome(), interrupt: stop.signal });

    const [made] = sandbox.state.licenses().slice(before);
    expect({ exit: ran.exitCode, stdout: ran.stdout }).toEqual({ exit, stdout: `${made?.license_code ?? 'none'}\n` });
  },
);

test('the one row of a roster whose license no list shows: the same command goes on, and no other is sent', async () => {
  const { run, made } = await service({ stale: 60_000 });

  const { exitCode, error } = await run(['license', 'apply', '-', '-o', 'json'], roster('ada'));

  expect([exitCode, made().length, error?.retryable]).toEqual([9, 1, true]);
  expect(error?.hint).toMatch(
    /^Run the same command again, which plans again: chatelaine .*\nRun the .* later, with a/,
  );
});
