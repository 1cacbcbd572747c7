import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleOf } from '../../helpers/extent.ts';
import type { LicenseShape } from '../../helpers/license-shapes.ts';
import { Failure } from '../../../src/core/failure.ts';
import { linkedClocks } from '../../helpers/clock.ts';
import { emptyHome, openSandbox } from '../../helpers/run.ts';
import { licensingWorld } from '../../helpers/licensing-world.ts';
import { needs } from '../../helpers/needs.ts';
import { readRecord } from '../../../src/store/lock/request-record.ts';
import { systemIn } from '../../store/system.ts';

async function service(licenseShape: LicenseShape, fault?: string) {
  const { run, created, ...world } = await licensingWorld(licenseShape, fault);
  return { ...world, run: (line: readonly string[], stdin = '') => run(line, { stdin }), made: created };
}

const ensure = (user: string, ...words: string[]) => [
  ...['license', 'ensure', '--remote-user', user, '--size-allowance', '4', '-o', 'json'],
  ...words,
];
const locks = (home: string): string => join(home, '.local/state/chatelaine/locks');

interface RecordedLine {
  readonly event: string;
  readonly users: readonly string[];
  readonly unanswered?: number;
}

/** The lines of the record of requests, without the heads of its files. */
function recordLines(home: string): RecordedLine[] {
  const files = readdirSync(locks(home)).filter((name) => name.endsWith('.record'));
  return files.flatMap((name) => {
    const [, ...lines] = readFileSync(join(locks(home), name), 'utf8')
      .trimEnd()
      .split('\n');
    return lines.map((line) => JSON.parse(line) as RecordedLine);
  });
}

const roster = (...names: string[]) => JSON.stringify(names.map((remote_user) => ({ remote_user, size_allowance: 4 })));

/** Names that servers change so that neither their filter nor their answer shows it. */
const changed: readonly (readonly [NonNullable<LicenseShape['names']>, string])[] = [
  ['lower', 'Ada.Ward<b>3'],
  ['upper', 'Ada Ward'],
  ['upper', 'ada'],
  ['domain', 'Ada@EXAMPLE.com'],
  ['domain', 'ada@Clinic.Example.ORG'],
  ['blanks', 'Ada Ward 3'],
  ['blanks', 'ward 3'],
  ['collapse', 'ward\t\t3'],
  ['plus', 'ada+gait@example.com'],
  ['plus', '+31 20 555'],
  ['tags', 'ada<ward>3'],
  ['tags', '<ada>l'],
  ['dot', 'Ward No.'],
  ['dot', 'ada.'],
  ['decimal', '1.50'],
  ['cut-20', 'a-name-that-is-longer-than-twenty'],
  ['cut', 'a-name-that-is-longer-than-thirty-characters'],
  ['cut-64', 'x'.repeat(70)],
];

describe.each(sampleOf(8, changed))('a server that keeps names as %s says: %s', (names, user) => {
  // With a total, a whole list shows that a name with a + is not there.
  const shape = { names, write_shape: 'echo', filters: 'exact', list_shape: 'pages' } as const;

  test('ensure: the first run is exit 9 with the key, the second sends nothing', async () => {
    const { run, made, posts } = await service(shape);

    const first = await run(ensure(user));
    const sent = posts();
    const second = await run(ensure(user));

    const key = made()[0]?.license_code ?? 'none';
    expect([first.exitCode, second.exitCode]).toEqual([9, 9]);
    expect(first.stdout).toContain(key);
    expect(first.error?.message).toContain(`ends with ${key.slice(-4)}`);
    expect([sent, posts(), made().length]).toEqual([1, 1, 1]);
    expect(second.error?.message).toContain(`ends with ${key.slice(-4)}`);
    expect(second.error?.hint).toContain('--send-again');
  });

  test('apply, then ensure, then apply of another file: one request', async () => {
    const { run, posts, made } = await service(shape);

    const first = await run(['license', 'apply', '-', '-o', 'json'], roster(user));
    const second = await run(ensure(user));
    const third = await run(['license', 'apply', '-', '-o', 'json'], roster(user, 'another'));

    expect([first.exitCode, second.exitCode, third.exitCode]).toEqual([9, 9, 9]);
    expect(JSON.parse(first.stdout)).toMatchObject([
      { status: 'unknown', license: { license_code: made()[0]?.license_code } },
    ]);
    expect(made().filter(({ remote_user }) => remote_user.toLowerCase() !== 'another')).toHaveLength(1);
    expect(posts()).toBe(third.stdout.includes('"created"') ? 2 : 1);
  });
});

const answers: readonly (readonly [string, LicenseShape, string | undefined])[] = [
  ['another license', { names: 'domain' }, undefined],
  [
    'a redirect inside the origin after the commit',
    { write_shape: 'redirect', names: 'upper', filters: 'exact' },
    undefined,
  ],
  ['201 without a key', { write_shape: 'empty', names: 'upper', filters: 'exact' }, undefined],
  ['204', { write_shape: 'no-content', names: 'upper', filters: 'exact' }, undefined],
  ['202 with a text', { write_shape: 'text', names: 'upper', filters: 'exact' }, undefined],
];

