import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { licensingWorld } from '../../helpers/licensing-world.ts';

async function service(text: string) {
  const { run, runElsewhere, home, users } = await licensingWorld();
  for (const user of ['ada', 'ben', 'cleo'])
    await runElsewhere(`license create --remote-user ${user} --size-allowance 4`);
  const file = join(home, 'sheet.csv');
  writeFileSync(file, text);
  return { file, users, run };
}

const renames = 'remote_user;new_remote_user\nada;ada@new.example\nben;ben@new.example\n';

test('rename --from: a plan, one question, one run of the history, one undo', async () => {
  const { run, users, file } = await service(renames);
  const line = `license rename --from ${file}`;
  const refused = await run(line, { tty: true, stdin: 'n\n', columns: 80 });
  expect([refused.exitCode, users()]).toEqual([130, expect.arrayContaining(['ada', 'ben'])]);
  expect(refused.stderr).toMatch(/~ rename {2}ada {2}-> ada@new\.example, ends with .{4}\n {2}~ rename {2}ben /);
  expect(refused.stderr).toContain('Rename 2 licenses?');
  const done = await run(line, { tty: true, stdin: 'y\n' });
  expect([done.exitCode, users()]).toEqual([0, expect.arrayContaining(['ada@new.example', 'ben@new.example', 'cleo'])]);
  const runs = await run('license history --fields run --no-header');
  expect(new Set(runs.stdout.trim().split('\n')).size).toBe(1);
  expect((await run('license undo', { tty: true, stdin: 'y\n' })).exitCode).toBe(0);
  expect(users()).toEqual(expect.arrayContaining(['ada', 'ben', 'cleo']));
});

test('retire --from takes a sheet or a list of names, also a part of it', async () => {
  const { run, users, file } = await service('remote_user,Status\nada,leave\nben,stay\n');
  expect((await run(`license retire --from ${file} --where Status=leave -y`)).exitCode).toBe(0);
  expect(users().filter((user) => user.startsWith('left-'))).toEqual([expect.stringContaining('-ada-')]);
  expect((await run('license retire --from - -y', { stdin: 'ben\ncleo\n' })).exitCode).toBe(0);
  expect(users().filter((user) => user.startsWith('left-'))).toHaveLength(3);
});

test.each([
  ['remote_user,new_remote_user\nada,ben\nben,zoe\n', "'ben' is a new name, and is renamed too"],
  ['remote_user,new_remote_user\nada,zoe\nben,zoe\n', "'zoe' is the new name of two users"],
  ['remote_user,new_remote_user\nada,a\nada,b\n', "user 'ada' is already on line 2"],
  ['remote_user\nada\n', 'the header lacks new_remote_user'],
])('rename --from refuses what is not clear, and changes nothing', async (text, said) => {
  const { run, users, file } = await service(text);
  const before = users();
  const { exitCode, stderr } = await run(`license rename --from ${file}`);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(said)]);
  expect(users()).toEqual(before);
});

test('a new name that another user has, and a user without a license, change nothing', async () => {
  const { run, users, file } = await service('remote_user,new_remote_user\nada,a\nben,cleo\n');
  const before = users();
  expect((await run(`license rename --from ${file}`)).exitCode).toBe(6);
  expect((await run('license retire --from - -y', { stdin: 'ada\nnobody\n' })).exitCode).toBe(5);
  expect(users()).toEqual(before);
});

test.each(['license rename ada --from x', 'license rename ada', 'license retire --where a=b CODE'])(
  '%s is exit 2',
  async (line) => {
    const { run } = await service(renames);
    expect((await run(line)).exitCode).toBe(2);
  },
);
