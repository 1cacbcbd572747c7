import { describe, expect, test } from 'vitest';
import { emptyHome, openSandbox } from '../../helpers/run.ts';

const day = 86_400_000;
const start = Date.UTC(2026, 2, 1, 12);

/** Three days with one change each, of users whose names differ by case too. */
async function threeDays() {
  const { run, sandbox } = await openSandbox();
  const home = emptyHome();
  const at = (days: number) => ({ home, now: start + days * day, env: { TZ: 'UTC' } });
  await run('license create --remote-user Ward-3 --size-allowance 4', at(0));
  await run('license create --remote-user ward-4 --size-allowance 4', at(1));
  await run('license retire --remote-user Ward-3 -y', at(2));
  const codeOf = (user: RegExp) =>
    sandbox.state.licenses().find(({ remote_user }) => user.test(remote_user))?.license_code ?? '';
  return { run: (words: string) => run(words, at(3)), codeOf };
}

describe('license history', () => {
  const changes = async (words: string) => {
    const { run } = await threeDays();
    const { stdout, exitCode, stderr } = await run(`license history ${words} --fields time,change --no-header`);
    return { exitCode, stderr, rows: stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(0, 10)])) };
  };

  test.each([
    ['--until 2026-03-02', ['2026-03-01']],
    ['--since 2026-03-02 --until 2026-03-03', ['2026-03-02']],
    ["--match 'WARD-*'", ['2026-03-01', '2026-03-02', '2026-03-03']],
    ["--match '*-4' --match '*-3'", ['2026-03-01', '2026-03-02', '2026-03-03']],
    ["--match 'ward-3' --until 2026-03-02", ['2026-03-01']],
    ["--match 'left-*'", ['2026-03-03']],
  ])('%s', async (words, rows) => {
    expect(await changes(words)).toMatchObject({ exitCode: 0, rows });
  });

  test('--code finds the changes of a key by its last characters, however it is written', async () => {
    const { run, codeOf } = await threeDays();
    const code = codeOf(/^ward-4$/);
    const spoken = code.replaceAll('-', '').toLowerCase().replaceAll('0', 'o');
    for (const typed of [code, spoken, `*${code.slice(-5)}`, `*${code.slice(-2)}`]) {
      const { stdout } = await run(`license history --code '${typed}' --fields remote_user --no-header`);
      expect([typed, stdout]).toEqual([typed, 'ward-4\n']);
    }
    expect((await run("license history --code '*ZZZZ' --no-header")).stdout).toBe('');
  });

  test('a span that is empty is exit 2', async () => {
    expect(await changes('--since 2026-03-03 --until 2026-03-03')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('chatelaine: --since 2026-03-03 is not before --until 2026-03-03\n') as string,
    });
  });
});

describe('license list', () => {
  const users = async (words: string) => {
    const { run } = await threeDays();
    const { stdout, stderr } = await run(`license list ${words} --fields remote_user --no-header`);
    return { users: stdout.trim().split('\n'), stderr };
  };

  test('--match minds no case', async () => {
    expect((await users("--match 'WARD-?'")).users).toEqual(['ward-4']);
    expect((await users("--match 'LEFT-*'")).users).toHaveLength(1);
  });

  test('--since and --until are a span of their creation', async () => {
    expect((await users('--since 2026-01-01 --until 2026-01-14T09:21:00Z')).users).toEqual(['clinic-north/ward-3']);
  });

  test('--active leaves retired ones out, and says how many there are', async () => {
    const { users: all } = await users('');
    const { users: active, stderr } = await users('--active');
    expect(all.filter((user) => !active.includes(user))).toEqual([expect.stringMatching(/^left-2026-03-Ward-3-/)]);
    expect(stderr).toBe('1 retired license is left out\n');
    expect((await users("--active --match 'ward-4'")).stderr).toBe('');
  });
});

test('where something is changed, --match minds the case', async () => {
  const { run } = await threeDays();
  const { exitCode, stderr } = await run("license edit --match 'WARD-*' --size-allowance 7 -y");
  expect([exitCode, stderr]).toEqual([5, "chatelaine: no user matches 'WARD-*'\n"]);
});
