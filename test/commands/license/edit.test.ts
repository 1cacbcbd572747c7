import { describe, expect, test } from 'vitest';
import { readFaults } from '../../../src/sandbox/faults.ts';
import { emptyHome, openSandbox, type RunOptions } from '../../helpers/run.ts';

/** A server on which ada and ben have a license each. */
async function service() {
  const { sandbox, run } = await openSandbox();
  await run('license create --remote-user ada --size-allowance 4');
  await run('license create --remote-user ben --size-allowance 5');
  const of = (user: string) => sandbox.state.licenses().filter(({ remote_user }) => remote_user === user);
  const code = of('ada')[0]?.license_code ?? '';
  return {
    of,
    code,
    edit: (words: string, options?: RunOptions) => run(`license edit ${code} ${words} -o json`, options),
    run,
  };
}

describe('license edit --remote-user', () => {
  test.each(['ben', 'Ben'])('of a user who has another license is exit 6, and nothing is changed: %s', async (user) => {
    const { edit, of } = await service();
    const { exitCode, error } = await edit(`--remote-user ${user}`);
    expect([exitCode, of('ada').length, of('ben').length, of('Ben').length]).toEqual([6, 1, 1, 0]);
    expect(error?.message).toMatch(/ben.*nothing was changed$/);
    expect(error?.hint).toContain('--allow-duplicate');
  });

  test('--allow-duplicate goes on', async () => {
    const { edit, of } = await service();
    expect((await edit('--remote-user ben --allow-duplicate')).exitCode).toBe(0);
    expect([of('ada').length, of('ben').length]).toEqual([0, 2]);
  });

  test.each(['--remote-user cleo', '--remote-user ada', '--remote-user Ada', '--size-allowance 7'])(
    'whose name nobody else has is carried out: %s',
    async (words) => {
      const { edit, of } = await service();
      expect((await edit(words)).exitCode).toBe(0);
      expect(of('ben')).toHaveLength(1);
    },
  );

  test('is not carried out where the look fails', async () => {
    const { run, sandbox } = await openSandbox({ faults: readFaults('GET /v1/license/=500#99', 1) });
    const [license] = sandbox.state.licenses();
    const { exitCode } = await run(`license edit ${license?.license_code ?? ''} --remote-user zed`);
    expect([exitCode, sandbox.state.licenses()[0]?.remote_user]).toEqual([7, license?.remote_user]);
  });
});

describe('license create for a user who has a license', () => {
  const line = 'license create --remote-user ada --size-allowance 2';
  const question =
    /ada already has a license in application 4711: this creates another; license ensure would not\.\s+Continue\? \[y\/N\]/;

  test.each([
    ['n', 130, 1],
    ['y', 0, 2],
  ])('asks on a terminal: %s', async (typed, exitCode, count) => {
    const { run, of } = await service();
    const ran = await run(line, { tty: true, stdin: `${typed}\n` });
    expect([ran.exitCode, of('ada').length]).toEqual([exitCode, count]);
    expect(ran.stderr).toMatch(question);
  });

  test.each<[string, RunOptions]>([
    [line, {}],
    [`${line} --yes`, { tty: true }],
    [`${line} --no-input`, { tty: true }],
  ])('warns and creates elsewhere: %s', async (words, options) => {
    const { run, of } = await service();
    const ran = await run(words, options);
    expect([ran.exitCode, of('ada').length, ran.stderr.includes('[y/N]')]).toEqual([0, 2, false]);
    expect(ran.stderr).toContain('already has a license');
  });

  test('asks nothing for another user', async () => {
    const { run } = await service();
    const ran = await run('license create --remote-user cleo --size-allowance 2', { tty: true });
    expect([ran.exitCode, ran.stderr.includes('[y/N]')]).toEqual([0, false]);
  });
});

describe('license edit --match', () => {
  test('asks below the plan, leaves retired licenses alone, and is undone by one run', async () => {
    const { run, sandbox } = await openSandbox();
    const home = emptyHome();
    const sizes = () =>
      sandbox.state.licenses().map(({ remote_user, size_allowance }) => [remote_user, size_allowance]);
    await run('license retire --remote-user physio-7740', { home });
    const before = sizes();
    const no = await run("license edit --match '*physio-77*' --size-allowance 9", { home, tty: true, stdin: 'n\n' });
    expect([no.exitCode, sizes()]).toEqual([130, before]);
    expect(no.stderr).toMatch(
      /This would change:\n(.*\n)* *~ 4 -> 9 +physio-7731 +ends with FCA2\n[^]*Resize the license of 'physio-7731'\?/,
    );
    const edited = await run("license edit --match '*physio-77*' --size-allowance 9 -o json", { home });
    expect(JSON.parse(edited.stdout)).toMatchObject([
      { remote_user: 'physio-7731', size_allowance: 9, status: 'changed' },
    ]);
    const name = /license undo (\w{4})/.exec(edited.stderr)?.[1] ?? '';
    expect((await run(`license undo ${name} -y`, { home })).exitCode).toBe(0);
    expect(sizes()).toEqual(before);
  });

  test('plans what gets smaller before what gets larger', async () => {
    const { run } = await openSandbox();
    await run('license create --remote-user physio-7799 --size-allowance 6');
    const line = "license edit --match 'physio-77*' --size-allowance 5";
    const { stderr } = await run(line, { tty: true, stdin: 'n\n' });
    expect(stderr.match(/\d -> 5 +physio-\d+/g)).toEqual([
      '6 -> 5  physio-7799',
      '4 -> 5  physio-7731',
      '4 -> 5  physio-7740',
    ]);
    expect((await run(`${line} -y`)).lines[0]).toBe('3 changed');
    expect((await run(line, { tty: true, stdin: 'n\n' })).exitCode).toBe(0);
  });

  test.each([
    ["--match 'nobody*' --size-allowance 4", 5, "no user matches 'nobody*'"],
    ["--match '*' --remote-user eva", 2, '--match only changes sizes'],
    ["--match '*' --remote-user eva --size-allowance 4", 2, '--match only changes sizes'],
    ['--size-allowance 4', 2, 'give either CODE or --match GLOB'],
  ])('%s', async (words, exitCode, message) => {
    const { run } = await openSandbox();
    const ran = await run(`license edit ${words} -o json`);
    expect([ran.exitCode, ran.error?.message]).toEqual([exitCode, message]);
  });
});

describe('license rename', () => {
  test('gives all licenses of a user the new name, but not one that somebody has', async () => {
    const { run, of } = await service();
    await run('license create --remote-user ada --size-allowance 2');
    const taken = await run('license rename ada ben -o json');
    expect([taken.exitCode, of('ada').length]).toEqual([6, 2]);
    expect((await run('license rename ada cleo')).exitCode).toBe(0);
    expect([of('ada').length, of('cleo').length]).toEqual([0, 2]);
    expect(await run('license rename ada cleo')).toMatchObject({ exitCode: 5 });
  });

  test('a response that is lost is found out; what was moved is no second license', async () => {
    const { run, sandbox } = await openSandbox({ faults: readFaults('PATCH */license/*=reset-after#1', 1) });
    const home = emptyHome();
    await run('license create --remote-user ada --size-allowance 4', { home });
    await run('license create --remote-user ada --size-allowance 5', { home });
    const of = (user: string) => sandbox.state.licenses().filter(({ remote_user }) => remote_user === user).length;
    expect((await run('license rename ada cleo --retries 0', { home })).exitCode).toBe(0);
    expect((await run('license rename ada cleo', { home })).exitCode).toBe(0);
    expect([of('ada'), of('cleo')]).toEqual([0, 2]);
  });
});
