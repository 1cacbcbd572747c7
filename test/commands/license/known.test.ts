import { expect, test } from 'vitest';
import { licensingWorld } from '../../helpers/licensing-world.ts';

/** A server that forgets licenses, or does not show them, and the commands of one computer. */
async function service() {
  const { sandbox, run, users } = await licensingWorld();
  const roster = (count: number) =>
    ['remote_user,size_allowance', ...Array.from({ length: count }, (_, index) => `user-${index},4`), ''].join('\n');
  return {
    run: (line: string, stdin = '') => run(line, { stdin }),
    roster,
    made: () => users().filter((name) => name.startsWith('user-')).length,
    hide: (...names: readonly string[]) =>
      sandbox.state.change((state) => {
        for (const { remote_user, license_code } of sandbox.state.licenses())
          if (names.includes(remote_user)) state.licenses.remove(license_code);
      }),
  };
}

const statuses = (stdout: string) => (JSON.parse(stdout) as { status: string }[]).map(({ status }) => status);
const ensure = 'license ensure --remote-user user-3 --size-allowance 4 -o json';

test('apply and ensure do not create what the history has and no lookup shows, unless that is typed', async () => {
  const { run, roster, made, hide } = await service();
  await run('license apply - -q', roster(25));
  hide('user-3', 'user-7');

  const dry = await run('license apply - -n -o json', roster(26));
  const applied = await run('license apply - -o json', roster(26));
  const ensured = await run(ensure);

  expect([dry.exitCode, applied.exitCode, ensured.exitCode, made()]).toEqual([8, 8, 6, 24]);
  expect(statuses(dry.stdout).filter((status) => status !== 'unchanged')).toEqual(['failed', 'failed', 'create']);
  expect(statuses(applied.stdout).filter((status) => status !== 'unchanged')).toEqual(['failed', 'failed', 'created']);
  expect(ensured.error?.message).toMatch(
    /^run [\dA-Z]{4} gave 'user-3' a license at \S+Z, with a key that ends with \w{4}, and the server does not show it; nothing was created$/,
  );
  expect(ensured.error?.hint).toContain('--send-again user-3');

  expect(await run(`${ensure} --send-again user-3`)).toMatchObject({ exitCode: 0 });
  const again = await run('license apply - --send-again user-7 -o json', roster(26));
  expect([again.exitCode, made()]).toEqual([0, 26]);
});

test('create warns of it, and creates', async () => {
  const { run, roster, made, hide } = await service();
  await run('license apply - -q', roster(5));
  hide('user-3');
  const ran = await run('license create --remote-user user-3 --size-allowance 4');
  expect([ran.exitCode, made()]).toEqual([0, 5]);
  expect(ran.stderr).toContain('and the server does not show it: this creates another');
});

test.each(['license retire --remote-user user-3', 'license rename user-3 user-30'])(
  'after %s the name is free',
  async (line) => {
    const { run, roster } = await service();
    await run('license apply - -q', roster(5));
    await run(line);
    expect(await run(ensure)).toMatchObject({ exitCode: 0 });
  },
);

test('a retired user who comes back: the run that retired the license is named, and its undo', async () => {
  const { run, roster } = await service();
  await run('license apply - -q', roster(5));
  const { lines } = await run('license retire --remote-user user-3 --remote-user user-4');
  const undo = lines.find((line) => line.startsWith('undo: '))?.slice('undo: '.length) ?? '';

  const ensured = await run(ensure);
  const applied = await run('license apply - -q', roster(5));

  expect(undo).toMatch(/^chatelaine license undo [\dA-Z]{4}$/);
  const back = `retired that license, and ${undo} gives it back`;
  expect([ensured.exitCode, applied.exitCode]).toEqual([0, 0]);
  expect(ensured.stderr).toMatch(
    /'user-3' is 'left-\d{4}-\d\d-user-3-\w{4}' since 2\d{3}-\d\d-\d\d: run [\dA-Z]{4} retired/,
  );
  expect(ensured.stderr).toContain(`${back}; this creates another license`);
  expect(applied.stderr).toContain(`${back}; this roster asks for a new license`);
  expect(applied.stderr).not.toContain("'user-3' is");
});

test('a name that was given is known too', async () => {
  const { run, roster, made, hide } = await service();
  await run('license apply - -q', roster(3));
  await run('license rename user-2 user-3');
  hide('user-3');
  expect([await run(ensure), made()]).toMatchObject([{ exitCode: 6 }, 2]);
});
