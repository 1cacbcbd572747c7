import { expect, test } from 'vitest';
import { emptyHome, openSandbox } from '../../helpers/run.ts';

test('edit --app-code says how to move the license back, not an undo that finds nothing; the history has the move', async () => {
  const { run, sandbox } = await openSandbox();
  const home = emptyHome();
  await run('license create --remote-user ada --size-allowance 4', { home });
  const code = sandbox.state.licenses().find(({ remote_user }) => remote_user === 'ada')?.license_code ?? '';
  const edited = await run(`license edit ${code} --app-code 4712`, { home });
  expect([edited.exitCode, edited.lines.at(-1)]).toEqual([
    0,
    'app_code 4711 -> 4712; no undo moves it back: chatelaine license edit CODE --app-code 4711',
  ]);
  const shown = await run('license history --run-of-last -o json --jq .[-1].change'.replace('--run-of-last ', ''), { home });
  expect(shown.stdout).toBe('moved from application 4711\n');
  const undone = await run('license undo --dry-run', { home });
  expect(undone.stderr).toContain('it was moved from application 4711');
});

test('edit of application and size says both, and offers no undo', async () => {
  const { run, sandbox } = await openSandbox();
  const code = sandbox.state.licenses()[0]?.license_code ?? '';
  const { lines } = await run(`license edit ${code} --app-code 4712 --size-allowance 9`);
  expect(lines.at(-1)).toMatch(/^resized \d+ -> 9, app_code 4711 -> 4712; no undo moves it back: /);
});

test('a history of one typed server shows it as it was typed', async () => {
  const { run, env } = await openSandbox();
  const home = emptyHome();
  await run('license create --remote-user ada --size-allowance 4', { home });
  const { stdout } = await run('license history -o json --jq .[0].origin', { home });
  expect(stdout.trim()).toBe(new URL(env['CHATELAINE_BASE_URL'] ?? '').origin);
});

test('one strange name is one: not names of users', async () => {
  const { run } = await openSandbox();
  const { stderr } = await run('license apply - --dry-run', { stdin: 'remote_user,size_allowance\nSumme,3\nada,2\n' });
  expect(stderr).toContain("'Summe' (line 2) may not be the name of a user: a spreadsheet writes such a text\n");
});

test('at the deadline no check is announced that does not come', async () => {
  const { run } = await openSandbox({ faults: [] });
  const { lines, exitCode } = await run('license ensure --remote-user zoe --size-allowance 2 --deadline 4s', {});
  expect([exitCode, lines.some((line) => line.includes('checking'))]).toEqual([0, false]);
});