test.each(sampleOf(3, answers))(
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

test.each([
  ['drops requests', 'drop-before'],
  ['answers them with a page of a portal', 'html'],
])('--send-again sends one request, also where the server %s', async (_what, kind) => {
  const { run, posts, made } = await service(
    { names: 'upper', write_shape: 'echo', filters: 'exact' },
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

test('an exact license in a later list closes the answer', async () => {
  const { run, time, home } = await service({});
  const lagging = await service({}, 'GET /*=502#99+1');
  expect((await lagging.run(ensure('ada'))).exitCode).toBe(0);
  expect((await run(ensure('ada'))).exitCode).toBe(0);
  expect(recordLines(home).map(({ event }) => event)).toEqual(['held', 'answered', 'confirmed', 'freed']);
  expect(time.slept).toEqual([]);
});

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

test('a list that shows the license ends the count of POSTs without an answer', async () => {
  const { run, posts, home } = await service({}, 'POST /v1/license/=drop-before#4');
  const line = [...ensure('ada'), '--retries', '2'];
  const counts = (): unknown =>
    recordLines(home)
      .flatMap(({ unanswered }) => unanswered ?? [])
      .sort();

  expect([(await run(line)).exitCode, posts(), counts()]).toEqual([9, 3, [1, 2, 3]]);
  expect([(await run(line)).exitCode, posts(), counts()]).toEqual([9, 4, [1, 2, 3, 4]]);
  expect([(await run(line)).exitCode, posts(), counts()]).toEqual([0, 5, [1, 2, 3, 4]]);
  expect((await run(line)).exitCode).toBe(0);
  const [file = ''] = readdirSync(locks(home)).filter((name) => name.endsWith('.record'));
  const { users } = await readRecord(join(locks(home), file.replace('.record', '')), systemIn(home));
  expect([...users.values()].map(({ history }) => history)).toEqual([
    { posted: expect.any(Number) as number, outcome: 'created' },
  ]);
});

test('--send-again of somebody else is exit 2, and nothing is sent', async () => {
  const { run, posts } = await service({});
  const runs = [
    await run(ensure('ada', '--send-again', 'bob')),
    await run(['license', 'apply', '-', '--send-again', 'bob'], roster('ada')),
  ];
  expect([...runs.map(({ exitCode }) => exitCode), posts()]).toEqual([2, 2, 0]);
});

describe('a dry run counts nobody whose answer is open as one to create, where that is known by', () => {
  test.each<[string, (home: string) => void]>([
    ['the record of requests', (home) => rmSync(join(home, 'journal'))],
    [
      'a compacted record',
      (home) => {
        rmSync(join(home, 'journal'));
        const users = recordLines(home).flatMap(({ event, users: hashes, ...answer }) =>
          event === 'answered' ? hashes.map((user) => ({ user, until: 0, history: { answer } })) : [],
        );
        const [file = ''] = readdirSync(locks(home)).filter((one) => one.endsWith('.record'));
        writeFileSync(join(locks(home), file), `${JSON.stringify({ record: 1, users })}\n`);
      },
    ],
    ['the journal alone', (home) => rmSync(locks(home), { recursive: true })],
  ])('%s', async (_what, forget) => {
    const { run, home, posts } = await service({ names: 'upper', write_shape: 'echo', filters: 'exact' });
    const apply = ['license', 'apply', '-', '--journal', join(home, 'journal')];
    await run(apply, roster('ada', '007'));
    forget(home);
    const isJournal = existsSync(join(home, 'journal'));
    const left = readdirSync(home, { recursive: true });

    const dry = await run([...apply, '-n', '-o', 'json'], roster('ada', '007'));
    const limited = await run([...apply, '-n', '--max-create', '0'], roster('ada', '007'));
    const ensured = await run(ensure('ada', '-n'));

    expect(dry.exitCode).toBe(8);
    expect(JSON.parse(dry.stdout)).toMatchObject([{ status: 'failed' }, { status: 'unchanged' }]);
    expect(limited.exitCode).toBe(8);
    // What a journal of apply alone has, ensure does not know.
    expect([ensured.exitCode, posts()]).toEqual([isJournal ? 0 : 9, 2]);
    expect(readdirSync(home, { recursive: true })).toEqual(left);
  });
});

test(
  'a run whose journal cannot be put away is judged by what was done, and names the file that is in the way',
  needs('posix'),
  async () => {
    const { run, home } = await service({});
    const journal = join(home, 'journal');
    mkdirSync(join(`${journal}.done`, 'full'), { recursive: true });

    const ran = await run(['license', 'apply', '-', '--journal', journal], roster('ada'));

    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain(`cannot put the journal away as ${journal}.done: it is a directory`);
    expect(existsSync(`${journal}.lock`)).toBe(false);
  },
);

test('create warns of an open answer, and creates', async () => {
  const { run, posts } = await service({ names: 'upper', write_shape: 'echo', filters: 'exact' });
  await run(ensure('ada'));
  const ran = await run(['license', 'create', '--remote-user', 'ada', '--size-allowance', '4']);
  expect(ran.stderr).toContain('this creates another one');
  expect([ran.exitCode, posts()]).toEqual([9, 2]);
});

test('a look that is not answered leaves the answer open: the key is printed, and the next run sends nothing', async () => {
  const { run, posts, made } = await service(
    { names: 'upper', write_shape: 'echo', filters: 'exact' },
    'GET /*=502#6+1',
  );
  const first = await run(['license', 'apply', '-', '-o', 'json'], roster('ada'));
  expect([first.exitCode, posts()]).toEqual([0, 1]);
  expect(first.stdout).toContain(made()[0]?.license_code);
  expect(first.stderr).toContain('no list confirmed it');
  expect([(await run(ensure('ada'))).exitCode, posts()]).toEqual([9, 1]);
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
    '1 license was created, as the server answered; no list was read yet: the next run confirms it',
  );
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
